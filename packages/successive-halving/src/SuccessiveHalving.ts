/** Which members are pruned, and which become parents. */
import { Context, Schema } from "effect"
import { assertCount, refuse } from "@inspo/domain/InvalidInput"
import { InstructionId } from "@inspo/domain/Instruction"
import * as Invariant from "@inspo/domain/Invariant"
import type { Identity } from "@inspo/domain/Strategy"
import { ids, type Member, type Population, type Value } from "@inspo/population/Population"
import * as Ranking from "@inspo/population/Ranking"
import { eValue } from "@inspo/population/Superiority"

/**
 * Why an instruction was removed.
 *
 * - `bottom-half`: it ranked in the bottom half
 * - `worse`: it ranked in the bottom half, and is worse with the required certainty
 * - `forced`: it made room for newcomers, whatever the evidence
 */
export const PruneReason = Schema.Literals(["bottom-half", "worse", "forced"])
export type PruneReason = typeof PruneReason.Type

/**
 * A removed instruction, with the value it was ranked by. `certainty`, in [0, 1], is one minus the p-value of "it is the best
 * of the population", or of "it is as good as each rival"; absent if the rule computes none.
 */
export const Pruned = Schema.Struct({
  id: InstructionId,
  value: Schema.Finite,
  reason: PruneReason,
  certainty: Schema.optionalKey(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })))
})
export interface Pruned extends Schema.Schema.Type<typeof Pruned> {}

/**
 * The outcome of a pruning: `kept` best first, `pruned` worst first, and which of the kept were `spared`: ranked in
 * the bottom half, but with too little evidence against them.
 */
export const Pruning = Schema.Struct({
  kept: Schema.Array(InstructionId),
  pruned: Schema.Array(Pruned),
  spared: Schema.Array(InstructionId)
})
export interface Pruning extends Schema.Schema.Type<typeof Pruning> {}

/**
 * A pruning rule. Pure; `values` ranks the members, with one for each: W_{t-1} as in the paper, else W_t. A protected member
 * is never pruned. Options out of range throw `InvalidInput`.
 */
export interface Strategy {
  readonly identity: Identity
  readonly prune: (
    population: Population,
    values: ReadonlyArray<Value>,
    protectedIds?: ReadonlySet<InstructionId>
  ) => Pruning
  /**
   * Members that the rule spares until they are observed in more groups. A sampler that prefers high values may never draw
   * them again, and then no pruning could remove them: pass them to the sampler as newcomers, which are guaranteed a group.
   */
  readonly unseen: (population: Population) => ReadonlyArray<InstructionId>
  /** The top N_parent, best first: the parents of the next generation. */
  readonly parents: (population: Population, values: ReadonlyArray<Value>) => ReadonlyArray<Member>
  /** The members that newcomers replace, worst first: all except those of `staying`. */
  readonly replaced: (
    population: Population,
    values: ReadonlyArray<Value>,
    staying: ReadonlySet<InstructionId>
  ) => ReadonlyArray<Pruned>
}

/** The pruning rule of a run. */
export class SuccessiveHalving extends Context.Service<SuccessiveHalving, Strategy>()(
  "@inspo/successive-halving/SuccessiveHalving"
) {}

/**
 * `parents` is N_parent, at least 1: a pruning leaves at least that many members, and at least `floor`. `ties` overrides how
 * the rule ranks equals.
 */
export interface BottomHalfOptions {
  readonly parents: number
  readonly floor?: number
  readonly ties?: Ranking.Ties
}

/** `minimumGroups` is how many groups an instruction needs before it can be pruned. */
export interface SpareUnseenOptions extends BottomHalfOptions {
  readonly minimumGroups: number
}

/**
 * `delta`, above 0 and below 1, is the risk of a whole run: the probability that a pruning as `worse` ever removes the
 * best of a population. It is divided evenly over `comparisons`: the number of rivals of the best member, summed over the
 * planned populations of a run, so (size − 1) × (1 + evolutions).
 */
export interface ConfidentOptions extends BottomHalfOptions {
  readonly delta: number
  readonly comparisons: number
}

/**
 * As in the paper: prunes ⌊size / 2⌋ of the current population, never below N_parent (7 → 4 → 2 → 1). Ties keep
 * the order of the population.
 */
export const bottomHalf = (options: BottomHalfOptions): Strategy =>
  halving(options, {
    name: "bottom-half",
    parameters: {},
    ties: "order",
    reason: "bottom-half",
    judge: () => ({ leaves: true })
  })

/**
 * The other reading of "the bottom N/2": N stays the initial size of the population, so that each pruning removes
 * ⌊N / 2⌋, never below N_parent (7 → 4 → 1). `size` is N, at least 1. Ties keep the order of the population.
 */
export const fixedHalf = ({ size, ...options }: BottomHalfOptions & { readonly size: number }): Strategy => {
  assertCount(where, "size", size, 1)
  return halving(options, {
    name: "fixed-half",
    parameters: { size },
    ties: "order",
    reason: "bottom-half",
    quota: Math.floor(size / 2),
    judge: () => ({ leaves: true })
  })
}

/**
 * As {@link bottomHalf}, but an instruction observed in fewer than `minimumGroups` groups since it joined is
 * spared. No better one is pruned in its place, so fewer are pruned. Ties: more groups first, then the older.
 */
