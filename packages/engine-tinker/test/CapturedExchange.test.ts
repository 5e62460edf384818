import { assert, describe, it } from "@effect/vitest"
import { Engine } from "@inspo/engine"
import { TabularEngine } from "@inspo/engine/testing"
import { Wire } from "@inspo/engine-tinker"
import * as TinkerEngine from "@inspo/engine-tinker"
import { Effect, Layer, Ref, Schema } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import * as InMemory from "./support/InMemory.ts"

type Body = { readonly [key: string]: Schema.Json }

const decodeBody = Schema.decodeUnknownEffect(Schema.Record(Schema.String, Schema.Json))

/** What a real SkyRL server answered, with all the fields that no schema of ours knows. */
const replies: ReadonlyArray<readonly [schema: Schema.Decoder<unknown>, reply: Body]> = [
  [
    Wire.CreateSessionResponse,
    {
      type: "create_session",
      info_message: null,
      warning_message: null,
      error_message: null,
      session_id: "session_9d237d44"
    }
  ],
  [
    Wire.Future,
    {
      model_id: "model_f58fe234",
      base_model: "tiny-qwen3",
      lora_config: { rank: 8, seed: 7 },
      status: "created",
      request_id: "1"
    }
  ],
  [
    Wire.ModelIdResponse,
    {
      model_id: "model_f58fe234",
      base_model: "tiny-qwen3",
      lora_config: { rank: 8, alpha: 32, seed: 7, train_attn: true, train_mlp: true, train_unembed: false }
    }
  ],
  [Wire.Future, { future_id: "2", status: "pending", request_id: "2" }],
  [
    Schema.Struct({ path: Schema.NullOr(Schema.String), sampling_session_id: Schema.String }),
    { path: null, type: "save_weights_for_sampler", sampling_session_id: "sampling_8ee43d51" }
  ],
  [
    Wire.SampleResponse,
    {
      sequences: [{ stop_reason: "length", tokens: [196, 97, 182], logprobs: [-5.5183, -5.7042, -5.6] }],
      prompt_logprobs: null,
      topk_prompt_logprobs: null
    }
  ],
  [
    Wire.ForwardBackwardOutput,
    {
      loss_fn_output_type: "scalar",
      loss_fn_outputs: [
        {
          elementwise_loss: { data: [0, 1], dtype: "float32", shape: [2] },
          logprobs: { data: [-5.5, -5.7], dtype: "float32", shape: [2] }
        }
      ],
      metrics: {}
    }
  ],
  [Wire.OptimStepResponse, { metrics: { "skyrl.ai/grad_norm": 2.3939, "skyrl.ai/learning_rate": 0.001 } }],
  [Wire.Detail, { detail: "Training request sequence number was reused" }]
]

/** Refuses keys that a schema does not know. */
const decodeStrictly = (schema: Schema.Decoder<unknown>) =>
  Schema.decodeUnknownEffect(schema, { onExcessProperty: "error" })

const tokens = (list: ReadonlyArray<number>) => ({ chunks: [{ type: "encoded_text", tokens: list }] })
const tensor = (data: ReadonlyArray<number>, dtype: "int64" | "float32") => ({ data, dtype, shape: [data.length] })

/** The captured requests in their order; ids are those of the server at hand. */
const exchange = Effect.gen(function* () {
  const client = yield* HttpClient.HttpClient
  const post = Effect.fnUntraced(function* (path: string, body: Body) {
    const request = HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(`http://inspo.test/api/v1/${path}`), body)
    const response = yield* client.execute(request)
    return { status: response.status, body: yield* Effect.flatMap(response.json, decodeBody) }
  })
  const result = Effect.fnUntraced(function* (path: string, body: Body) {
    const future = yield* post(path, body)
    assert.strictEqual(future.status, 200, JSON.stringify(future.body))
    const { body: value } = yield* post("retrieve_future", { request_id: future.body["request_id"] ?? null })
    return { requestId: future.body["request_id"], value }
  })
  return { post, result }
})

