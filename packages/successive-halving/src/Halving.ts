/** Removal by halves: who is pruned, and who are parents. Pure functions that load neither schemas nor services. */
import * as InvalidInput from "@inspo/domain/InvalidInput"
import * as Invariant from "@inspo/domain/Invariant"
import type { Instruction, Strategy } from "@inspo/domain"
import * as Ranking from "@inspo/population/Ranking"
import type { Population } from "@inspo/population"
import type { Pruned, PruneReason, Pruning } from "./Decisions.ts"

/**
 * A rule of removal. Pure; `values` ranks the members, with one for each: W_{t-1} as in the paper, else W_t. A protected member
 * is never pruned. Options out of range throw `InvalidInput`.
 */
export interface Interface {
  readonly identity: Strategy.Identity
  readonly prune: (
    population: Population.Contents,
    values: ReadonlyArray<Population.Value>,
    protectedIds?: ReadonlySet<Instruction.InstructionId>
  ) => Pruning
  /** The top N_parent of those that are not barred, best first: the parents of the next generation. */
  readonly parents: (
    population: Population.Contents,
    values: ReadonlyArray<Population.Value>,
    barredIds?: ReadonlySet<Instruction.InstructionId>
  ) => ReadonlyArray<Population.Member>
}

/** `parents` is N_parent, by default 1: a pruning leaves at least so many, and `floor`. `ties` overrides how equals rank. */
export interface BottomHalfOptions {
  readonly parents?: number
  readonly floor?: number
  readonly ties?: Ranking.Ties
}

/** As in the paper: prunes ⌊size / 2⌋, never below N_parent (7 → 4 → 2 → 1). Ties keep the order of the population. */
export const bottomHalf = (options: BottomHalfOptions = {}): Interface =>
  halving(options, {
    name: "bottom-half",
    parameters: {}
  })

/**
 * The other reading of "the bottom N/2": N stays the initial size of the population, so that each pruning removes
 * ⌊N / 2⌋, never below N_parent (7 → 4 → 1). `size` is N, at least 1. Ties keep the order of the population.
 */
export const fixedHalf = ({ size, ...options }: BottomHalfOptions & { readonly size: number }): Interface => {
  InvalidInput.assertCount(where, "size", size, 1)
  return halving(options, {
    name: "fixed-half",
    parameters: { size },
    quota: Math.floor(size / 2)
  })
}

/** Records removed members, each with the value it was ranked by, and its certainty if the rule computes one. */
export const recordWith = (values: ReadonlyArray<Population.Value>) => {
  const valueOf = new Map(values.map(({ id, value }) => [id, value]))
  return (id: Instruction.InstructionId, reason: PruneReason, certainty?: number): Pruned => ({
    id,
    value: Invariant.get(valueOf, id, "value"),
    reason,
    ...(certainty === undefined ? {} : { certainty })
  })
}

interface Rule extends Strategy.Identity {
  /** The most members to prune; by default half of those present. */
  readonly quota?: number
}

const halving = ({ floor = 0, parents: least = 1, ties = "order" }: BottomHalfOptions, rule: Rule): Interface => {
  InvalidInput.assertCount(where, "parents", least, 1)
  InvalidInput.assertCount(where, "floor", floor, 0)
  const rank = Ranking.byTies[ties]
  return {
    identity: { name: rule.name, parameters: { parents: least, floor, ties, ...rule.parameters } },
    prune: (population, values, protectedIds = none) => {
      const ranked = rank(population, values).map(({ instruction }) => instruction.id)
      const size = ranked.length
      const quota = Math.max(0, Math.min(rule.quota ?? Math.floor(size / 2), size - Math.max(least, floor)))
      const bottom = ranked.slice(size - quota)
      const record = recordWith(values)
      return {
        kept: ranked.filter((id, place) => place < size - quota || protectedIds.has(id)),
        pruned: bottom
          .filter((id) => !protectedIds.has(id))
          .toReversed()
          .map((id) => record(id, "bottom-half")),
        spared: bottom.filter((id) => protectedIds.has(id))
      }
    },
    parents: (population, values, barredIds = none) =>
      rank(population, values)
        .filter(({ instruction }) => !barredIds.has(instruction.id))
        .slice(0, least)
  }
}

const where = "Halving"

const none: ReadonlySet<Instruction.InstructionId> = new Set()