export const spareUnseen = (options: SpareUnseenOptions): Strategy => {
  const { minimumGroups } = options
  assertCount(where, "minimumGroups", minimumGroups, 0)
  return halving(options, {
    name: "spare-unseen",
    parameters: { minimumGroups },
    ties: "evidence",
    reason: "bottom-half",
    minimumGroups,
    judge: (member) => ({ leaves: member.lifetime.groups >= minimumGroups })
  })
}

/**
 * Halving with a known risk: as {@link bottomHalf}, but prunes of the bottom half only those that are worse than the best
 * with certainty 1 − δ. All others are spared, however long that takes. Ties: more groups first, then the older.
 *
 * Guarantee: with probability 1 − δ, no pruning of the run as `worse` removes the best of its population. "The best" is
 * a member whose expected reward is at least that of each rival in every step both were sampled in. In a stationary run
 * that is the member of highest expected reward; where rivals overtake each other there may be no best, and then there
 * is no guarantee. Assumptions: the groups of a step are independent given the steps before, as when questions are drawn
 * independently or from far more than a step takes; and N_parent is 1, so that no two members survive a refill together.
 * Not guaranteed: that any instruction is ever pruned; that a `forced` one was worse; that I* is the best of those kept.
 *
 * The evidence against a member is the sum of the e-values of its rivals ({@link eValue}). If the member is the best,
 * then that sum over `comparisons` ever exceeds 1 / δ with probability δ · rivals / comparisons at most, so testing it
 * often costs nothing. Source: averages of e-processes, Vovk and Wang (2021, "E-values: calibration, combination and
 * applications").
 */
export const confident = (options: ConfidentOptions): Strategy => {
  const { comparisons, delta } = options
  if (!(delta > 0 && delta < 1)) refuse({ where, field: "delta", value: delta, expected: "a risk above 0 and below 1" })
  if (!(comparisons >= 1)) refuse({ where, field: "comparisons", value: comparisons, expected: "at least 1" })
  return halving(options, {
    name: "confident",
    parameters: { delta, comparisons },
    ties: "evidence",
    reason: "worse",
    judge: (member, population) => {
      const evidence = population.members
        .filter((rival) => rival !== member)
        .reduce((sum, rival) => sum + eValue(rival, member), 0)
      const doubt = Math.min(1, comparisons / evidence)
      return { leaves: doubt <= delta, certainty: 1 - doubt }
    }
  })
}

/** Records removed members, each with the value it was ranked by, and its certainty if the rule computes one. */
export const recordWith = (values: ReadonlyArray<Value>) => {
  const valueOf = new Map(values.map(({ id, value }) => [id, value]))
  return (id: InstructionId, reason: PruneReason, certainty?: number): Pruned => ({
    id,
    value: Invariant.get(valueOf, id, "value"),
    reason,
    ...(certainty === undefined ? {} : { certainty })
  })
}

interface Rule extends Identity {
  /** How equals are ranked, unless the options override it. */
  readonly ties: Ranking.Ties
  readonly reason: PruneReason
  /** The most members to prune; by default half of those present. */
  readonly quota?: number
  /** Groups below which the rule spares a member; by default 0. */
  readonly minimumGroups?: number
  readonly judge: (member: Member, population: Population) => Verdict
}

/** Whether a member of the bottom half is pruned, and with what certainty if the rule computes one. */
interface Verdict {
  readonly leaves: boolean
  readonly certainty?: number
}

const halving = ({ floor = 0, parents: least, ...options }: BottomHalfOptions, rule: Rule): Strategy => {
  assertCount(where, "parents", least, 1)
  assertCount(where, "floor", floor, 0)
  const ties = options.ties ?? rule.ties
  const rank = Ranking.byTies[ties]
  return {
    identity: { name: rule.name, parameters: { parents: least, floor, ties, ...rule.parameters } },
    prune: (population, values, protectedIds = none) => {
      const ranked = rank(population, values)
      const size = ranked.length
      const quota = Math.max(0, Math.min(rule.quota ?? Math.floor(size / 2), size - Math.max(least, floor)))
      const bottom = ranked.slice(size - quota).map((member) => ({ member, verdict: rule.judge(member, population) }))
      const leaves = ({ member, verdict }: (typeof bottom)[number]) =>
        verdict.leaves && !protectedIds.has(member.instruction.id)
      const spared = bottom.filter((one) => !leaves(one)).map(({ member }) => member.instruction.id)
      const dropped = bottom.filter(leaves).toReversed()
      const record = recordWith(values)
      return {
        kept: [...ranked.slice(0, size - quota).map((member) => member.instruction.id), ...spared],
        pruned: dropped.map(({ member, verdict }) => record(member.instruction.id, rule.reason, verdict.certainty)),
        spared
      }
    },
    unseen: ({ members }) =>
      members.flatMap(({ instruction, lifetime }) =>
        lifetime.groups < (rule.minimumGroups ?? 0) ? [instruction.id] : []
      ),
    parents: (population, values) => rank(population, values).slice(0, least),
    replaced: (population, values, staying) => {
      const present = new Set(ids(population))
      for (const id of staying)
        if (!present.has(id)) refuse({ where, field: "staying", value: id, expected: "the id of a member" })
      const record = recordWith(values)
      return rank(population, values)
        .filter((member) => !staying.has(member.instruction.id))
        .toReversed()
        .map((member) => {
          const verdict = rule.judge(member, population)
          const reason = verdict.leaves && rule.reason === "worse" ? "worse" : "forced"
          return record(member.instruction.id, reason, verdict.certainty)
        })
    }
  }
}

const where = "SuccessiveHalving"

const none: ReadonlySet<InstructionId> = new Set()
