import { Schema } from "effect"

/**
 * Which strategy decides: its name, and what it was made with. Two strategies that may decide differently differ in it, so that
 * a run continues under the one it began with.
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

/** An identity in words, such as `drop-the-last (parents 1)`. */
export const describe = ({ name, parameters }: Identity): string => {
  const written = Object.entries(parameters).map(
    ([key, value]) => `${key} ${typeof value === "string" ? value : JSON.stringify(value)}`
  )
  return written.length === 0 ? name : `${name} (${written.join(", ")})`
}
