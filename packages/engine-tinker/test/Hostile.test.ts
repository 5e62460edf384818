import { Protobuf } from "@inspo/engine-tinker"
import { promisify } from "node:util"
import { zstdCompress } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { Engine } from "@inspo/engine"
import { TabularEngine } from "@inspo/engine/testing"
import { Deferred, Effect, Layer, Ref, Schema } from "effect"
import * as Listening from "./support/Listening.ts"

const tabular = Layer.effect(Engine, TabularEngine.make)

const tokens = (list: ReadonlyArray<number>) => ({ chunks: [{ type: "encoded_text", tokens: list }] })

const sample = { base_model: "inspo-tiny", prompt: tokens([1, 2]), sampling_params: { max_tokens: 4 } }

const protobuf = (length: number) =>
  Protobuf.encodeForwardBackward({
    modelId: "m",
    seqId: 1,
    forwardOnly: true,
    input: {
      loss_fn: "cross_entropy",
      data: [
        {
          model_input: { chunks: [{ type: "encoded_text", tokens: Array.from({ length }, () => 0) }] },
          loss_fn_inputs: {}
        }
      ]
    }
  })

const session = { tags: [], sdk_version: "test" }

/** A session with a model. */
const open = Effect.fnUntraced(function* (ask: Effect.Success<ReturnType<typeof Listening.start>>) {
  const { body } = yield* ask("create_session", session)
  const made = yield* ask("create_model", {
    session_id: body["session_id"],
    model_seq_id: 0,
    base_model: "inspo-tiny"
  })
  yield* ask("retrieve_future", { request_id: made.body["request_id"] })
  return { session_id: body["session_id"], model_id: made.body["model_id"] ?? `${String(body["session_id"])}:train:0` }
})

