import { type RunConfig, staticConfig } from "@inspo/config"
import {
  type Arm,
  against,
  beginningWith,
  endingWith,
  found,
  having,
  rolloutsOf,
  spentIn,
  type StageContext,
  unevaluated
} from "../Arm.ts"
import type { Study } from "../Study.ts"

/** The settings of an arm that are tuned; `other` is the second value of the setting of its own. */
export interface Setting {
  readonly rate: number
  readonly epochs: 1 | 2
  readonly other: boolean
}

/** The rollouts that an arm may take. */
export type Rollouts = (context: StageContext) => number

/** A way to spend rollouts on the policy and on the instruction. */
export interface Order {
  readonly description: string
  readonly stages: (rollouts: Rollouts, other: boolean) => Arm["stages"]
}

/** Only the instruction changes, for so many steps; nothing is evaluated. */
export const frozen = (config: RunConfig, steps: number): RunConfig =>
  unevaluated(having(having(config, "schedule", { steps }), "train", { fromStep: null }))

/** The policy trains alone for a share of the rollouts; then instructions evolve under it until little time is left to compare them. */
const policyThenInstruction = (config: RunConfig, rollouts: number, share: number): RunConfig => {
  const steps = stepsOf(config, rollouts)
  const scheduled = having(config, "schedule", { steps, evolveUntil: Math.max(1, steps - config.selection.window) })
  const policyFirst = Math.max(1, Math.round(steps * share))
  return { ...having(scheduled, "control", { policyFirst }), variants: [] }
}

const stepsOf = ({ rollout, train }: RunConfig, rollouts: number): number =>
  Math.max(2, Math.ceil(rollouts / (train.batchSize * rollout.groupSize)))

/** Instructions evolve for so many steps and are compared a little longer, while the policy is frozen. */
const instructionStage = (config: RunConfig, evolveUntil: number): RunConfig =>
  frozen(
    having(config, "schedule", { evolveUntil: Math.max(1, evolveUntil) }),
    Math.max(1, Math.min(config.schedule.steps, evolveUntil + config.selection.window))
  )

/** The orders in which policy and instruction change. */
export const orders = {
  evolved: {
    description: "policy and instruction evolve together",
    stages: (rollouts, other) => [
      (context) =>
        having(context.config, "schedule", {
          steps: stepsOf(context.config, rollouts(context)),
          evolveEvery: context.config.schedule.evolveEvery * (other ? 2 : 1)
        })
    ]
  },
  "instruction-first": {
    description: "the instruction evolves under the frozen policy, then the policy trains with the best one",
    stages: (rollouts, other) => [
      ({ config }) => {
        const evolveUntil = config.schedule.evolveUntil ?? config.schedule.steps
        return instructionStage(config, other ? Math.round(evolveUntil / 2) : evolveUntil)
      },
      (context) => ({
        ...staticConfig(context.config, rollouts(context) - spentIn(context.earlier, "rollouts")),
        seedInstruction: found(context)
      })
    ]
  },
  "policy-first": {
    description: "the policy trains with the seed, then instructions evolve under the trained policy",
    stages: (rollouts, other) => [
      (context) => policyThenInstruction(context.config, rollouts(context), other ? 3 / 4 : 1 / 2)
    ]
  },
  alternating: {
    description: "instructions evolve, the policy trains with the best one, instructions evolve again",
    stages: (rollouts, other) => [
      (context) => {
        const steps = stepsOf(context.config, rollouts(context))
        return instructionStage(context.config, Math.round(steps * (other ? 1 / 10 : 1 / 4)) - 5)
      },
      (context) => ({
        ...policyThenInstruction(context.config, rollouts(context) - spentIn(context.earlier, "rollouts"), 2 / 3),
        seedInstruction: found(context)
      })
    ]
  },
  static: {
    description: "the policy trains with the seed instruction",
    stages: (rollouts, other) => [
      (context) => {
        const fixed = staticConfig(context.config, rollouts(context))
        const { miniBatch, ...train } = fixed.train
        const batchSize = train.batchSize / 2
        const size = Math.min(miniBatch.size, batchSize)
        return other
          ? having(having(fixed, "rollout", { groupSize: 2 * fixed.rollout.groupSize }), "train", {
              batchSize,
              miniBatch: { ...miniBatch, size }
            })
          : fixed
      }
    ]
  }
} as const satisfies Readonly<Record<string, Order>>

export type Name = keyof typeof orders

export const names = ["evolved", "instruction-first", "policy-first", "alternating", "static"] as const

