import type { EngineError } from "@inspo/engine"
import { Effect, Schema } from "effect"
import type { ModelNotes } from "../../ModelNotes.ts"
import type { Connection } from "./Connection.ts"
import { post } from "./Model.ts"
import * as Reply from "./Reply.ts"

export type Holdings = ReturnType<typeof make>

interface HoldingsOptions {
  readonly connection: Connection
  /** With less retryBudget, for what must not keep a client from ending. */
  readonly hasty: Connection
  readonly url: string
  readonly unloads: boolean
  readonly notes: ModelNotes
}

/** The models that a client holds on its server, where a server frees them when asked. */
export const make = ({ connection, hasty, notes, unloads, url }: HoldingsOptions) => {
  const held = new Set<string>()
  /** A model is not there any more. */
  const lost = (id: string): Effect.Effect<void, EngineError> =>
    Effect.suspend(() => {
      held.delete(id)
      return notes.gaveBack(id)
    })

  /** Asks the server to free a model; one that is not there any more is free. */
  const unload = Effect.fnUntraced(
    function* (through: Connection, id: string) {
      yield* Effect.catchIf(
        through.call(post("unload_model", { type: "unload_model", model_id: id }), Reply.json(Schema.Unknown)),
        ({ status }) => status === 404,
        () => Effect.void
      )
      yield* lost(id)
    },
    (freeing, _, id) =>
      freeing.pipe(
        Effect.catch(({ message }) =>
          Effect.logWarning(
            `the model ${id} may still be held on ${url} (${message}); ` +
              "a server frees what it holds some minutes after it last heard of its client"
          )
        )
      )
  )

  return {
    /** A model is held from now on. */
    took: Effect.fnUntraced(function* (id: string): Effect.fn.Return<void, EngineError> {
      if (!unloads || held.has(id)) return
      held.add(id)
      yield* notes.took(id)
    }),
    lost,
    /** Gives a model back; where that fails the log says so. */
    release: (id: string) => Effect.suspend(() => (held.has(id) ? unload(connection, id) : Effect.void)),
    /** Gives back what an earlier client left. */
    releaseEarlier: Effect.flatMap(notes.held, (ids) =>
      Effect.forEach(ids, (id) => unload(connection, id), { discard: true })
    ),
    /** Gives all back when the scope ends; interruptible, since nobody waits long for a server at the end. */
    releaseAtEnd: Effect.addFinalizer(() =>
      Effect.forEach(held, (id) => unload(hasty, id), { concurrency: "unbounded", discard: true }).pipe(
        Effect.interruptible,
        Effect.timeoutOrElse({
          duration: longestEnd,
          orElse: () => Effect.logWarning(`${url} has not freed ${[...held].join(", ")} within ${longestEnd}`)
        })
      )
    )
  }
}

const longestEnd = "30 seconds"
