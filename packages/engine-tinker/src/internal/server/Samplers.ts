import type { Effect } from "effect"
import { known, type Refusal } from "./Refusal.ts"
import type { Weights } from "./LoadedWeights.ts"

/** Weights to sample from; `check` refuses when they are gone by the time it is their turn. */
export interface Source {
  readonly weights: Weights
  readonly check: Effect.Effect<void, Refusal>
}

/** Weights that a client samples from under an id. */
export interface Sampler {
  readonly session: string
  readonly source: Source
  /** Of the checkpoint that the weights are from, if they are. */
  readonly path: string | null
}

export type Samplers = ReturnType<typeof make>

export const make = () => {
  const samplers = new Map<string, Sampler>()
  const idsOf = (session: string) => Array.from(samplers).flatMap(([id, one]) => (one.session === session ? [id] : []))
  const forget = (ids: Iterable<string>) => {
    for (const id of ids) samplers.delete(id)
  }
  return {
    has: (id: string) => samplers.has(id),
    get: (id: string) => known(samplers, "Sampler", id),
    /** The oldest of its session is forgotten when there are too many. */
    add: (id: string, sampler: Sampler): void => {
      samplers.set(id, sampler)
      const own = idsOf(sampler.session)
      forget(own.slice(0, Math.max(0, own.length - mostOfSession)))
    },
    idsOf,
    forgetOfModel: (model: string) => forget(Array.from(samplers.keys()).filter((id) => id.startsWith(`${model}:`))),
    forgetOfSession: (session: string) => forget(idsOf(session))
  }
}

/** A session that lasts makes a sampler for every step. */
const mostOfSession = 1000
