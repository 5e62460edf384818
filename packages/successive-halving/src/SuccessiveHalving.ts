/** Who leaves the population, and who becomes a parent. */
import { Schema } from "effect"
import { InstructionId } from "@inspo/domain/Instruction"
import type { Member, Population, Weight } from "@inspo/population/Population"
import * as Ranking from "@inspo/population/Ranking"

/** Why an instruction was pruned; one literal per rule. */
export const PruneReason = Schema.Literals(["bottom-half"])
export type PruneReason = typeof PruneReason.Type

/** A pruned instruction with the weight it was ranked by. */
export const Pruned = Schema.Struct({ id: InstructionId, weight: Schema.Finite, reason: PruneReason })
export interface Pruned extends Schema.Schema.Type<typeof Pruned> {}

/**
 * The outcome of a pruning: `kept` best first, `pruned` worst first, and which of the kept were `spared`, that is
 * ranked in the bottom half but with too few groups behind them.
 */
export const Pruning = Schema.Struct({
  kept: Schema.Array(InstructionId),
  pruned: Schema.Array(Pruned),
  spared: Schema.Array(InstructionId)
})
export interface Pruning extends Schema.Schema.Type<typeof Pruning> {}

/** A pruning rule. Pure; `weights` is the ranking to use: W_{t-1} for the letter of the paper, W_t otherwise. */
export interface Policy {
  readonly prune: (population: Population, weights: ReadonlyArray<Weight>) => Pruning
  /** The top N_parent, best first: those that the next generation descends from. */
  readonly parents: (population: Population, weights: ReadonlyArray<Weight>) => ReadonlyArray<Member>
}

/** `parents` is N_parent, at least 1: no pruning goes below it. */
export interface PaperOptions {
  readonly parents: number
}

/**
 * `minimumGroups` is the evidence an instruction must have before it can be pruned. `floor` is the smallest population to
 * prune to, where it is larger than `parents`.
 */
export interface RobustOptions extends PaperOptions {
  readonly minimumGroups: number
  readonly floor?: number
}

/**
 * The letter of the paper: drops ⌊size / 2⌋ of the current population, never below N_parent (7 → 4 → 2 → 1). Ties keep
 * the order of the population.
 */
export const paper = (options: PaperOptions): Policy =>
  halving({ parents: options.parents, minimumGroups: 0 }, Ranking.stable)

/**
 * What we would defend: as the paper, but an instruction seen in fewer than `minimumGroups` groups since it entered is
 * spared. Nobody better is dropped in its place, so fewer leave. Ties: more groups first, then the older.
 */
export const robust = (options: RobustOptions): Policy => halving(options, Ranking.explored)

const halving = (options: RobustOptions, rank: Ranking.Ranking): Policy => ({
  prune: (population, weights) => {
    const ranked = rank(population, weights)
    const size = ranked.length
    const quota = Math.max(0, Math.min(Math.floor(size / 2), size - Math.max(options.parents, options.floor ?? 0)))
    const bottom = ranked.slice(size - quota)
    const spared = bottom.filter((member) => member.lifetime.groups < options.minimumGroups)
    const dropped = bottom.filter((member) => member.lifetime.groups >= options.minimumGroups)
    const weightOf = new Map(weights.map(({ id, weight }) => [id, weight]))
    return {
      kept: [...ranked.slice(0, size - quota), ...spared].map((member) => member.instruction.id),
      pruned: dropped.toReversed().map(({ instruction: { id } }) => ({
        id,
        weight: weightOf.get(id) ?? 0,
        reason: "bottom-half"
      })),
      spared: spared.map((member) => member.instruction.id)
    }
  },
  parents: (population, weights) => rank(population, weights).slice(0, options.parents)
})
