/**
 * Pruning at a risk that holds for the whole life of a population, however many members join and however long they stay.
 *
 * The claim of an ordered pair is that j is worse than i. Entry g, from 1, forms the pairs of its newcomers with all
 * members and divides 6 / (π² g²) evenly among them; all shares together are at most 1. The evidence against j is the sum of the
 * e-values of its rivals, each times its share; j is worse where it reaches 1 / δ. While j is as good as each of its rivals,
 * that sum is a supermartingale that starts at the sum of the shares (Ville's inequality; Vovk and Wang 2021, "E-values:
 * calibration, combination and applications"). So with probability 1 − δ no member that is as good as all its rivals is ever
 * pruned for being worse; of equal ones, none is.
 */
import { assertCount, refuse } from "@inspo/domain/InvalidInput"
import * as Invariant from "@inspo/domain/Invariant"
import type { Member, Population, Value } from "@inspo/population/Population"
import * as Ranking from "@inspo/population/Ranking"
import { eValue } from "@inspo/population/Superiority"
import { recordWith, type Strategy } from "./SuccessiveHalving.ts"

/** `delta` is the risk over the whole life, above 0 and below 1; `parents` is N_parent, the fewest members that a pruning leaves. */
export interface Options {
  readonly delta: number
  readonly parents: number
}

/**
 * Prunes every member that is worse with certainty 1 − δ, worst first; never a protected one, and never below N_parent. Ties:
 * more groups first, then the older.
 *
 * @example
 * ```ts
 * import { AnytimePruning } from "@inspo/successive-halving"
 *
 * AnytimePruning.make({ delta: 0.05, parents: 1 }).identity.name // "anytime"
 * ```
 */
export const make = ({ delta, parents: least }: Options): Strategy => {
  assertCount(where, "parents", least, 1)
  if (!(delta > 0 && delta < 1)) refuse({ where, field: "delta", value: delta, expected: "a risk above 0 and below 1" })
  return {
    identity: { name: "anytime", parameters: { parents: least, delta } },
    prune: (population, values, protectedIds = none) => {
      const ranked = rank(population, values)
      const record = recordWith(values)
      const worse = ranked
        .toReversed()
        .map((member) => ({ id: member.instruction.id, doubt: doubt(population, member) }))
        .filter(({ doubt, id }) => doubt <= delta && !protectedIds.has(id))
      const pruned = worse
        .slice(0, Math.max(0, ranked.length - least))
        .map(({ doubt, id }) => record(id, "worse", 1 - doubt))
      const leaving = new Set(pruned.map(({ id }) => id))
      const spared = worse.map(({ id }) => id).filter((id) => !leaving.has(id))
      return { pruned, kept: ranked.map(({ instruction }) => instruction.id).filter((id) => !leaving.has(id)), spared }
    },
    unseen: () => [],
    parents: (population, values) => rank(population, values).slice(0, least),
    replaced: (population, values, staying) => {
      const record = recordWith(values)
      return rank(population, values)
        .filter(({ instruction }) => !staying.has(instruction.id))
        .toReversed()
        .map((member) => {
          const risk = doubt(population, member)
          return record(member.instruction.id, risk <= delta ? "worse" : "forced", 1 - risk)
        })
    }
  }
}

/** The p-value of "this member is as good as each of its rivals", over the whole life: at most 1. */
export const doubt = (population: Population, member: Member): number => {
  const evidence = population.members
    .filter((rival) => rival !== member)
    .reduce((sum, rival) => sum + claim(population, rival, member), 0)
  return Math.min(1, 1 / evidence)
}

/** The e-value of "`worse` is worse than `better`" times its share of δ, over δ: 1 / δ of it is certainty 1 − δ. */
export const claim = (population: Population, better: Member, worse: Member): number =>
  eValue(better, worse) * shareOf(population, better, worse)

/** The share of δ of an ordered pair of members. */
const shareOf = ({ pairs }: Population, a: Member, b: Member): number => {
  const entry = Math.max(a.entry, b.entry)
  const made = pairs[String(entry)]
  if (made === undefined) throw new Invariant.InvariantBroken({ missing: `the pairs of entry ${entry}` })
  return 6 / (Math.PI ** 2 * entry ** 2 * made)
}

const rank = Ranking.byTies.evidence

const where = "AnytimePruning"

const none: ReadonlySet<Value["id"]> = new Set()