describe("the captured exchange", () => {
  it("is read whatever else its replies hold", () => {
    for (const [schema, reply] of replies) Schema.decodeSync(schema)(reply)
  })

  it.layer(InMemory.layer().pipe(Layer.provide(Layer.effect(Engine, TabularEngine.make))), {
    excludeTestServices: true
  })("server", (it) => {
    it.effect("answers its requests as the captured server did", () =>
      Effect.gen(function* () {
        const { post, result } = yield* exchange
        const { body: session } = yield* post("create_session", {
          type: "create_session",
          tags: ["inspo"],
          user_metadata: { run: "r1" },
          sdk_version: "inspo-ts/0.1"
        })
        const { value: model } = yield* result("create_model", {
          type: "create_model",
          session_id: session["session_id"] ?? null,
          model_seq_id: 0,
          base_model: "inspo-tiny",
          lora_config: { rank: 8, seed: 7, train_unembed: true, train_mlp: true, train_attn: true }
        })
        const model_id = model["model_id"] ?? null
        const { body: info } = yield* post("get_info", { model_id })
        assert.strictEqual(info["lora_rank"], 8)

        const { value: sampler } = yield* result("save_weights_for_sampler", {
          type: "save_weights_for_sampler",
          model_id,
          seq_id: 1,
          sampling_session_seq_id: 0
        })
        assert.deepInclude(sampler, { path: null, type: "save_weights_for_sampler" })

        const { value: samples } = yield* result("asample", {
          type: "sample",
          sampling_session_id: sampler["sampling_session_id"] ?? null,
          seq_id: 0,
          num_samples: 4,
          prompt: tokens([14, 11, 18, 18, 21]),
          sampling_params: { max_tokens: 8, temperature: 1, top_k: -1, top_p: 1, seed: 11, stop: [2] },
          prompt_logprobs: false,
          topk_prompt_logprobs: 0
        })
        const { sequences } = yield* Schema.decodeUnknownEffect(Wire.SampleResponse)(samples)
        assert.lengthOf(sequences, 4)

        const [sequence] = sequences
        if (sequence === undefined) return assert.fail("no sequence")
        const full = [14, 11, 18, 18, 21, ...sequence.tokens]
        const padded = (values: ReadonlyArray<number>) => tensor([0, 0, 0, 0, ...values], "float32")
        const gradient = {
          model_id,
          seq_id: 2,
          forward_backward_input: {
            data: [
              {
                model_input: tokens(full.slice(0, -1)),
                loss_fn_inputs: {
                  target_tokens: tensor(full.slice(1), "int64"),
                  logprobs: padded(sequence.logprobs ?? []),
                  advantages: padded(sequence.tokens.map(() => 1)),
                  weights: padded(sequence.tokens.map(() => 1))
                }
              }
            ],
            loss_fn: "importance_sampling"
          }
        }
        const { value: losses } = yield* result("forward_backward", gradient)
        const output = yield* Schema.decodeUnknownEffect(Wire.ForwardBackwardOutput)(losses)
        assert.strictEqual(output.loss_fn_output_type, "scalar")
        assert.lengthOf(output.loss_fn_outputs[0]?.["logprobs"]?.data ?? [], full.length - 1)

        const step = {
          type: "optim_step",
          model_id,
          seq_id: 3,
          adam_params: { learning_rate: 0.001, beta1: 0.9, beta2: 0.95, eps: 1e-8, weight_decay: 0, grad_clip_norm: 1 }
        }
        const stepped = yield* result("optim_step", step)
        assert.property(stepped.value["metrics"], "inspo.ai/gradient_norm")
        assert.strictEqual((yield* result("optim_step", step)).requestId, stepped.requestId)
        const reused = yield* post("optim_step", { ...step, adam_params: { learning_rate: 1 } })
        assert.deepStrictEqual(reused, {
          status: 409,
          body: { detail: "Training request sequence number was reused" }
        })
        const unknown = yield* post("retrieve_future", { request_id: "none" })
        assert.deepStrictEqual(unknown, { status: 404, body: { detail: "Future not found" } })
      })
    )

    it.effect("refuses what it cannot do, naming the field", () =>
      Effect.gen(function* () {
        const { post } = yield* exchange
        const { body: session } = yield* post("create_session", { tags: [], sdk_version: "test" })
        const refusals: ReadonlyArray<readonly [path: string, body: Body, status: number, detail: RegExp]> = [
          ["create_session", { tags: "none" }, 400, /tags is \\"none\\", expected array/u],
          ["session_heartbeat", { session_id: "gone" }, 404, /Session gone not found/u],
          [
            "create_model",
            { session_id: session["session_id"] ?? null, model_seq_id: 0, base_model: "other" },
            400,
            /base_model is other, expected inspo-tiny/u
          ],
          [
            "asample",
            { base_model: "inspo-tiny", prompt: tokens([1]), sampling_params: { top_k: 5 } },
            400,
            /top_k is 5, expected -1: this engine has no top-k/u
          ],
          ["asample", { prompt: tokens([1]), sampling_params: {} }, 400, /base_model is given, expected one/u]
        ]
        for (const [path, body, status, detail] of refusals) {
          const refused = yield* post(path, body)
          assert.strictEqual(refused.status, status, path)
          assert.match(JSON.stringify(refused.body["detail"]), detail)
        }
      })
    )
  })
})

