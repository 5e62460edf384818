import { EngineError } from "@inspo/engine"
import { Effect, Ref } from "effect"
import * as Wire from "../../Wire.ts"
import type { Connection } from "./Connection.ts"
import { type Model, next, type Sampler } from "./Model.ts"
import type { Models } from "./Models.ts"
import * as Reply from "./Reply.ts"

export type TrainedModel = Effect.Success<ReturnType<typeof make>>

interface State {
  readonly model: Model
  /** Why its weights are in doubt, if so. */
  readonly doubt: string | null
}

/**
 * The model that is trained, of which there is one at a time. Its weights are sound, or in doubt from when a change of them
 * begins until it has finished: then only loading a checkpoint helps.
 */
export const make = Effect.fnUntraced(function* (connection: Connection, models: Models, url: string) {
  const state = yield* Ref.make<State>({ model: yield* models.create, doubt: null })

  /** The model, given that its weights are sound. */
  const sound = (operation: EngineError["operation"]) =>
    Effect.flatMap(Ref.get(state), ({ doubt, model }) =>
      doubt === null
        ? Effect.succeed(model)
        : Effect.fail(
            new EngineError({
              operation,
              reason: `the weights on ${url} are in doubt (${doubt}); restore a checkpoint, as resuming the run does`
            })
          )
    )

  /** Changes the weights; where that fails they stay in doubt, for the reason `doubt`. */
  const change = Effect.fnUntraced(function* <A, E>(doubt: string, work: (model: Model) => Effect.Effect<A, E>) {
    const { model } = yield* Ref.updateAndGet(state, (present) => ({ ...present, doubt }))
    model.sampler = null
    const result = yield* work(model)
    yield* Ref.set(state, { model, doubt: null })
    return result
  })

  /** Puts a new model in the place of the one there is. */
  const replace = Effect.gen(function* () {
    yield* models.release((yield* Ref.get(state)).model)
    const model = yield* Effect.catchIf(
      models.create,
      (failure) => failure._tag === "RequestFailure" && failure.status === 404,
      // The server was restarted or let the session expire.
      () => Effect.andThen(models.startOver, models.create)
    )
    yield* Ref.update(state, ({ doubt }) => ({ model, doubt }))
  })

  return {
    sound,
    /** What samples from the present weights. */
    sampler: Effect.gen(function* () {
      const model = yield* sound("sample")
      model.sampler ??= yield* saveForSampler(connection, model, yield* models.nextSampler)
      return model.sampler
    }),
    change,
    /** Loads a checkpoint into a new model, which leaves doubtful gradients behind. */
    load: Effect.fnUntraced(function* (path: string, optimizer: boolean) {
      const { doubt, model } = yield* Ref.get(state)
      // A model that nothing was done to is as good as a new one, unless the server has lost it.
      const isFresh = model.sequence === 0 && doubt === null
      yield* Ref.set(state, { model, doubt: doubt ?? loading })
      if (!isFresh) yield* replace
      const load = change(loading, (present) =>
        connection.call(
          next(present, "load_weights", { type: "load_weights", path, optimizer }, true),
          Reply.json(Wire.LoadWeightsResponse)
        )
      )
      yield* Effect.catchIf(
        load,
        ({ status }) => isFresh && status === 404,
        () => Effect.andThen(replace, load)
      )
    })
  }
})

const loading = "a checkpoint was being loaded"

const saveForSampler = Effect.fnUntraced(function* (connection: Connection, model: Model, number: number) {
  const { sampling_session_id: id } = yield* connection.call(
    next(
      model,
      "save_weights_for_sampler",
      { type: "save_weights_for_sampler", sampling_session_seq_id: number },
      true
    ),
    Reply.json(Wire.SamplingSessionResponse)
  )
  return { id, requests: 0 } satisfies Sampler
})
