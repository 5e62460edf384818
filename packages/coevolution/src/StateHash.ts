import { Effect, Predicate } from "effect"
import { Digest } from "effect/crypto"
import type { RunState } from "./RunState.ts"

/**
 * The version of what is hashed. Raise it when `RunState` changes its form or `apply` its meaning: hashes of another
 * version are not compared.
 */
export const version = 7

/**
 * What a state amounts to: its version, a colon and a SHA-256 of those of its parts, hexadecimal. Equal states give equal hashes on every
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
  Effect.forEach(Object.entries(hashed(state)), ([name, part]) =>
    Effect.map(hashOf(part), (hash) => [name, hash] as const)
  ).pipe(
    Effect.flatMap((parts) => digest(canonical(Object.fromEntries(parts)))),
    Effect.map((hash) => `${version}:${hash}`)
  )

/** Whether two hashes say different things of a state; those of different versions say nothing of each other. */
export const differ = (a: string, b: string): boolean => a !== b && versionOf(a) === versionOf(b)

const hashed = (state: RunState) => ({
  ...state,
  checkpoints: state.checkpoints.map(({ checkpoint, step }) => ({ step, hash: checkpoint.hash }))
})

/** Parts never change, and most are those of the state before: their hashes are known, in place of texts of their size. */
const hashOf = Effect.fnUntraced(function* (part: unknown) {
  if (!Predicate.isObjectKeyword(part)) return yield* digest(canonical(part))
  const known = hashes.get(part)
  if (known !== undefined) return known
  const hash = yield* digest(canonical(part))
  hashes.set(part, hash)
  return hash
})

const hashes = new WeakMap<object, string>()

/** A value as JSON with its keys in order. */
const canonical = (value: unknown): string => JSON.stringify(value, ordered)

const ordered = (_: string, value: unknown): unknown =>
  Predicate.isObject(value) ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value

const digest = (text: string): Effect.Effect<string> =>
  Digest.Digest.use(({ digestHex }) => digestHex(Digest.sha256, new TextEncoder().encode(text))).pipe(
    Effect.provide(Digest.layerWebCrypto)
  )

const versionOf = (hash: string): string => hash.slice(0, hash.indexOf(":"))
