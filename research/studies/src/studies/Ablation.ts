import { Ablations } from "@inspo/coevolution"
import { withAlgorithm } from "@inspo/config"
import { type Arm, against, single } from "../Arm.ts"
import type { Study } from "../Study.ts"
import { evolved, historyProposer, paraphraseProposer, randomProposer, staticArm, without } from "./Arms.ts"

const arms: ReadonlyArray<Arm> = [
  evolved,
  staticArm,
  single("pre-policy", "stage: instructions evolve before the policy trains", (config) =>
    withAlgorithm(config, Ablations.prePolicy(config))
  ),
  single("post-policy", "stage: instructions evolve after the policy has trained", (config) =>
    withAlgorithm(config, Ablations.postPolicy(config))
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