/** The setting with the largest mean EM in `together-tuning`, by the rule of research/plans/together.md. */
export const tuned: Readonly<Record<Name, Setting>> = {
  evolved: { rate: 3e-4, epochs: 2, other: false },
  "instruction-first": { rate: 3e-4, epochs: 1, other: false },
  "policy-first": { rate: 3e-4, epochs: 1, other: false },
  alternating: { rate: 3e-4, epochs: 2, other: false },
  static: { rate: 3e-4, epochs: 2, other: false }
}

/** An arm of an order; `named` is its name, and the arms it needs are given by `rollouts`. */
const armOf = (
  order: Name,
  named: string,
  { epochs, other, rate }: Setting,
  { needs, rollouts }: { readonly needs: ReadonlyArray<string>; readonly rollouts: Rollouts }
): Arm => {
  const { description, stages }: Order = orders[order]
  return {
    name: named,
    description: `${description}; learning rate ${rate.toExponential()}, ${epochs === 1 ? "one epoch" : "two epochs"}`,
    preset: "quick",
    needs,
    stages: endingWith(
      (config) => having(config, "train", { learningRate: rate, miniBatch: { ...config.train.miniBatch, epochs } }),
      stages(rollouts, other)
    )
  }
}

/** The rollouts of the preset `quick`, which all arms have without verification. */
export const whole: Rollouts = ({ config }) => rolloutsOf(config)

const atRollouts = (order: Name, setting: Setting = tuned[order], named = `together-${order}`): Arm =>
  armOf(order, named, setting, { needs: [], rollouts: whole })

const reference = "together-evolved"

/** The same with the tokens of the reference, at the tokens for a rollout that the arm had with equal rollouts. */
const atTokens = (order: Name): Arm =>
  armOf(order, `together-${order}-tokens`, tuned[order], {
    needs: [reference, `together-${order}`],
    rollouts: ({ results }) => {
      const spent = (name: string, what: "rollouts" | "tokens") => Math.max(1, spentIn(results(name), what))
      const own = `together-${order}`
      return Math.round((spent(reference, "tokens") * spent(own, "rollouts")) / spent(own, "tokens"))
    }
  })

const others = names.filter((name) => name !== "evolved")

const measures = [{ metric: "kl", title: "KL to the start", digits: 4 }] as const

const notes = ["The plan, committed before the runs, is research/plans/together.md."]

/** Do policy and instruction gain by learning together? */
export const together: Study = {
  name: "together",
  title: "Together, or one after the other?",
  arms: [...names.map((order) => atRollouts(order)), ...others.map(atTokens)],
  main: names.map((order) => `together-${order}`),
  comparisons: [],
  claims: others.flatMap((order) => against(reference, [`together-${order}`, `together-${order}-tokens`])),
  notes,
  measures
}

/** Twelve settings of each arm. */
const grid = names.flatMap((order) =>
  [1e-4, 3e-4, 1e-3].flatMap((rate) =>
    ([1, 2] as const).flatMap((epochs) =>
      [false, true].map((other) =>
        atRollouts(
          order,
          { rate, epochs, other },
          `tune-${order}-${rate.toExponential()}-${epochs}${other ? "-other" : ""}`
        )
      )
    )
  )
)

export const togetherTuning: Study = {
  name: "together-tuning",
  title: "The settings of each order",
  arms: grid,
  comparisons: [],
  notes: [...notes, "This study selects settings; it is no result."]
}

const compared = ["evolved", "instruction-first", "static"] as const

const sizes = [0.1, 0.3, 2]

/** The same on the bench with fewer and more rollouts; evolution takes the same share of the steps. */
export const budgets: Study = {
  name: "budgets",
  title: "The budget",
  arms: sizes.flatMap((times) =>
    compared.map((order) => {
      const arm = atRollouts(order, tuned[order], `budget-${times}-${order}`)
      return { ...arm, stages: beginningWith((config) => shortened(config, times), arm.stages) }
    })
  ),
  comparisons: sizes.flatMap((times) =>
    against(`budget-${times}-evolved`, [`budget-${times}-instruction-first`, `budget-${times}-static`])
  ),
  notes
}

/** The schedule in so many times the steps. */
export function shortened(config: RunConfig, times: number): RunConfig {
  const scaled = (steps: number) => Math.max(1, Math.round(steps * times))
  const { evolveEvery, evolveUntil, pruneEvery, steps } = config.schedule
  return having(config, "schedule", {
    steps: Math.max(2, scaled(steps)),
    pruneEvery: scaled(pruneEvery),
    evolveEvery: scaled(evolveEvery),
    evolveUntil: evolveUntil === null ? null : scaled(evolveUntil)
  })
}
