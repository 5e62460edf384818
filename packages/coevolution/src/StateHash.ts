import { Effect, Predicate } from "effect"
import { Digest } from "effect/crypto"
import type { RunState } from "./RunState.ts"

/** The version of the hashed state. Increase it when the format of `RunState` or the meaning of `apply` changes. */
export const version = 10

/**
 * The hash of a state: its version, a colon and the hexadecimal SHA-256 of the hashes of its parts. Equal states have equal
 * hashes on every machine. The contents of a checkpoint count, its location does not.
 */
export const of = (state: RunState): Effect.Effect<string> =>
  Effect.forEach(Object.entries(hashed(state)), ([name, part]) =>
    Effect.map(hashOf(part), (hash) => [name, hash] as const)
  ).pipe(
    Effect.flatMap((parts) => digest(canonical(Object.fromEntries(parts)))),
    Effect.map((hash) => `${version}:${hash}`)
  )

/** Whether two hashes of the same version differ; hashes of different versions cannot be compared. */
export const differ = (a: string, b: string): boolean => a !== b && versionOf(a) === versionOf(b)

const hashed = (state: RunState) => ({
  ...state,
  checkpoints: state.checkpoints.map(({ checkpoint, step }) => ({ step, hash: checkpoint.hash }))
})

/** Hashes by part: parts are immutable, and most are shared with the previous state. */
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
