import type { RunState } from "@inspo/coevolution"
import type { RunConfig } from "@inspo/config"

/** One way to spend the budget. `needs` are the arms of the same seed whose results its config depends on. */
export interface Arm {
  /** Unique among all studies, which share the runs of an arm. */
  readonly name: string
  readonly description: string
  /** The preset that the arm was tuned for; other presets do not have it. */
  readonly preset?: "quick"
  readonly needs: ReadonlyArray<string>
  /** The runs of this arm for a seed, in order; each may use the results of needed arms and of earlier stages. */
  readonly stages: ReadonlyArray<(context: StageContext) => RunConfig>
}

export interface StageContext {
  /** The study's config with the seed of this run. */
  readonly config: RunConfig
  readonly results: (arm: string) => RunState.RunState
  readonly earlier: ReadonlyArray<RunState.RunState>
}

/** An arm of one run that depends on no other. */
export const single = (name: string, description: string, configure: (config: RunConfig) => RunConfig): Arm => ({
  name,
  description,
  needs: [],
  stages: [({ config }) => configure(config)]
})

/** An arm of one run with the same number of rollouts as another arm, including verification. */
export const withBudgetOf = (
  other: string,
  name: string,
  description: string,
  configure: (config: RunConfig, rollouts: number) => RunConfig
): Arm => ({
  name,
  description,
  needs: [other],
  stages: [({ config, results }) => configure(config, budget(results(other).spent.rollouts))]
})

/** The budget: training and verification together. */
export const budget = (spent: RunState.Spent[keyof RunState.Spent]): number => spent.train + spent.verification

/** The text of the best instruction of a finished run. */
export const bestText = ({ instructions, phase }: RunState.RunState): string | undefined =>
  phase._tag === "Finished" ? instructions.find(({ id }) => id === phase.best)?.text : undefined
