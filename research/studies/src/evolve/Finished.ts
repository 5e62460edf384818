/** A finished outcome as a file, with the key of what it depends on. */
import { Effect, Option, Schema } from "effect"
import type { Host } from "../Host.ts"

export interface Finished<A> {
  readonly write: (key: string, outcome: A) => string
  /** The outcome in a file; null if there is no file, or one with another key. */
  readonly read: (text: string | null, key: string) => A | null
}

export const make = <A>(outcome: Schema.Codec<A>): Finished<A> => {
  const decode = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ key: Schema.String, outcome })))
  return {
    write: (key, outcome) => `${JSON.stringify({ key, outcome })}\n`,
    read: (text, key) => {
      const kept = Option.getOrNull(decode(text))
      return kept?.key === key ? kept.outcome : null
    }
  }
}

/** The outcome in a file, which is made and written unless it is there. */
export const once = Effect.fnUntraced(function* <E, R, A>(
  host: Host<E, R>,
  { read, write }: Finished<A>,
  { file, key, run }: { readonly file: string; readonly key: string; readonly run: () => Promise<A> }
) {
  const known = read(yield* host.read(file), key)
  if (known !== null) return known
  const outcome = yield* Effect.promise(run)
  yield* host.write(file, write(key, outcome))
  return outcome
})
