/** A finished outcome as a file, with the key of what it depends on. */
import { Option, Schema } from "effect"

export interface Finished<A> {
  readonly write: (key: string, outcome: A) => string
  /** The outcome in a file; null if it has another key. */
  readonly read: (text: string, key: string) => A | null
}

export const make = <A>(outcome: Schema.Codec<A>): Finished<A> => {
  const decode = Schema.decodeOption(Schema.fromJsonString(Schema.Struct({ key: Schema.String, outcome })))
  return {
    write: (key, outcome) => `${JSON.stringify({ key, outcome })}\n`,
    read: (text, key) =>
      Option.getOrNull(
        Option.map(
          Option.filter(decode(text), (kept) => kept.key === key),
          (kept) => kept.outcome
        )
      )
  }
}
