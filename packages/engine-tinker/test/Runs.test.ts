import { assert, describe, it } from "@effect/vitest"
import { Engine, EngineError } from "@inspo/engine"
import { TabularEngine } from "@inspo/engine/testing"
import { Wire } from "@inspo/engine-tinker"
import { TinkerServer } from "@inspo/engine-tinker/server"
import { Effect, Layer, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as InMemory from "./support/InMemory.ts"
import * as Watched from "./support/Watched.ts"

const tabular = Layer.effect(Engine, TabularEngine.make)
const server = InMemory.layer({ tokenizer: "folder" }).pipe(Layer.provideMerge(tabular))

/** The result of a request, which is there at once. */
const result = <E>(request: Effect.Effect<string, E>) =>
  Effect.gen(function* () {
    const { retrieve } = yield* TinkerServer
    const outcome = yield* Effect.flatMap(request, (id) => retrieve(id, "1 second"))
    return Option.getOrThrow(outcome).value
  })

const open = Effect.gen(function* () {
  const { createModel, createSession } = yield* TinkerServer
  const { session_id } = yield* createSession
  const model = { session_id, model_seq_id: 0, base_model: "inspo-tiny", lora_config: { rank: 8 } }
  yield* result(createModel(model, "digest"))
  return { session_id, model_id: `${session_id}:train:0` }
})

const ints = (data: ReadonlyArray<number>) => ({ data, dtype: "int64" as const })
const floats = (data: ReadonlyArray<number>) => ({ data, dtype: "float32" as const })

const data = [
  {
    model_input: { chunks: [{ type: "encoded_text" as const, tokens: [1, 2] }] },
    loss_fn_inputs: { target_tokens: ints([2, 3]), weights: floats([0, 1]) }
  }
]

const Token = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 26 }))
const Position = Schema.Struct({ token: Token, weight: Schema.Literals([0, 0, 1, -0.5]), stray: Token })

describe("forward", () => {
  it.layer(server)("", (it) => {
    it.effect.prop(
      "gives the log-probability of the target at every position, whatever its weight and the token that follows",
      [Schema.NonEmptyArray(Position).check(Schema.isMaxLength(8)), Schema.Boolean],
      ([positions, strays]) =>
        Effect.gen(function* () {
          const { finishSession, forward } = yield* TinkerServer
          const engine = yield* Engine
          const { model_id, session_id } = yield* open
          const input = positions.map(({ token }) => token)
          const targets = positions.map(({ stray, token, weight }, at) =>
            strays && weight === 0 ? stray : (input[at + 1] ?? token)
          )
          const data = [
            {
              model_input: { chunks: [{ type: "encoded_text" as const, tokens: input }] },
              loss_fn_inputs: { target_tokens: ints(targets), weights: floats(positions.map(({ weight }) => weight)) }
            }
          ]
          const value = yield* result(
            forward({ model_id, forward_input: { data, loss_fn: "cross_entropy" } }, "digest")
          )
          const { loss_fn_outputs } = yield* Schema.decodeUnknownEffect(Wire.ForwardBackwardOutput)(value)
          const expected = yield* engine.score(
            "current",
            targets.map((target, at) => ({ prompt: input.slice(0, at + 1), response: [target] }))
          )
          assert.deepStrictEqual(loss_fn_outputs[0]?.["logprobs"]?.data, expected.flat())
          yield* finishSession(session_id)
        })
    )
  })
})

describe("a step", () => {
  it.effect("is not made from a part of its gradients, or from more than there is room for", () =>
    watching({ limits: { datums: 2, pendingTokens: 5 } }, ({ updates }) =>
      Effect.gen(function* () {
        const { forwardBackward, optimStep, retrieve } = yield* TinkerServer
        const { model_id } = yield* open
        const gradient = (input: Partial<Wire.LossInput> = {}) =>
          result(
            forwardBackward({ model_id, forward_backward_input: { data, loss_fn: "cross_entropy", ...input } }, "")
          )
        const step = Effect.flatMap(optimStep({ model_id, adam_params: {} }, ""), (id) => retrieve(id, "1 second"))

        for (const [input, detail] of [
          [{ loss_fn_config: { delta: 1 } }, /loss_fn_config\.delta is 1/u],
          [{ data: [...data, ...data, ...data] }, /data is of 3 datums, expected at most 2/u],
          [{ data: [...data, ...data] }, /tokens, expected at most 5/u]
        ] as const) {
          yield* gradient()
          assert.match((yield* Effect.flip(gradient(input))).message, detail)
          const refused = yield* Effect.flip(step)
          assert.match(refused.detail, /no step was made, since a gradient of it failed/u)
          assert.match(refused.detail, detail)
        }
        assert.lengthOf(updates, 0)
        yield* gradient()
        yield* step
        assert.deepStrictEqual(
          updates.map(({ datums }) => datums),
          [1]
        )
      })
    )
  )

  it.effect("that cannot be made for a file of the server tells nothing of it", () =>
    watching({}, ({ breakFiles }) =>
      Effect.gen(function* () {
        const { forwardBackward, optimStep, retrieve } = yield* TinkerServer
        const [first, second] = [yield* open, yield* open]
        const gradient = (model_id: string) =>
          result(forwardBackward({ model_id, forward_backward_input: { data, loss_fn: "cross_entropy" } }, ""))
        const step = (model_id: string) =>
          Effect.flatMap(optimStep({ model_id, adam_params: {} }, ""), (id) => retrieve(id, "1 second"))
        for (const { model_id } of [first, second]) yield* Effect.andThen(gradient(model_id), step(model_id))
        breakFiles()
        const failed = yield* Effect.flip(gradient(first.model_id))
        const refused = yield* Effect.flip(step(first.model_id))
        assert.match(refused.detail, /no step was made/u)
        for (const { message } of [failed, refused]) assert.notInclude(message, secret)
      })
    )
  )
})

