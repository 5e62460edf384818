/** What the servers of an engine add to their protocols for their clients. */
import { hash } from "node:crypto"
import { Option, Result, Schema } from "effect"
import { Headers } from "effect/http"
import type { EngineProfile } from "./Engine.ts"

/** A field that servers leave out or set to null. */
export const maybe = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** A list that is checked in one pass: bodies hold hundreds of thousands of numbers. */
export const list = <A>(expected: string, holds: (value: unknown) => value is A) =>
  Schema.declare((value): value is ReadonlyArray<A> => Array.isArray(value) && value.every(holds), { expected })

/** What our own servers add to a model; others leave it out. */
export const EngineFacts = Schema.Struct({
  parameters: Schema.Int,
  concurrency: Schema.Int,
  deterministic: Schema.Boolean,
  single_token_stops: Schema.Boolean,
  top_k: Schema.optionalKey(Schema.Boolean),
  fingerprint: Schema.String
})
export interface EngineFacts extends Schema.Schema.Type<typeof EngineFacts> {}

export const factsOf = (profile: EngineProfile): EngineFacts => ({
  parameters: profile.parameters,
  concurrency: profile.concurrency,
  deterministic: profile.deterministic,
  single_token_stops: profile.stopTexts === "single-token",
  top_k: profile.topK === true,
  fingerprint: profile.fingerprint
})

/** The part of a profile that follows from a server's facts; `unknown` is the fingerprint of a server that reports none. */
export const profileOf = (facts: EngineFacts | undefined, unknown: string) =>
  ({
    parameters: facts?.parameters ?? 0,
    stopTexts: facts?.single_token_stops === true ? "single-token" : "any",
    deterministic: facts?.deterministic ?? false,
    fingerprint: facts?.fingerprint ?? unknown
  }) satisfies Partial<EngineProfile>

/** The header that carries the text of a seed, percent-encoded, beside the number in the body. */
const seedHeader = "x-inspo-seed"

export const seedHeaders = (seed: string): Readonly<Record<string, string>> => ({
  [seedHeader]: encodeURIComponent(seed)
})

/** The seed text of a request, if any; the failure is the reason that it is invalid. */
export const readSeed = (headers: Headers.Headers): Result.Result<Option.Option<string>, string> =>
  Result.try({
    try: () => Option.map(Headers.get(headers, seedHeader), decodeURIComponent),
    catch: () => `the header ${seedHeader} is not percent-encoded`
  })

/** A seed as other servers take it: a number of 31 bits, which all accept. */
export const numericSeed = (seed: string): number => hash("sha256", seed, "buffer").readUInt32LE() >>> 1
