import { assert, describe, it } from "@effect/vitest"
import { Engine } from "@inspo/engine"
import { TabularEngine } from "@inspo/engine/testing"
import type { ModelNotes } from "@inspo/engine-tinker"
import * as TinkerEngine from "@inspo/engine-tinker"
import { Effect, Exit, Fiber, Layer, Logger, Schema, Scope } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import * as InMemory from "./support/InMemory.ts"
import * as SmallServer from "./support/SmallServer.ts"

const served = InMemory.layer().pipe(Layer.provide(Layer.effect(Engine, TabularEngine.make)))

/** A server with room for so many models. */
const small = (options: Parameters<typeof SmallServer.make>[1]) =>
  Effect.map(HttpClient.HttpClient, (inner) => SmallServer.make(inner, options))

/** An engine in a scope of its own, which the caller closes, or not, as a kill does. */
const connect = Effect.fnUntraced(function* (server: SmallServer.SmallServer, notes?: ModelNotes.ModelNotes) {
  const { tokenizer } = yield* TabularEngine.make
  const scope = yield* Scope.make()
  const engine = yield* TinkerEngine.layer({
    url: "http://small.test",
    tokenizer,
    contextLength: 160,
    profile: "skyrl-jax",
    encoding: "json",
    notes
  }).pipe(
    Layer.build,
    Scope.provide(scope),
    Effect.provideService(HttpClient.HttpClient, server.client),
    Effect.flatMap((context) => Effect.provideContext(Engine, context))
  )
  return { engine, close: (exit: Exit.Exit<void>) => Scope.close(scope, exit) }
})

/** Notes that outlive an engine, as those in a journal do. */
const notebook = () => {
  const held = new Set<string>()
  const notes: ModelNotes.ModelNotes = {
    held: Effect.sync(() => [...held]),
    took: (id) => Effect.sync(() => held.add(id)),
    gaveBack: (id) => Effect.sync(() => held.delete(id))
  }
  return { held, notes }
}

const operations = {
  sample: (engine: Engine.Interface) =>
    engine.sample([{ prompt: [1, 2], n: 1, stop: [], maxTokens: 4, temperature: 1, topP: 1, seed: "room" }]),
  train: (engine: Engine.Interface) =>
    engine.train({
      key: "0",
      datums: [{ prompt: [1, 2], response: [3], logprobs: [-3], advantages: [1], weights: [1] }],
      loss: { clipRatio: 0.2, klCoefficient: 0 },
      optimizer: { learningRate: 0.1, beta1: 0.9, beta2: 0.999, weightDecay: 0, gradientClip: 1 }
    }),
  reference: (engine: Engine.Interface) => engine.score("reference", [{ prompt: [1, 2], response: [3, 4] }]),
  restore: (engine: Engine.Interface) => Effect.flatMap(engine.save("room"), engine.restore)
}

const ends = { well: Exit.void, "with a bug": Exit.die("a bug"), interrupted: Exit.interrupt(1) }

const Session = Schema.Struct({
  does: Schema.Array(Schema.Literals(["sample", "train", "reference", "restore"])).check(Schema.isMaxLength(5)),
  ends: Schema.Literals(["well", "with a bug", "interrupted"])
})

describe("the room on a server", () => {
  it.live.prop(
    "for one model is enough, and is there again at the end, however a session goes and ends",
    [Schema.NonEmptyArray(Session).check(Schema.isMaxLength(3))],
    ([sessions]) =>
      Effect.gen(function* () {
        const server = yield* small({ room: 1 })
        const { held, notes } = notebook()
        for (const session of sessions) {
          const { close, engine } = yield* connect(server, notes)
          for (const name of session.does) yield* operations[name](engine)
          assert.deepStrictEqual([...held], [...server.held()], "what is noted is what is held")
          yield* close(ends[session.ends])
          assert.strictEqual(server.held().size, 0)
          assert.strictEqual(held.size, 0)
        }
        assert.strictEqual(server.most(), 1)
      }).pipe(Effect.provide(served)),
    { arbitrary: { runs: 15 } }
  )

  it.live("that a killed client held is given back by the next, from its notes, without a wait", () =>
    Effect.gen(function* () {
      const server = yield* small({ room: 1 })
      const { held, notes } = notebook()
      const killed = yield* connect(server, notes)
      const saved = yield* killed.engine.save("kept")
      const { close, engine } = yield* connect(server, notes)
      yield* engine.restore(saved)
      yield* operations.sample(engine)
      assert.strictEqual(server.held().size, 1)
      yield* close(Exit.void)
      assert.strictEqual(held.size + server.held().size, 0)
    }).pipe(Effect.provide(served))
  )

  it.effect("that nobody gives back is waited for, and the log says so", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const logger = Logger.make<unknown, void>(({ message }) => {
        said.push(String(message))
      })
      const server = yield* small({ room: 1, freedAfter: 330_000 })
      yield* connect(server)
      const next = yield* Effect.forkChild(Effect.provide(connect(server), Logger.layer([logger])))
      for (let second = 0; second < 320; second++) yield* TestClock.adjust("1 second")
      assert.isUndefined(next.pollUnsafe())
      for (let second = 0; second < 60; second++) yield* TestClock.adjust("1 second")
      yield* operations.sample((yield* Fiber.join(next)).engine)
      assert.match(said[0] ?? "", /waiting for http:\/\/small\.test: create_model: Maximum number of LoRA adapters/u)
      assert.isBelow(said.length, 10)
    }).pipe(Effect.provide(served))
  )

  it.effect("that never comes ends in an error that says what the server said", () =>
    Effect.gen(function* () {
      const server = yield* small({ room: 0 })
      const next = yield* Effect.forkChild(Effect.flip(connect(server)))
      for (let second = 0; second < 500; second++) yield* TestClock.adjust("1 second")
      assert.match(
        (yield* Fiber.join(next)).message,
        /engine start: .*create_model: .*Maximum number of LoRA adapters/u
      )
    }).pipe(Effect.provide(served))
  )
})
