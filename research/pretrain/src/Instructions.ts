import { ClauseBank } from "@inspo/reflection"
import { Array, Effect, Random } from "effect"

/**
 * How instructions are drawn. A share `seedOnly` is only the seed instruction. A share `advised` contains each clause that
 * requests a behaviour with probability `adviceRate` and each other clause with probability `otherRate`: without them long
 * chains, which need several clauses at once, would be too rare to learn. The rest contain every clause with probability
 * `clauseRate`.
 */
export const rates = { seedOnly: 0.15, advised: 0.4, adviceRate: 0.7, otherRate: 0.08, clauseRate: 0.2 }

/** Draws an instruction: the seed instruction and clauses after it, in any wording and any order. */
export const draw = Effect.gen(function* () {
  const kind = yield* Random.next
  if (kind < rates.seedOnly) return ClauseBank.seedInstruction
  const isAdvised = kind < rates.seedOnly + rates.advised
  const rate = (clause: ClauseBank.Clause): number =>
    isAdvised ? (clause.direction === 1 ? rates.adviceRate : rates.otherRate) : rates.clauseRate
  const present = yield* Effect.filter(ClauseBank.clauses, (clause) =>
    Effect.map(Random.next, (uniform) => uniform < rate(clause))
  )
  const texts = yield* Effect.forEach(yield* Random.shuffle(present), (clause) => Random.choice(clause.texts))
  return Array.join([ClauseBank.seedInstruction, ...texts], " ")
})