/** Runs over a server of an engine whose updates are watched, and whose files can be broken. */
const watching = <A, E>(
  options: Parameters<typeof InMemory.layer>[0],
  test: (engine: {
    readonly updates: ReadonlyArray<Watched.Update>
    readonly breakFiles: () => void
  }) => Effect.Effect<A, E, TinkerServer>
) =>
  Effect.gen(function* () {
    let areBroken = false
    const { engine, updates } = Watched.make(yield* TabularEngine.make)
    const restore: Engine.Interface["restore"] = (...request) =>
      areBroken
        ? Effect.fail(new EngineError({ operation: "restore", reason: `${secret}/base.safetensors could not be read` }))
        : engine.restore(...request)
    const layer = InMemory.layer(options).pipe(Layer.provideMerge(Layer.succeed(Engine, { ...engine, restore })))
    const breakFiles = () => void (areBroken = true)
    return yield* test({ updates, breakFiles }).pipe(Effect.provide(layer))
  })

const secret = "/home/of/the/server"

describe("training runs", () => {
  it.effect("go on from a checkpoint in a model of their own, with the rank that was asked for", () =>
    Effect.gen(function* () {
      const { info, listings, loadWeights, saveWeights, sessionInfo, weightsInfo } = yield* TinkerServer
      const { model_id, session_id } = yield* open
      yield* result(saveWeights({ model_id, path: "final", user_metadata: { step: "3" } }, "digest"))
      const path = `tinker://${model_id}/weights/final`
      const rank = { is_lora: true, lora_rank: 8, train_unembed: true, train_mlp: true, train_attn: true }
      assert.deepStrictEqual(yield* weightsInfo({ tinker_path: path }), { base_model: "inspo-tiny", ...rank })

      const request = { session_id, model_seq_id: 1, path, optimizer: true }
      const next = `${session_id}:train:1`
      assert.deepInclude(yield* result(loadWeights(request, "digest")), { model_id: next, path })
      assert.deepInclude(yield* info({ model_id: next }), {
        ...rank,
        model_data: { arch: "bigram", model_name: "inspo-tiny", tokenizer_id: "folder" }
      })
      assert.deepStrictEqual((yield* sessionInfo(session_id)).training_run_ids, [model_id, next])

      const page = { limit: 20, offset: 0 }
      const { training_runs: runs } = yield* listings.trainingRuns(page)
      assert.sameMembers(
        runs.map(({ training_run_id }) => training_run_id),
        [model_id, next]
      )
      const checkpoint = { checkpoint_id: "weights/final", checkpoint_type: "training" as const, tinker_path: path }
      const { checkpoints } = yield* listings.checkpointsOf(model_id)
      assert.deepInclude(checkpoints[0], { ...checkpoint, user_metadata: { step: "3" } })
      assert.deepStrictEqual((yield* listings.checkpoints(page)).checkpoints, checkpoints)
      const run = yield* listings.trainingRun(model_id)
      assert.deepInclude(run, { lora_rank: 8, last_checkpoint: checkpoints[0] })
      assert.strictEqual((yield* Effect.flip(listings.trainingRun("gone"))).status, 404)
      assert.deepStrictEqual((yield* listings.trainingRuns({ limit: 1, offset: 2 })).cursor, {
        limit: 1,
        offset: 2,
        total_count: 2
      })
      for (const wrong of [{ path }, { path, session_id }, { ...request, model_id }])
        assert.match((yield* Effect.flip(loadWeights(wrong, "other"))).detail, /either model_id, or session_id with/u)
    }).pipe(Effect.provide(server))
  )

  it.effect("lose a checkpoint when its time is over", () =>
    Effect.gen(function* () {
      const { heartbeat, listings, saveWeights, weightsInfo } = yield* TinkerServer
      const { model_id, session_id } = yield* open
      yield* result(saveWeights({ model_id, path: "brief", ttl_seconds: 120 }, "digest"))
      const tinker_path = `tinker://${model_id}/weights/brief`
      yield* TestClock.adjust("119 seconds")
      yield* weightsInfo({ tinker_path })
      yield* heartbeat({ session_id })
      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Effect.flip(weightsInfo({ tinker_path }))).status, 404)
      assert.deepStrictEqual((yield* listings.checkpointsOf(model_id)).checkpoints, [])
      // Its name is free again.
      yield* result(saveWeights({ model_id, path: "brief" }, "again"))
      yield* weightsInfo({ tinker_path })
    }).pipe(Effect.provide(server))
  )
})