describe("what a hostile client sends", () => {
  it.live("is refused, saying how much is allowed, and the server answers on", () =>
    Effect.gen(function* () {
      const ask = yield* Listening.start({ limits: { bodyBytes: 100_000, datums: 2, tokens: 1000 } })
      const { model_id } = yield* open(ask)
      const bomb = yield* Effect.promise(() => promisify(zstdCompress)(Buffer.alloc(64 * 2 ** 20)))
      const asProtobuf = { "content-type": Protobuf.contentType }
      // Empty datums, of two bytes each.
      const many = new Uint8Array(90_000 + 2 * 600_000).map((_, at) => (at % 2 === 0 ? 0x1a : 0))
      const roomy = yield* Listening.start()
      const rows: ReadonlyArray<readonly [answer: Listening.Answer, status: number, detail: RegExp]> = [
        [
          yield* ask("asample", { ...sample, num_samples: 1_000_000 }),
          400,
          /num_samples is of 1000000 samples, expected at most 256/u
        ],
        [yield* ask("asample", { ...sample, num_samples: 250 }), 400, /is of 1002 tokens, expected at most 1000/u],
        [yield* ask("asample", { ...sample, num_samples: 0 }), 400, /num_samples is 0, expected/u],
        [
          yield* ask("asample", { ...sample, prompt: tokens([1e9]) }),
          400,
          /prompt holds 1000000000, expected tokens of 0 to/u
        ],
        [
          yield* ask("asample", { ...sample, prompt: tokens(Array.from({ length: 500 }, () => 1)) }),
          400,
          /prompt holds 500 tokens/u
        ],
        [yield* ask("create_session", { ...session, tags: ["x".repeat(200_000)] }), 413, /larger than 100000 bytes/u],
        [
          yield* ask("forward_backward", bomb, { ...asProtobuf, "content-encoding": "zstd" }),
          413,
          /also when decompressed/u
        ],
        [
          yield* ask("forward_backward", new Uint8Array(100).fill(7), { ...asProtobuf, "content-encoding": "zstd" }),
          400,
          /not zstd/u
        ],
        [
          yield* ask("forward_backward", protobuf(10), { ...asProtobuf, "content-encoding": "gzip" }),
          415,
          /is gzip, expected zstd or none/u
        ],
        [yield* ask("forward_backward", protobuf(100_000), asProtobuf), 413, /larger than/u],
        [yield* roomy("forward_backward", many, asProtobuf), 400, /more than \d+ elements/u],
        [
          yield* ask("save_weights", { model_id, seq_id: 1, path: "x".repeat(300) }),
          400,
          /path is \\?"x{120}…\\?", expected 1 to 100 letters/u
        ],
        [yield* ask("weights_info", { tinker_path: `tinker://${"x".repeat(5000)}` }), 404, /not found/u]
      ]
      for (const [{ body, status }, expected, detail] of rows) {
        assert.strictEqual(status, expected, JSON.stringify(body))
        assert.match(JSON.stringify(body), detail)
        assert.notMatch(JSON.stringify(body), /\/(?:tmp|home|root|work)\//u)
      }
      for (const path of [
        "samplers/%E0%A4%A",
        "samplers/%25E0",
        "x".repeat(5000),
        `samplers/${"x".repeat(5000)}`,
        `training_runs/${"x".repeat(5000)}`
      ])
        assert.include([404, 414], (yield* ask(path)).status, path.slice(0, 20))
      assert.deepStrictEqual((yield* ask("healthz")).body, { status: "ok" })
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )

  it.live("is put off with 429 and Retry-After where it helps to wait", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const gate = yield* Deferred.make<void>()
      const slow = Engine.of({
        ...engine,
        sample: (requests) => Effect.andThen(Deferred.await(gate), engine.sample(requests))
      })
      const ask = yield* Effect.provideService(
        Listening.start({ limits: { openRequests: 3, sessions: 2, models: 1 } }),
        Engine,
        slow
      )
      const { session_id } = yield* open(ask)
      const waiting = [yield* ask("asample", sample), yield* ask("asample", sample), yield* ask("asample", sample)]
      const put = [
        yield* ask("asample", sample),
        yield* ask("create_model", { session_id, model_seq_id: 1, base_model: "inspo-tiny" }),
        ...[yield* ask("create_session", session), yield* ask("create_session", session)].slice(1)
      ]
      for (const { body, headers, status } of put) {
        assert.strictEqual(status, 429, JSON.stringify(body))
        assert.strictEqual(headers.get("retry-after"), "1")
        assert.match(String(body["detail"]), /expected fewer than \d/u)
      }
      yield* Deferred.succeed(gate, undefined)
      for (const { body } of waiting) {
        const { body: done } = yield* ask("retrieve_future", { request_id: body["request_id"] })
        assert.property(done, "sequences")
      }
      assert.strictEqual((yield* ask("asample", sample)).status, 200)
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )

  it.live("is not worked on once its session has ended, or it was cancelled", () =>
    Effect.gen(function* () {
      const engine = yield* Engine
      const [gate, sampled] = [yield* Deferred.make<void>(), yield* Ref.make(0)]
      const counting = Engine.of({
        ...engine,
        sample: (requests) =>
          Ref.update(sampled, (count) => count + requests.length).pipe(
            Effect.andThen(Deferred.await(gate)),
            Effect.andThen(engine.sample(requests))
          )
      })
      const ask = yield* Effect.provideService(Listening.start(), Engine, counting)
      const { body: first } = yield* ask("asample", sample)
      while ((yield* Ref.get(sampled)) === 0) yield* Effect.sleep("5 millis")
      const { session_id } = yield* open(ask)
      const { body: sampler } = yield* ask("create_sampling_session", {
        session_id,
        sampling_session_seq_id: 0,
        base_model: "inspo-tiny"
      })
      const { prompt, sampling_params } = sample
      const own = { prompt, sampling_params, sampling_session_id: sampler["sampling_session_id"] }
      const lost = [
        yield* ask("asample", { ...own, seq_id: 0 }),
        yield* ask("asample", { ...own, seq_id: 1 }),
        yield* ask("asample", sample)
      ]
      yield* ask("cancel_future", { request_id: lost[2]?.body["request_id"] })
      assert.strictEqual((yield* ask(`sessions/${String(session_id)}/finish`, {})).status, 200)
      yield* Deferred.succeed(gate, undefined)
      assert.property((yield* ask("retrieve_future", { request_id: first["request_id"] })).body, "sequences")
      for (const { body } of lost)
        assert.strictEqual((yield* ask("retrieve_future", { request_id: body["request_id"] })).status, 410)
      assert.strictEqual((yield* ask("asample", { ...own, seq_id: 2 })).status, 404)
      const { body: last } = yield* ask("asample", sample)
      yield* ask("retrieve_future", { request_id: last["request_id"] })
      assert.strictEqual(yield* Ref.get(sampled), 2)
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )
})

describe("a request that is refused", () => {
  const data = [
    {
      model_input: tokens([1, 2, 3]),
      loss_fn_inputs: {
        target_tokens: { data: [2, 3, 4], dtype: "int64", shape: [3] },
        weights: { data: [1, 1, 1], dtype: "float32", shape: [3] }
      }
    }
  ]
  const input = { loss_fn: "cross_entropy", data }

  it.live("does not hold up the next one of its model", () =>
    Effect.gen(function* () {
      const ask = yield* Listening.start({ gapPatience: "1 hour" })
      const { model_id } = yield* open(ask)
      const refused = [
        yield* ask("save_weights_external", { model_id, seq_id: 1, path: "s3://bucket" }),
        yield* ask("forward", { model_id, seq_id: 2, forward_input: {} }),
        yield* ask("forward_backward", { model_id, seq_id: 3, forward_backward_input: 7 })
      ]
      for (const { body, status } of refused) assert.strictEqual(status, 400, JSON.stringify(body))
      assert.match(String(refused[0]?.body["detail"]), /save_weights_external is not supported.*use save_weights/u)
      const { body } = yield* ask("forward", { model_id, seq_id: 4, forward_input: input })
      const done = yield* ask("retrieve_future", { request_id: body["request_id"] })
      assert.property(done.body, "loss_fn_outputs", JSON.stringify(done.body))
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )

  it.live("names the route where it asks for one that is not there", () =>
    Effect.gen(function* () {
      const ask = yield* Listening.start()
      const published = yield* ask("training_runs/m/checkpoints/weights/a/publish", {})
      assert.strictEqual(published.status, 400)
      assert.match(String(published.body["detail"]), /publish is not supported/u)
      const unknown = yield* ask("sorcery", {})
      assert.strictEqual(unknown.status, 404)
      assert.match(String(unknown.body["detail"]), /POST \/api\/v1\/sorcery/u)
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )

  it.live("not, an optimizer step reports the loss that was asked for", () =>
    Effect.gen(function* () {
      const ask = yield* Listening.start()
      const { model_id } = yield* open(ask)
      const result = Effect.fnUntraced(function* (path: string, body: object) {
        const { body: begun } = yield* ask(path, body)
        return (yield* ask("retrieve_future", { request_id: begun["request_id"] })).body["metrics"]
      })
      const of = Schema.decodeUnknownSync(Schema.Record(Schema.String, Schema.Finite))
      const forward = of(yield* result("forward", { model_id, seq_id: 1, forward_input: input }))
      yield* result("forward_backward", { model_id, seq_id: 2, forward_backward_input: input })
      const step = of(yield* result("optim_step", { model_id, seq_id: 3, adam_params: { learning_rate: 0.01 } }))
      assert.isAbove(forward["loss:sum"] ?? NaN, 0)
      assert.approximately(step["inspo.ai/loss"] ?? NaN, forward["loss:sum"] ?? NaN, 1e-4)
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )
})

describe("a sampler that another process works with", () => {
  it.live("has its requests told apart, though doubles cannot, and a repeated one known again", () =>
    Effect.gen(function* () {
      const ask = yield* Listening.start()
      const { session_id } = yield* open(ask)
      const { body } = yield* ask("create_sampling_session", {
        session_id,
        sampling_session_seq_id: 0,
        base_model: "inspo-tiny"
      })
      const request = (sequence: string) => {
        const text = JSON.stringify({ ...sample, sampling_session_id: body["sampling_session_id"], seq_id: 0 })
        return ask("asample", Buffer.from(text.replace('"seq_id":0', `"seq_id":${sequence}`)), {
          "content-type": "application/json"
        })
      }
      const answers = yield* Effect.forEach(
        ["616817451000000000", "616817451000000001", "616817451000000000"],
        (sequence) => request(sequence)
      )
      assert.deepStrictEqual(
        answers.map(({ status }) => status),
        [200, 200, 200]
      )
      const [first, second, again] = answers.map(({ body }) => body["request_id"])
      assert.notStrictEqual(second, first)
      assert.strictEqual(again, first)
    }).pipe(Effect.scoped, Effect.provide(tabular))
  )
})

const bodies: Readonly<Record<string, object>> = {
  "client/config": { sdk_version: "test" },
  create_session: session,
  session_heartbeat: { session_id: "s" },
  create_model: { session_id: "s", model_seq_id: 0, base_model: "inspo-tiny", lora_config: { rank: 8 } },
  unload_model: { model_id: "m" },
  get_info: { model_id: "m" },
  weights_info: { tinker_path: "p" },
  asample: sample,
  forward: {
    model_id: "m",
    forward_input: { data: [{ model_input: tokens([1]), loss_fn_inputs: {} }], loss_fn: "ppo" }
  },
  optim_step: { model_id: "m", adam_params: { learning_rate: 1 } },
  save_weights: { model_id: "m" },
  load_weights: { model_id: "m", path: "p" },
  save_weights_for_sampler: { model_id: "m" },
  create_sampling_session: { session_id: "s", sampling_session_seq_id: 0 },
  retrieve_future: { request_id: "r" },
  cancel_future: { request_id: "r" }
}

/** Every object within a body, by the way to it. */
const objectsOf = (value: unknown, way: ReadonlyArray<string> = []): ReadonlyArray<ReadonlyArray<string>> =>
  typeof value !== "object" || value === null
    ? []
    : [
        ...(Array.isArray(value) ? [] : [way]),
        ...Object.entries(value).flatMap(([key, inner]) => objectsOf(inner, [...way, key]))
      ]

const places = Object.entries(bodies).flatMap(([path, body]) =>
  objectsOf(body)
    // Names of tensors and settings are for the loss to know.
    .filter((way) => !way.includes("loss_fn_inputs"))
    .map((way) => ({ path, way }))
)

const withKey = (value: unknown, way: ReadonlyArray<string>, key: string, extra: unknown): unknown => {
  const [head, ...rest] = way
  if (typeof value !== "object" || value === null) return value
  if (head === undefined) return { ...value, [key]: extra }
  return Array.isArray(value)
    ? value.map((inner, at) => (String(at) === head ? withKey(inner, rest, key, extra) : inner))
    : Object.fromEntries(
        Object.entries(value).map(([name, inner]) => [name, name === head ? withKey(inner, rest, key, extra) : inner])
      )
}

describe("a field that is not known", () => {
  it.layer(tabular)("", (it) => {
    it.effect.prop(
      "is refused anywhere, by its name and value",
      [
        Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: places.length - 1 })),
        Schema.Literals(["min_p", "topk", "logit_bias"]),
        Schema.Literals([5, "five", true])
      ],
      ([at, key, value]) =>
        Effect.gen(function* () {
          const place = places[at]
          if (place === undefined) return assert.fail("no place")
          const ask = yield* Listening.start()
          const body = withKey(bodies[place.path], place.way, key, value)
          const answer = yield* ask(place.path, body as object)
          assert.strictEqual(answer.status, 400, JSON.stringify(body))
          assert.include(String(answer.body["detail"]), [...place.way, key].join("."))
          assert.include(String(answer.body["detail"]), ` is ${JSON.stringify(value)}, expected no such field`)
        }).pipe(Effect.scoped),
      { arbitrary: { runs: 60 } }
    )
  })
})
