import type { RunState, Strategies } from "@inspo/coevolution"
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
  /** The strategies of its runs that no setting names. */
  readonly strategies?: (config: RunConfig) => Partial<Strategies.Strategies>
  /** Whether later stages begin with the policies of earlier ones, which are exported for them. */
  readonly carriesPolicy?: true
}

export interface StageContext {
  /** The study's config with the seed of this run. */
  readonly config: RunConfig
  /** The stages of a needed arm, in order. */
  readonly results: (arm: string) => ReadonlyArray<RunState.RunState>
  readonly earlier: ReadonlyArray<RunState.RunState>
  /** Where the policy of the stage before is, if the arm carries it. */
  readonly policy?: string | null
}

/** An arm of one run that depends on no other. */
export const single = (name: string, description: string, configure: Change): Arm => ({
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
  stages: [({ config, results }) => configure(config, spentIn(results(other), "rollouts"))]
})

/** Stages that begin with a change of the config of the study. */
export const beginningWith = (change: Change, stages: Arm["stages"]): Arm["stages"] =>
  stages.map((configure) => (context) => configure({ ...context, config: change(context.config) }))

/** Stages whose own configs are changed. */
export const endingWith = (change: Change, stages: Arm["stages"]): Arm["stages"] =>
  stages.map((configure) => (context) => change(configure(context)))

/** A change of a config. */
export type Change = (config: RunConfig) => RunConfig

/** A config with other values of some settings of a group. */
export const having = <
  K extends "control" | "evaluation" | "population" | "rollout" | "schedule" | "selection" | "train"
>(
  config: RunConfig,
  group: K,
  change: Partial<RunConfig[K]>
): RunConfig => ({ ...config, [group]: { ...config[group], ...change } })

/** A config with so many groups a step, all in one mini-batch. */
export const inBatchesOf = (config: RunConfig, size: number): RunConfig =>
  having(config, "train", { batchSize: size, miniBatch: { ...config.train.miniBatch, size } })

/** A config with three quarters of the groups, to make up for further rollouts of rescues. */
export const inFewerGroups = (config: RunConfig): RunConfig =>
  inBatchesOf(config, Math.max(1, Math.floor((config.train.batchSize * 3) / 4)))

/** The config of an early stage, whose policy is not evaluated. */
export const unevaluated = (config: RunConfig): RunConfig => having(config, "evaluation", { questions: 0 })

/** The rollouts of the steps of a config, without those that verify or rescue. */
export const rolloutsOf = ({ rollout, schedule, train }: RunConfig): number =>
  schedule.steps * train.batchSize * rollout.groupSize

/** What stages spent on training and verification together. */
export const spentIn = (stages: ReadonlyArray<RunState.RunState>, what: keyof RunState.Spent): number =>
  stages.reduce((sum, { spent }) => sum + spent[what].train + spent[what].verification, 0)

/** The text of the best instruction of a finished run. */
export const bestText = ({ instructions, phase }: RunState.RunState): string | undefined =>
  phase._tag === "Finished" ? instructions.find(({ id }) => id === phase.best)?.text : undefined

/** The instruction that the stages so far found. */
export const found = ({ config, earlier }: Pick<StageContext, "config" | "earlier">): string => {
  const last = earlier.at(-1)
  return (last && bestText(last)) ?? config.seedInstruction
}

/** Comparisons of an arm with each of some others. */
export const against = (left: string, others: ReadonlyArray<string>) => others.map((right) => [left, right] as const)

/** An arm with another learning rate and name; the arms it needs are renamed in the same way. */
export const withRate = (arm: Arm, named: (arm: string) => string, learningRate: number): Arm => ({
  ...arm,
  name: named(arm.name),
  description: `${arm.description}; learning rate ${learningRate.toExponential()}`,
  preset: "quick",
  needs: arm.needs.map(named),
  stages: arm.stages.map((configure) => ({ results, ...context }) => {
    const config = configure({ ...context, results: (other) => results(named(other)) })
    return having(config, "train", { learningRate })
  })
})

/** The rates around that of the preset `quick`, at which arms are tuned. */
export const rates = [1e-4, 3e-4, 1e-3] as const

/** Each arm at each rate, as arms of their own. */
export const atRates = (arms: ReadonlyArray<Arm>): ReadonlyArray<Arm> =>
  arms.flatMap((arm) => rates.map((rate) => withRate(arm, (name) => `${name}-lr-${rate.toExponential()}`, rate)))
