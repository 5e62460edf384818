import { Schema } from "effect"

/**
 * The identity of a strategy: its name and its options. Strategies that may decide differently have different identities, so
 * that a run resumes only under the strategy it started with.
 *
 * @example
 * ```ts
 * import type { Strategy } from "@inspo/domain"
 *
 * const identity: Strategy.Identity = { name: "drop-the-last", parameters: { parents: 1 } }
 * ```
 */
export const Identity = Schema.Struct({
  name: Schema.NonEmptyString,
  parameters: Schema.Record(Schema.String, Schema.Json)
})
export interface Identity extends Schema.Schema.Type<typeof Identity> {}

/** An identity as text, such as `drop-the-last (parents 1)`. */
export const describe = ({ name, parameters }: Identity): string => {
  const written = Object.entries(parameters).map(
    ([key, value]) => `${key} ${typeof value === "string" ? value : JSON.stringify(value)}`
  )
  return written.length === 0 ? name : `${name} (${written.join(", ")})`
}
