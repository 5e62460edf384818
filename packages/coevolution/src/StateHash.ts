import { Effect, Predicate } from "effect"
import { Digest } from "effect/crypto"
import type { RunState } from "./RunState.ts"

/**
 * The version of what is hashed. Raise it when `RunState` changes its form or `apply` its meaning: hashes of another
 * version are not compared.
 */
export const version = 3

/**
 * What a state amounts to: its version, a colon and a SHA-256, hexadecimal. Equal states give equal hashes on every
 * machine. Where a checkpoint lies does not count, its contents do.
 *
 * @example
 * ```ts
 * import { RunState, StateHash } from "@inspo/coevolution"
 *
 * const hash = StateHash.of(RunState.unstarted)
 * ```
 */
export const of = (state: RunState): Effect.Effect<string> =>
  Digest.Digest.use((digest) =>
    digest.digestHex(Digest.sha256, new TextEncoder().encode(canonical(hashed(state))))
  ).pipe(
    Effect.map((hash) => `${version}:${hash}`),
    Effect.provide(Digest.layerWebCrypto)
  )

/** Whether two hashes say different things of a state; those of different versions say nothing of each other. */
export const differ = (a: string, b: string): boolean => a !== b && versionOf(a) === versionOf(b)

const hashed = (state: RunState): unknown => ({
  ...state,
  checkpoints: state.checkpoints.map(({ checkpoint, step }) => ({ step, hash: checkpoint.hash }))
})

/** A value as JSON with its keys in order. */
const canonical = (value: unknown): string => {
  if (!Predicate.isObjectKeyword(value)) return JSON.stringify(value) ?? "null"
  const known = texts.get(value)
  if (known !== undefined) return known
  const text = Array.isArray(value)
    ? `[${value.map(canonical).join()}]`
    : `{${Object.entries(value)
        .filter(([, part]) => part !== undefined)
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([key, part]) => `${JSON.stringify(key)}:${canonical(part)}`)
        .join()}}`
  texts.set(value, text)
  return text
}

/** The parts of a state never change and are shared with the next one: most of a hash is known from the one before. */
const texts = new WeakMap<object, string>()

const versionOf = (hash: string): string => hash.slice(0, hash.indexOf(":"))
