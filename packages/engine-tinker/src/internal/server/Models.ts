import type { Datum } from "@inspo/engine"
import { Clock, type Duration, Effect, Exit, Schema, Scope } from "effect"
import type { Futures } from "./Futures.ts"
import { known, type Refusal, refuse } from "./Refusal.ts"
import * as RequestQueue from "./RequestQueue.ts"
import type { Clip } from "./Losses.ts"
import type { LoadedWeights, Weights } from "./LoadedWeights.ts"
import type { Samplers } from "./Samplers.ts"
import type { Sessions } from "./Sessions.ts"

/** A model that a client trains. */
export interface Model extends Origin {
  readonly id: string
  readonly weights: Weights
  readonly enqueue: (job: RequestQueue.Job) => Effect.Effect<void>
  readonly scope: Scope.Closeable
  /** Gradients that wait for the optimizer's step. */
  pending: Array<Gradient>
  /** Why one of these gradients is missing, if so. */
  lost: string | null
  /** Changes when the weights do. */
  version: number
  /** When it was last asked for anything, in milliseconds. */
  lastRequest: number
}

/** What a model was asked for with. */
export interface Origin {
  readonly session: string
  /** Of the adapter that the client asked for, or null where it asked for none. */
  readonly loraRank: number | null
  readonly metadata: Readonly<Record<string, unknown>> | null
}

/** Datums whose gradient waits; `clip` as in `Losses.Loss`. */
export interface Gradient {
  readonly clip: Clip | null
  /** The loss that was asked for, summed over tokens, for the log-probabilities when it was computed. */
  readonly loss: number
  readonly datums: ReadonlyArray<Datum>
}

export type Models = Effect.Success<ReturnType<typeof make>>

interface ModelsOptions {
  readonly futures: Futures
  readonly loaded: LoadedWeights
  readonly samplers: Samplers
  readonly sessions: Sessions
  readonly most: number
  /** How long a request waits for one of a lower number that has not come. */
  readonly gapPatience: Duration.Input
}

/** The models of all sessions. */
export const make = Effect.fnUntraced(function* (options: ModelsOptions) {
  const { futures, most, loaded, samplers, sessions } = options
  const scope = yield* Effect.scope
  const models = new Map<string, Model>()

  /** Ends a model: its requests, its samplers and what it saved. */
  const free = Effect.fnUntraced(function* (model: Model) {
    models.delete(model.id)
    samplers.forgetOfModel(model.id)
    yield* futures.end(model.id)
    yield* Scope.close(model.scope, Exit.void)
    yield* loaded.forget(model.weights)
  })
  const ofSession = (session: string) => Array.from(models.values()).filter((one) => one.session === session)

  return {
    all: () => models.values(),
    idsOf: (session: string) => ofSession(session).map(({ id }) => id),
    /** The model that a request is for; it and its session were heard of by that. */
    asked: (id: string) =>
      Effect.tap(known(models, "Model", id), (model) =>
        Effect.andThen(
          sessions.heard(model.session),
          Effect.map(Clock.currentTimeMillis, (now) => (model.lastRequest = now))
        )
      ),
    /** Counts a refused request of a model as done, so that the next one does not wait for it; its body may be anything. */
    skip: (body: unknown): Effect.Effect<void> =>
      Effect.suspend(() => {
        const model = isNumbered(body) ? models.get(body.model_id) : undefined
        return model === undefined || !isNumbered(body)
          ? Effect.void
          : model.enqueue({ sequence: body.seq_id, run: Effect.void })
      }),
    /** Refuses a new model where there are too many. */
    checkRoom: (id: string): Effect.Effect<void, Refusal> =>
      Effect.suspend(() =>
        models.has(id) || models.size < most
          ? Effect.void
          : Effect.fail(refuse(`${models.size} models are there, expected fewer than ${most}; unload one`, 429))
      ),
    add: Effect.fnUntraced(function* (id: string, origin: Origin) {
      const own = yield* Scope.fork(scope)
      const added: Model = {
        ...origin,
        id,
        weights: { name: fileName(id), saved: null, dirty: false },
        enqueue: yield* Scope.provide(RequestQueue.make(options.gapPatience), own),
        scope: own,
        pending: [],
        lost: null,
        version: 0,
        lastRequest: yield* Clock.currentTimeMillis
      }
      models.set(id, added)
      return added
    }),
    free,
    /** Ends the models of a session; what they left in the engine's folder goes when the engine has a moment. */
    freeOfSession: Effect.fnUntraced(function* (session: string) {
      for (const model of ofSession(session)) {
        models.delete(model.id)
        yield* free(model).pipe(
          Effect.catchTag("EngineError", ({ message }) => Effect.logWarning(`session ${session}: ${message}`)),
          Effect.forkIn(scope)
        )
      }
    })
  }
})

const isNumbered = Schema.is(Schema.Struct({ model_id: Schema.String, seq_id: Schema.Int }))

/** A model id as engines take names of checkpoints. */
export const fileName = (id: string): string => id.replaceAll(":", ".")
