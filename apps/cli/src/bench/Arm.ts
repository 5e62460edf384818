import { fileURLToPath } from "node:url"
import type { RunConfig } from "@inspo/coevolution"
import type { RunState, Spent } from "@inspo/coevolution/RunState"
import { ClauseBank } from "@inspo/reflection"
import { staticConfig } from "../run/Baseline.ts"

/** One way of spending the budget. `needs` are the arms of the same seed whose results decide its config. */
export interface Arm {
  readonly name: string
  readonly description: string
  readonly needs: ReadonlyArray<string>
  /** Whether the arm belongs to the main comparison, which runs on all seeds. */
  readonly main?: true
  /** The runs of this arm for a seed, in order; each may look at the arms it needs and at its own earlier stages. */
  readonly stages: ReadonlyArray<(context: StageContext) => RunConfig>
}

export interface StageContext {
  /** The bench's config with the seed of this run. */
  readonly config: RunConfig
  readonly results: (arm: string) => RunState
  readonly earlier: ReadonlyArray<RunState>
}

/** The seed instruction with one useful wording for every behaviour that matters. */
export const handWritten = (seed: string): string =>
  [seed, ...ClauseBank.clauses.flatMap(({ direction, texts }) => (direction === 1 ? [texts[0]] : []))].join(" ")

/** Training and verification together: what equal budget means. */
export const budget = (spent: Spent[keyof Spent]): number => spent.train + spent.verification

const evolved: Arm = {
  name: "evolved",
  main: true,
  description: "policy and instruction evolve together",
  needs: [],
  stages: [({ config }) => config]
}

const staticArm: Arm = {
  name: "static",
  main: true,
  description: "the seed instruction alone, equal rollouts",
  needs: ["evolved"],
  stages: [({ config, results }) => staticConfig(config, budget(results("evolved").spent.rollouts))]
}

const staticEqualTokens: Arm = {
  name: "static-equal-tokens",
  description: "the seed instruction alone, equal tokens",
  needs: ["evolved", "static"],
  stages: [
    ({ config, results }) => {
      const { spent } = results("static")
      const tokensPerRollout = spent.tokens.train / Math.max(1, spent.rollouts.train)
      return staticConfig(config, Math.round(budget(results("evolved").spent.tokens) / Math.max(1, tokensPerRollout)))
    }
  ]
}

const handWrittenArm: Arm = {
  name: "hand-written",
  description: "a hand-written good instruction, equal rollouts",
  needs: ["evolved"],
  stages: [
    ({ config, results }) => ({
      ...staticConfig(config, budget(results("evolved").spent.rollouts)),
      instruction: { seed: handWritten(config.instruction.seed), seeds: [] }
    })
  ]
}

const instructionFirst: Arm = {
  name: "instruction-first",
  description: "the instruction evolves under the frozen policy, then the policy trains with the best one",
  needs: ["evolved"],
  stages: [
    ({ config }) => {
      const steps = Math.max(1, Math.min(config.schedule.steps, config.schedule.evolveUntil + config.population.window))
      return {
        ...config,
        schedule: { ...config.schedule, steps },
        // The update of the last step comes after its rollouts, and the next stage starts anew: it changes nothing.
        train: { ...config.train, fromStep: steps },
        evaluation: { ...config.evaluation, questions: 0 }
      }
    },
    ({ config, earlier, results }) => {
      const first = earlier[0]
      const rest = budget(results("evolved").spent.rollouts) - (first === undefined ? 0 : budget(first.spent.rollouts))
      return {
        ...staticConfig(config, rest),
        instruction: { seed: (first && bestText(first)) ?? config.instruction.seed, seeds: [] }
      }
    }
  ]
}

const randomProposer: Arm = {
  name: "random-proposer",
  description: "random clauses of the same bank, the same pruning and verification",
  needs: [],
  stages: [({ config }) => ({ ...config, proposer: { ...config.proposer, kind: "random" } })]
}

const permutedCredit: Arm = {
  name: "permuted-credit",
  description: "control: credit and verification scores permuted, policy rewards true",
  needs: [],
  stages: [({ config }) => ({ ...config, control: { permuteCredit: true } })]
}

/** The checkpoint that was trained to ignore instructions. */
const nullModel = fileURLToPath(new URL("model-null", import.meta.resolve("@inspo/engine-local/package.json")))
const withNullModel = (config: RunConfig): RunConfig => ({ ...config, engine: { ...config.engine, model: nullModel } })

const nullEvolved: Arm = {
  name: "null-evolved",
  description: "control: a policy that ignores clauses, evolved",
  needs: [],
  stages: [({ config }) => withNullModel(config)]
}

const nullStatic: Arm = {
  name: "null-static",
  description: "control: a policy that ignores clauses, static, equal rollouts",
  needs: ["null-evolved"],
  stages: [({ config, results }) => withNullModel(staticConfig(config, budget(results("null-evolved").spent.rollouts)))]
}

/** All arms, each after those it needs. */
export const arms: ReadonlyArray<Arm> = [
  evolved,
  staticArm,
  staticEqualTokens,
  handWrittenArm,
  instructionFirst,
  randomProposer,
  permutedCredit,
  nullEvolved,
  nullStatic
]

/** The differences that are reported: the first arm minus the second, paired by seed. */
export const comparisons: ReadonlyArray<readonly [left: string, right: string]> = [
  ["evolved", "static"],
  ["evolved", "static-equal-tokens"],
  ["evolved", "hand-written"],
  ["evolved", "instruction-first"],
  ["evolved", "random-proposer"],
  ["evolved", "permuted-credit"],
  ["null-evolved", "null-static"]
]

/** The text of the best instruction of a finished run. */
export const bestText = ({ instructions, phase }: RunState): string | undefined =>
  phase._tag === "Finished" ? instructions.find(({ id }) => id === phase.best)?.text : undefined
