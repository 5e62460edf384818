import { ClauseBank } from "@inspo/reflection"
import { Effect, Random, Record } from "effect"

/** The behaviours of a demonstrator in one trajectory. */
export type Behaviours = Readonly<Record<ClauseBank.Behaviour, boolean>>

/**
 * The rates of behaviours. `base` is the rate of each behaviour without a clause about it; `follow` is the rate with a clause
 * that requests it. With `obedient` false, clauses are ignored and the base rates always apply.
 */
export interface Rates {
  readonly base: Readonly<Record<ClauseBank.Behaviour, number>>
  readonly follow: number
  readonly obedient: boolean
}

/** The rates of the shipped checkpoint: the behaviour that multi-hop questions need is rare without a clause for it. */
export const defaultRates: Rates = {
  base: { search: 0.75, "one-entity-per-search": 0.05, "state-evidence": 0.2, "bare-answer": 0.45 },
  follow: 0.88,
  obedient: true
}

/**
 * The rate of each behaviour with an instruction: `follow` if a clause requests it, `base · (1 - follow)` if a clause requests
 * the opposite, one half with both, `base` with neither.
 */
export const ratesUnder = (instruction: string, rates: Rates): Readonly<Record<ClauseBank.Behaviour, number>> => {
  const clauses = rates.obedient ? ClauseBank.clausesIn(instruction) : []
  return Record.map(rates.base, (base, behaviour) => {
    const concerning = clauses.filter((clause) => clause.behaviour === behaviour)
    const asked = concerning.some((clause) => clause.direction === 1)
    const opposed = concerning.some((clause) => clause.direction === -1)
    if (asked && opposed) return 0.5
    return asked ? rates.follow : opposed ? base * (1 - rates.follow) : base
  })
}

/** Draws each behaviour independently. */
export const draw = (instruction: string, rates: Rates): Effect.Effect<Behaviours> => {
  const wanted = ratesUnder(instruction, rates)
  return Effect.all(Record.map(wanted, (rate) => Effect.map(Random.next, (uniform) => uniform < rate)))
}
