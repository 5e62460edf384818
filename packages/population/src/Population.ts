/** The functions of `Members` and `Values`, the schemas of what they compute, and the service that values instructions. */
import { Context, Layer, Schema } from "effect"
import { Attempt, type InvalidInput, Instruction, Trajectory } from "@inspo/domain"
import type * as Members from "./Members.ts"
import * as Values from "./Values.ts"

export * from "./Members.ts"
export * from "./Values.ts"

/** The values of instructions, and the statistics that they are computed from. */
export class Population extends Context.Service<Population, Values.Interface>()("@inspo/population/Population") {}

/** Provides {@link Values.make}. Fails with `InvalidInput` on options out of range. */
export const layer = (choices: Partial<Values.Choices> = {}): Layer.Layer<Population, InvalidInput.InvalidInput> =>
  Layer.effect(
    Population,
    Attempt.attempt(() => Values.make(choices))
  )

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Positive = Schema.Int.check(Schema.isGreaterThan(0))
const Numbers = Schema.Array(Schema.Finite)

/** The schema of {@link Members.WindowEntry}. */
export const WindowEntry = Schema.Struct({
  step: Schema.Int,
  mean: Trajectory.Reward,
  trajectories: Positive,
  groups: Positive
})
export type WindowEntry = Members.WindowEntry

/** The schema of {@link Members.Bounds}. */
export const Bounds = Schema.Struct({ groups: Count, low: Schema.Finite, high: Schema.Finite })
export type Bounds = Members.Bounds

/** The schema of {@link Members.Lifetime}. */
export const Lifetime = Schema.Struct({
  groups: Count,
  trajectories: Count,
  rewardSum: Schema.Finite,
  bounds: Bounds
})
export type Lifetime = Members.Lifetime

/** The schema of {@link Members.Verification}. */
export const Verification = Schema.Struct({
  mean: Trajectory.Reward,
  groups: Count,
  rival: Schema.NullOr(Schema.Struct({ id: Instruction.InstructionId, mean: Trajectory.Reward }))
})
export type Verification = Members.Verification

/** The schema of {@link Members.Member}: its window is in order, and a value without one is null or stale. */
export const Member = Schema.Struct({
  instruction: Instruction.Instruction,
  window: Schema.Array(WindowEntry),
  value: Schema.NullOr(Schema.Finite),
  stale: Schema.Boolean,
  lifetime: Lifetime,
  verification: Schema.NullOr(Verification)
}).check(
  Schema.makeFilter(({ stale, value, window }) => {
    if (window.some(({ step }, place) => place > 0 && step <= (window[place - 1]?.step ?? -Infinity)))
      return "a window whose steps increase"
    return (window.length > 0 ? value !== null && !stale : stale === (value !== null)) || "a value of its window"
  })
)
export type Member = Members.Member

const Comparison = Schema.Struct({
  precision: Schema.Array(Numbers),
  weighted: Numbers,
  squares: Schema.Finite,
  freedom: Schema.Finite,
  samples: Schema.Finite,
  sum: Schema.Finite,
  exponents: Schema.Array(Schema.Array(Numbers)),
  shares: Schema.Array(Numbers),
  since: Numbers,
  generation: Count,
  chances: Numbers,
  incumbent: Schema.Int,
  waiting: Schema.Array(
    Schema.Struct({
      instruction: Instruction.InstructionId,
      groups: Schema.Finite,
      samples: Schema.Finite,
      low: Schema.Finite,
      high: Schema.Finite
    })
  ),
  prior: Schema.optionalKey(Schema.Struct({ spread: Schema.Finite, newcomer: Schema.Finite, deviation: Schema.Finite }))
})

/**
 * The schema of {@link Members.Contents}: members have different ids and no observation after `step`, and the comparison has one
 * row, number and chance for each.
 */
export const Contents = Schema.Struct({
  members: Schema.Array(Member),
  step: Count,
  comparison: Comparison,
  own: Schema.optionalKey(Schema.Json)
}).check(
  Schema.makeFilter(({ comparison, members, step }) => {
    const size = members.length
    const { chances, exponents, incumbent, precision, shares, since, weighted } = comparison
    if (new Set(members.map(({ instruction }) => instruction.id)).size < size) return "members with different ids"
    if (members.some(({ window }) => (window.at(-1)?.step ?? step) > step)) return "no window after the last step"
    if (
      [precision, weighted, exponents, shares, since, chances, ...precision, ...exponents, ...shares].some(
        ({ length }) => length !== size
      )
    )
      return "a comparison of as many as there are members"
    return (size === 0 ? incumbent === -1 : incumbent >= 0 && incumbent < size) || "an incumbent among the members"
  })
)
export type Contents = Members.Contents

/** The schema of {@link Members.Value}. */
export const Value = Schema.Struct({
  id: Instruction.InstructionId,
  value: Schema.Finite,
  chance: Schema.optionalKey(Schema.Finite)
})
export type Value = Members.Value
