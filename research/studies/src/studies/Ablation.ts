import { Ablations, type Algorithm } from "@inspo/coevolution"
import { withAlgorithm } from "@inspo/config"
import { type Arm, against, single } from "../Arm.ts"
import type { Study } from "../Study.ts"
import { evolved, historyProposer, paraphraseProposer, randomProposer, staticArm, without } from "./Arms.ts"

const arms: ReadonlyArray<Arm> = [
  evolved,
  staticArm,
  single("pre-policy", "stage: instructions evolve before the policy trains", (config) =>
    withAlgorithm(config, prePolicy(config))
  ),
  single("post-policy", "stage: instructions evolve after the policy has trained", (config) =>
    withAlgorithm(config, postPolicy(config))
  ),
  paraphraseProposer,
  historyProposer,
  randomProposer,
  without(["pruning", "expansion"], "constant-population", "population: the first one, to the end"),
  without(["expansion"], "no-expansion", "population: pruned, never refilled"),
  without(["verification"], "no-verification", "population: pruned and refilled with unverified candidates")
]

/** The paper's Figure 3: what happens when a part is left out. */
export const ablations: Study = {
  name: "ablation",
  title: "Ablations: stage, proposer, population",
  arms,
  main: [],
  comparisons: against(
    "evolved",
    arms.slice(1).map(({ name }) => name)
  ),
  claims: [
    ["evolved", "no-verification"],
    ["no-verification", "constant-population"],
    ["constant-population", "static"],
    ["evolved", "paraphrase-proposer"],
    ["evolved", "history-proposer"],
    ["evolved", "pre-policy"],
    ["pre-policy", "static"],
    ["static", "post-policy"]
  ],
  notes: ["All arms take the same number of steps, except `static`, which gets the rollouts of `evolved`."]
}

/** The instruction first: for half of the steps the policy is frozen, and instructions evolve once and are pruned to one. */
const prePolicy = (algorithm: Algorithm): Algorithm => {
  const { half, quarter } = fractions(algorithm)
  const halvings = Math.ceil(Math.log2(algorithm.population.size))
  return {
    // No instruction is spared, so that one is left.
    ...Ablations.without(algorithm, ["evidence"]),
    schedule: {
      ...algorithm.schedule,
      evolveEvery: quarter,
      evolveUntil: quarter,
      pruneEvery: Math.max(1, Math.floor((half - quarter) / halvings))
    },
    train: { ...algorithm.train, fromStep: half + 1 }
  }
}

/** The policy first: the seed instruction alone for half of the steps; then instructions evolve under the frozen policy. */
const postPolicy = (algorithm: Algorithm): Algorithm => {
  const { half, quarter } = fractions(algorithm)
  return {
    ...algorithm,
    schedule: { ...algorithm.schedule, evolveEvery: quarter, evolveUntil: half + quarter },
    control: { ...algorithm.control, policyFirst: half }
  }
}

const fractions = ({ schedule }: Algorithm) => ({
  half: Math.floor(schedule.steps / 2),
  quarter: Math.max(1, Math.floor(schedule.steps / 4))
})
