import { assert, describe, it } from "@effect/vitest"
import { Engine } from "@inspo/engine"
import { TabularEngine } from "@inspo/engine/testing"
import { TinkerServer } from "@inspo/engine-tinker/server"
import * as TinkerEngine from "@inspo/engine-tinker"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as InMemory from "./support/InMemory.ts"

const server = InMemory.layer({ sessionTimeout: "5 minutes" }).pipe(
  Layer.provideMerge(Layer.effect(Engine, TabularEngine.make))
)

/** A session with a model. */
const open = Effect.gen(function* () {
  const { createModel, createSession } = yield* TinkerServer
  const { session_id } = yield* createSession
  yield* createModel({ session_id, model_seq_id: 0, base_model: "inspo-tiny" }, "digest")
  return { session_id, model_id: `${session_id}:train:0` }
})

describe("sessions of the server", () => {
  it.effect("end with their models when nothing is heard of them", () =>
    Effect.gen(function* () {
      const { heartbeat, info } = yield* TinkerServer
      const { model_id, session_id } = yield* open
      yield* TestClock.adjust("6 minutes")
      for (const request of [Effect.asVoid(heartbeat({ session_id })), Effect.asVoid(info({ model_id }))])
        assert.strictEqual((yield* Effect.flip(request)).status, 404)
    }).pipe(Effect.provide(server))
  )

  it.effect("live as long as there are heartbeats, or requests of their models", () =>
    Effect.gen(function* () {
      const { heartbeat, info } = yield* TinkerServer
      const beating = yield* open
      const asking = yield* open
      for (let minute = 0; minute < 60; minute += 4) {
        yield* TestClock.adjust("4 minutes")
        yield* heartbeat(beating)
        yield* info(asking)
      }
      yield* info(beating)
      yield* heartbeat(asking)
    }).pipe(Effect.provide(server))
  )

  it.effect("are kept by a client that has nothing to do for an hour", () =>
    Effect.gen(function* () {
      const { tokenizer } = yield* Engine
      const engine = yield* Effect.provideContext(
        Engine,
        yield* Layer.build(TinkerEngine.layer({ url: "http://inspo.test", tokenizer }))
      )
      for (let minute = 0; minute < 60; minute++) yield* TestClock.adjust("1 minute")
      yield* engine.save("kept")
    }).pipe(Effect.scoped, Effect.provide(server))
  )
})
