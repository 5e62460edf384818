/** Removes members by paired evidence, and makes room for as many newcomers as the last ones earned. */
import * as InvalidInput from "@inspo/domain/InvalidInput"
import type { Instruction } from "@inspo/domain"
import * as Comparison from "@inspo/population/Comparison"
import type { Population } from "@inspo/population"
import { ids, incumbent } from "@inspo/population/Members"
import * as Order from "effect/Order"
import type { Entrants } from "./Decisions.ts"
import { type Interface as Removal, recordWith } from "./Halving.ts"
import type { Interface as Admission } from "./Replacement.ts"

/** `delta` is the risk over the whole life, 0.05 by default; `parents` is N_parent, the fewest members left, by default 1. */
export interface Options {
  readonly delta?: number
  readonly parents?: number
}

/**
 * Prunes every member that is certainly not the best of its population, at the risk δ over all prunings; all others stay,
 * however low their values are. It never leaves fewer than N_parent members. See {@link Comparison.observe} for what the
 * guarantee assumes.
 *
 * @example
 * ```ts
 * import { EvidencePruning } from "@inspo/successive-halving"
 *
 * EvidencePruning.removal({ delta: 0.05, parents: 1 }).identity.name // "evidence"
 * ```
 */
export const removal = ({ delta = defaultRisk, parents: least = 1 }: Options = {}): Removal => {
  InvalidInput.assertCount(where, "parents", least, 1)
  assertRisk(delta)
  return {
    identity: { name: "evidence", parameters: { parents: least, delta } },
    prune: (population, values, protectedIds = none) => {
      const ranked = rank(population)
      const record = recordWith(values)
      const doubts = doubtsOf(population)
      const worse = ranked.toReversed().filter(({ instruction: { id } }) => (doubts.get(id) ?? 1) <= delta)
      const pruned = worse
        .map(({ instruction: { id } }) => id)
        .filter((id) => !protectedIds.has(id))
        .slice(0, Math.max(0, ranked.length - least))
      const leaving = new Set(pruned)
      return {
        pruned: pruned.map((id) => record(id, "worse", 1 - (doubts.get(id) ?? 1))),
        kept: ranked.map(({ instruction }) => instruction.id).filter((id) => !leaving.has(id)),
        spared: worse.map(({ instruction }) => instruction.id).filter((id) => !leaving.has(id))
      }
    },
    parents: (population, _, barredIds = none) =>
      rank(population)
        .filter(({ instruction }) => !barredIds.has(instruction.id))
        .slice(0, least)
  }
}

/**
 * Newcomers take free places, then those of the members with the smallest P(best). The incumbent stays, and so does the seed until
 * it is shown worse, at the risk `delta`. The first evolution adds at most 4, and so does each as long as nothing was ever rewarded;
 * later ones add twice as many as the last if one of these became the incumbent, else half as many.
 */
export const admission = ({ delta = defaultRisk }: Pick<Options, "delta"> = {}): Admission => {
  assertRisk(delta)
  return {
    identity: { name: "evidence", parameters: { delta } },
    bounds: (population, latest) => {
      const doubts = doubtsOf(population)
      return {
        kept: population.members.flatMap(({ instruction: { id, origin } }, place) =>
          place === population.comparison.incumbent || (origin === "seed" && (doubts.get(id) ?? 1) > delta) ? [id] : []
        ),
        newcomers: mostNewcomers(population, latest)
      }
    },
    replaced: (population, values, staying, size) => {
      const record = recordWith(values)
      const doubts = doubtsOf(population)
      const others = rank(population)
        .map(({ instruction }) => instruction.id)
        .filter((id) => !staying.has(id))
      return others
        .slice(Math.max(0, size - staying.size))
        .toReversed()
        .map((id) => {
          const doubt = doubts.get(id) ?? 1
          return record(id, doubt <= delta ? "worse" : "forced", 1 - doubt)
        })
    }
  }
}

/** The p-value of "this member is the best of those present", valid over all looks, entries and departures; at most 1. */
export const doubtsOf = (population: Population.Contents): ReadonlyMap<Instruction.InstructionId, number> => {
  const against = Comparison.evidenceAgainst(population.comparison)
  return new Map(ids(population).map((id, place) => [id, Math.min(1, 1 / (against[place] ?? 0))]))
}

/** The incumbent first, then by P(best), then the older. */
const rank = ({ comparison, members }: Population.Contents): ReadonlyArray<Population.Member> =>
  members
    .map((member, place) => ({
      member,
      chance: place === comparison.incumbent ? 2 : (comparison.chances[place] ?? 0)
    }))
    .toSorted(Order.flip(Order.mapInput(Order.Number, ({ chance }) => chance)))
    .map(({ member }) => member)

/** Without a reward nothing is known against the last ones, and only others can be rewarded. */
const mostNewcomers = (population: Population.Contents, latest: Entrants | null): number => {
  if (latest === null || population.comparison.sum === 0) return firstNewcomers
  const best = incumbent(population)?.instruction.id
  return latest.ids.some((id) => id === best) ? 2 * latest.places : Math.max(1, Math.floor(latest.places / 2))
}

const assertRisk = (delta: number): void => {
  if (!(delta > 0 && delta < 1))
    InvalidInput.refuse({ where, field: "delta", value: delta, expected: "a risk above 0 and below 1" })
}

const where = "EvidencePruning"
const defaultRisk = 0.05

const none: ReadonlySet<Instruction.InstructionId> = new Set()
/** Newcomers of the first evolution, and of those before the first reward. */
const firstNewcomers = 4
