import { Waiting } from "@inspo/http/client"
import { Clock, Effect, Ref, Schedule, Schema } from "effect"
import type { ModelNotes } from "../../ModelNotes.ts"
import * as Wire from "../../Wire.ts"
import type { Connection } from "./Connection.ts"
import { type Model, post, type Sampler } from "./Model.ts"
import * as Reply from "./Reply.ts"
import type { RequestFailure } from "./RequestFailure.ts"
import * as Server from "./Server.ts"
import type { EngineError } from "@inspo/engine"

export type Models = Effect.Success<ReturnType<typeof make>>

interface ModelsOptions {
  readonly connection: Connection
  /** With less retryBudget, for what must not keep a client from ending. */
  readonly hasty: Connection
  readonly server: Server.Server
  readonly url: string
  /** Rank of LoRA adapters. */
  readonly rank: number
  readonly notes: ModelNotes
}

interface Session {
  readonly id: string
  models: number
  samplers: number
  reference: Model | null
  base: Sampler | null
}

/**
 * What a client holds on its server, and gives back with its scope: the models of its session, and what samples from them. A
 * session is opened after what an earlier client left on the server was given back.
 */
export const make = Effect.fnUntraced(function* (options: ModelsOptions) {
  const { connection, server } = options
  const holdings = makeHoldings({ ...options, unloads: server.profile.unloads })
  yield* holdings.releaseEarlier
  const open = openSession(connection)
  const session = yield* Ref.make(yield* open)
  yield* Effect.forkScoped(heartbeat(connection, session))
  yield* holdings.releaseAtEnd

  const create = whenThereIsRoom(
    options,
    Effect.flatMap(Ref.get(session), (present) => createModel(options, present, holdings))
  )

  return {
    create,
    /** Gives a model back, so that the server has room for another; where that fails the log says so. */
    release: ({ id }: Model) => holdings.release(id),
    startOver: Effect.flatMap(open, (opened) => Ref.set(session, opened)),
    /** A model that is never trained. */
    reference: Effect.gen(function* () {
      const present = yield* Ref.get(session)
      present.reference ??= yield* create
      return present.reference
    }),
    /** A sampler of the base model. */
    baseSampler: Effect.gen(function* () {
      const present = yield* Ref.get(session)
      present.base ??= yield* createBaseSampler(connection, present, server.model)
      return present.base
    }),
    /** A number that no sampler of the session has. */
    nextSampler: Effect.map(Ref.get(session), (present) => present.samplers++)
  }
})

const openSession = (connection: Connection): Effect.Effect<Session, RequestFailure> =>
  Effect.map(
    connection.post(
      post("create_session", { type: "create_session", tags: ["inspo"], sdk_version: Server.sdkVersion }),
      Reply.json(Wire.CreateSessionResponse)
    ),
    ({ session_id }) => ({ id: session_id, models: 0, samplers: 0, reference: null, base: null })
  )

const heartbeat = (connection: Connection, session: Ref.Ref<Session>) =>
  Effect.flatMap(Ref.get(session), ({ id }) =>
    connection.post(post("session_heartbeat", { session_id: id }), Reply.json(Schema.Unknown))
  ).pipe(Effect.ignore, Effect.repeat(Schedule.spaced("10 seconds")))

const createModel = Effect.fnUntraced(function* (
  { connection, rank, server }: ModelsOptions,
  session: Session,
  holdings: Holdings
) {
  let promised: string | null = null
  const asked = post("create_model", {
    type: "create_model",
    session_id: session.id,
    model_seq_id: session.models++,
    base_model: server.model,
    ...(server.profile.lora ? { lora_config: { rank } } : {})
  })
  // A large model takes minutes to make, which this client may not live to see.
  const onAccepted = ({ model_id = null }: typeof Wire.Future.Type) => {
    promised = model_id
    return model_id === null ? Effect.void : holdings.took(model_id)
  }
  const { model_id: id } = yield* Effect.tapError(
    connection.call({ ...asked, onAccepted }, Reply.json(Wire.ModelIdResponse)),
    (failure) =>
      promised !== null && failure._tag === "RequestFailure" && failure.kind === "failed"
        ? holdings.lost(promised)
        : Effect.void
  )
  yield* holdings.took(id)
  return { id, sequence: 0, sampler: null } satisfies Model
})

/** Asks again for some minutes while the server has no room for a model. */
const whenThereIsRoom = <E extends { readonly reason: string }>(
  { server, url }: ModelsOptions,
  create: Effect.Effect<Model, E>
): Effect.Effect<Model, E> => {
  const waiting = Waiting.make(url)
  const isFull = ({ reason }: E) => server.profile.full?.test(reason) === true
  return Effect.flatMap(Clock.currentTimeMillis, (began) =>
    create.pipe(
      Effect.tapError((failure) =>
        isFull(failure) ? waiting("create_model", `${failure.reason}; ${freedLater}`) : Effect.void
      ),
      Effect.retry({
        while: (failure) => Effect.map(Clock.currentTimeMillis, (now) => isFull(failure) && now - began < roomTimeout),
        schedule: Schedule.spaced("5 seconds")
      })
    )
  )
}

const createBaseSampler = Effect.fnUntraced(function* (connection: Connection, session: Session, model: string) {
  const { sampling_session_id: id } = yield* connection.post(
    post("create_sampling_session", {
      session_id: session.id,
      sampling_session_seq_id: session.samplers++,
      base_model: model
    }),
    Reply.json(Wire.SamplingSessionResponse)
  )
  return { id, requests: 0 } satisfies Sampler
})

/** SkyRL frees the models of a client that it has not heard of for five minutes, and looks for such once a minute. */
const roomTimeout = 7 * 60_000
const freedLater = "models whose client is gone are freed some five minutes later"

type Holdings = ReturnType<typeof makeHoldings>

interface HoldingsOptions extends Pick<ModelsOptions, "connection" | "hasty" | "notes" | "url"> {
  readonly unloads: boolean
}

/** The models that a client holds on its server, where a server frees them when asked. */
const makeHoldings = ({ connection, hasty, notes, unloads, url }: HoldingsOptions) => {
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
