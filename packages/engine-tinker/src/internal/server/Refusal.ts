import type { EngineError } from "@inspo/engine"
import { Effect, Schema } from "effect"

/** A request that is answered with a status other than 200, or a future that failed. */
export class Refusal extends Schema.TaggedError<Refusal>()("Refusal", {
  status: Schema.Int,
  detail: Schema.String
}) {
  override get message() {
    return this.detail
  }
}

export const refuse = (detail: string, status = 400): Refusal => new Refusal({ status, detail })

/** Refuses what is more than a limit allows; `what` is counted. */
export const atMost = (field: string, value: number, most: number, what: string): Effect.Effect<void, Refusal> =>
  value <= most ? Effect.void : Effect.fail(refuse(`${field} is of ${value} ${what}, expected at most ${most}`))

/** What is known by an id; refused when nothing is. */
export const known = <A>(map: ReadonlyMap<string, A>, kind: string, id: string): Effect.Effect<A, Refusal> => {
  const found = map.get(id)
  return found === undefined ? Effect.fail(refuse(`${kind} ${brief(id)} not found`, 404)) : Effect.succeed(found)
}

/** What a client gets for a fault of the engine; that of a checkpoint names files of this machine, for its log alone. */
export const answered = <A>(work: Effect.Effect<A, Refusal | EngineError>): Effect.Effect<A, Refusal> =>
  Effect.catchTag(work, "EngineError", ({ message, operation }) =>
    ["save", "restore", "remove"].includes(operation)
      ? Effect.andThen(
          Effect.logError(message),
          Effect.fail(refuse(`the server could not ${operation} the checkpoint; its log says why`, 500))
        )
      : Effect.fail(refuse(message))
  )

/** A text of the client's in a refusal, which need not be as long. */
export const quoted = (text: string): string => JSON.stringify(brief(text))

export const brief = (text: string): string => (text.length > 120 ? `${text.slice(0, 120)}…` : text)