const bodies: Readonly<Record<string, Schema.Decoder<unknown>>> = {
  "client/config": Wire.ClientConfigRequest,
  create_session: Wire.CreateSessionRequest,
  session_heartbeat: Wire.HeartbeatRequest,
  create_model: Wire.CreateModelRequest,
  save_weights_for_sampler: Wire.SaveWeightsForSamplerRequest,
  create_sampling_session: Wire.CreateSamplingSessionRequest,
  asample: Wire.SampleRequest,
  retrieve_future: Wire.RetrieveFutureRequest,
  forward: Wire.ForwardRequest,
  forward_backward: Wire.ForwardBackwardRequest,
  optim_step: Wire.OptimStepRequest,
  save_weights: Wire.SaveWeightsRequest,
  load_weights: Wire.LoadWeightsRequest,
  unload_model: Wire.ModelRequest
}

describe("TinkerEngine", () => {
  for (const profile of ["inspo", "tinker", "verl"] as const) {
    it.live(`sends no field that the protocol does not know, as ${profile}`, () =>
      Effect.gen(function* () {
        const tabular = yield* TabularEngine.make
        const inner = yield* HttpClient.HttpClient
        const seen = yield* Ref.make(new Set<string>())
        const strict = HttpClient.make((request) =>
          Effect.gen(function* () {
            const path = request.url.replace("http://inspo.test/api/v1/", "")
            yield* Ref.update(seen, (paths) => new Set([...paths, path]))
            if (request.body._tag === "Uint8Array") {
              const body: unknown = JSON.parse(new TextDecoder().decode(request.body.body))
              const schema = bodies[path]
              assert.isDefined(schema, path)
              if (schema !== undefined) yield* Effect.orDie(decodeStrictly(schema)(body))
            }
            return yield* inner.execute(request)
          })
        )
        yield* Effect.gen(function* () {
          const engine = yield* Engine
          const prompt = [1, 2, 3]
          const [sampled] = yield* engine.sample([
            { prompt, n: 1, stop: ["a"], maxTokens: 4, temperature: 1, topP: 1, seed: "s" }
          ])
          const { logprobs = [], tokens = [] } = sampled?.sequences[0] ?? {}
          const sequence = { prompt, response: tokens }
          yield* engine.train({
            key: "0",
            datums: [{ ...sequence, logprobs, advantages: tokens.map(() => 1), weights: tokens.map(() => 1) }],
            loss: { clipRatio: 0.2, klCoefficient: 0 },
            optimizer: { learningRate: 0.01, beta1: 0.9, beta2: 0.999, weightDecay: 0, gradientClip: 1 }
          })
          yield* engine.score("current", [sequence])
          if (engine.profile.scoresReference === true) yield* engine.score("reference", [sequence])
          yield* engine.restore(yield* engine.save("strict"))
        }).pipe(
          Effect.provide(
            TinkerEngine.layer({
              url: "http://inspo.test",
              tokenizer: tabular.tokenizer,
              profile,
              encoding: "json"
            }).pipe(Layer.provide(Layer.succeed(HttpClient.HttpClient)(strict)))
          )
        )
        for (const path of ["asample", "forward_backward", "optim_step", "save_weights", "load_weights"])
          assert.include([...(yield* Ref.get(seen))], path)
      }).pipe(Effect.provide(InMemory.layer().pipe(Layer.provide(Layer.effect(Engine, TabularEngine.make)))))
    )
  }
})
