/** The data of a population, as schemas. */
import { Schema } from "effect"
import { Instruction, Trajectory } from "@inspo/domain"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Positive = Schema.Int.check(Schema.isGreaterThan(0))
const Numbers = Schema.Array(Schema.Finite)

/** What is observed of an instruction in one step: its mean reward (r̄ of Eq. 6), and how many trajectories and groups are behind it. */
export const WindowEntry = Schema.Struct({
  step: Schema.Int,
  mean: Trajectory.Reward,
  trajectories: Positive,
  groups: Positive
})
export interface WindowEntry extends Schema.Schema.Type<typeof WindowEntry> {}

/**
 * The sums of the mean rewards of `groups` groups, plus 1/2 for one assumed group before the first: `low` with 0 for every
 * missing reward, `high` with 1. They are equal if none is missing.
 */
export const Bounds = Schema.Struct({ groups: Count, low: Schema.Finite, high: Schema.Finite })
export interface Bounds extends Schema.Schema.Type<typeof Bounds> {}

/**
 * The statistics of an instruction since it joined, of a size that does not grow with the run; kept by `resetWindows`.
 * `groups` counts those with a reward, `bounds` all of them.
 */
export const Lifetime = Schema.Struct({
  groups: Count,
  trajectories: Count,
  rewardSum: Schema.Finite,
  bounds: Bounds
})
export interface Lifetime extends Schema.Schema.Type<typeof Lifetime> {}

/** Mean reward of a candidate in verification, the groups behind it, and the rival that it was compared with, if any, and its mean. */
export const Verification = Schema.Struct({
  mean: Trajectory.Reward,
  groups: Count,
  rival: Schema.NullOr(Schema.Struct({ id: Instruction.InstructionId, mean: Trajectory.Reward }))
})
export interface Verification extends Schema.Schema.Type<typeof Verification> {}

/**
 * An instruction of the population with the evidence for it.
 *
 * `window` holds the steps that `value` averages, oldest first. `value` is null until the instruction is sampled, and
 * again after a reset. `stale` means that the value is older than the window. `verification` is null for an instruction that
 * joined unverified.
 */
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
export interface Member extends Schema.Schema.Type<typeof Member> {}

/**
 * What is expected before rewards are known: means that spread by `spread` variances of a sample, and newcomers that differ from
 * the incumbent by `newcomer`, give or take `deviation`.
 */
export const Prior = Schema.Struct({ spread: Schema.Finite, newcomer: Schema.Finite, deviation: Schema.Finite })
export interface Prior extends Schema.Schema.Type<typeof Prior> {}

/**
 * All arrays are parallel to the members. With w the weights of a block's cells and ȳ its weighted mean, `precision` is
 * Σ diag(w) − w wᵀ / Σw, `weighted` is Σ w (y − ȳ), `squares` is Σ w (y − ȳ)², and `freedom` the number of cells less that of
 * blocks. `samples` and `sum` count all rewards. `exponents[i][j]` holds the logarithm of the e-process that member j is better than
 * member i, under each of the bets of `Comparison`, and `exponents[i][i]` that its rivals are. `shares[i][j]` is the part of the risk that it may
 * spend: those that begin with the g-th entry, of all `generation` entries, have 1 / (g (g + 1)), which sum to 1, half of it against the
 * oldest member. `since` is `samples` at the entry of each member. `chances` is P(best). `incumbent` is the member that is returned, by
 * place; -1 without members. `prior` is there if it is not the default one.
 */
export const Comparison = Schema.Struct({
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
  prior: Schema.optionalKey(Prior)
})
export interface Comparison extends Schema.Schema.Type<typeof Comparison> {}

/**
 * The members in the order in which they joined, the last observed step, 0 before any, and how the members compare. `own` is the evidence of a
 * rule that owns it, absent where there is none.
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
export interface Contents extends Schema.Schema.Type<typeof Contents> {}

/** The value of an instruction, such as w_j (Eq. 6), and its probability of being the best, where it is computed. */
export const Value = Schema.Struct({
  id: Instruction.InstructionId,
  value: Schema.Finite,
  chance: Schema.optionalKey(Schema.Finite)
})
export interface Value extends Schema.Schema.Type<typeof Value> {}
