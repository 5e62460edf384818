import type { CheckpointRef } from "@inspo/engine"
import { Effect, Result } from "effect"
import type { Profile } from "../../Profile.ts"
import * as Wire from "../../Wire.ts"
import type { Connection } from "./Connection.ts"
import { type Model, next } from "./Model.ts"
import * as Reply from "./Reply.ts"
import type { RequestFailure } from "./RequestFailure.ts"

export const make = (connection: Connection, profile: Profile) => ({
  /** Saves the weights of a model, under another name where this one is taken. */
  save: Effect.fnUntraced(function* (model: Model, name: string): Effect.fn.Return<CheckpointRef, RequestFailure> {
    for (let attempt = 1; ; attempt++) {
      const path = attempt === 1 ? name : `${name}-${attempt}`
      const saved = yield* Effect.result(
        connection.call(
          next(model, "save_weights", { type: "save_weights", path }, true),
          Reply.json(Wire.PathResponse)
        )
      )
      if (Result.isSuccess(saved)) return { uri: saved.success.path, hash: saved.success.hash ?? "" }
      // A name may be taken: by an earlier run, or by this very request when its answer was lost.
      if (attempt >= mostNames || !/\bexist/iu.test(saved.failure.reason)) return yield* saved.failure
    }
  }),
  /** Removes a checkpoint where the server does that; no error where there is none. */
  remove: (uri: string): Effect.Effect<void, RequestFailure> => {
    const [, model, kind, name] = /^tinker:\/\/([^/]+)\/([^/]+)\/([^/]+)$/u.exec(uri) ?? []
    if (!profile.removes || model === undefined || kind === undefined || name === undefined) return Effect.void
    return Effect.catchIf(
      connection.remove(`training_runs/${encodeURIComponent(model)}/checkpoints/${kind}/${encodeURIComponent(name)}`),
      ({ status }) => status === 404,
      () => Effect.void
    )
  }
})

const mostNames = 20
