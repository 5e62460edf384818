import { ClauseBank } from "@inspo/reflection"
import { Array, Effect, Random } from "effect"

/**
 * How instructions are drawn. A share `seedOnly` is only the seed instruction. A share `advised` contains each clause that
 * requests a behaviour with probability `adviceRate` and each other clause with probability `otherRate`: without them long
 * chains, which need several clauses at once, would be too rare to learn. The rest contain every clause with probability
 * `clauseRate`.
 */
export interface Options {
  readonly seedOnly: number
  readonly advised: number
  readonly adviceRate: number
  readonly otherRate: number
  readonly clauseRate: number
  /** The clauses of instructions. */
  readonly clauses: ReadonlyArray<ClauseBank.Clause>
}

export const defaultOptions: Options = {
  seedOnly: 0.15,
  advised: 0.4,
  adviceRate: 0.7,
  otherRate: 0.08,
  clauseRate: 0.2,
  clauses: ClauseBank.clauses
}

/** Draws an instruction: the seed instruction and clauses after it, in any wording and any order. */
export const draw = Effect.fnUntraced(function* (options: Options) {
  const kind = yield* Random.next
  if (kind < options.seedOnly) return ClauseBank.seedInstruction
  const isAdvised = kind < options.seedOnly + options.advised
  const rate = (clause: ClauseBank.Clause): number =>
    isAdvised ? (clause.direction === 1 ? options.adviceRate : options.otherRate) : options.clauseRate
  const present = yield* Effect.filter(options.clauses, (clause) =>
    Effect.map(Random.next, (uniform) => uniform < rate(clause))
  )
  const texts = yield* Effect.forEach(yield* Random.shuffle(present), (clause) => Random.choice(clause.texts))
  return Array.join([ClauseBank.seedInstruction, ...texts], " ")
})
