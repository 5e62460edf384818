import { assert, describe, it } from "@effect/vitest"
import { type CheckpointRef, Engine, type SampleRequest, type TrainRequest } from "@inspo/engine"
import { TabularEngine } from "@inspo/engine/testing"
import * as TinkerEngine from "@inspo/engine-tinker"
import { Effect, Fiber, Layer, Result } from "effect"
import { HttpClient } from "effect/http"
import { TestClock } from "effect/testing"
import * as FaultyServer from "./FaultyServer.ts"

/** Schedules tried of each kind: few here, `INSPO_FAULT_SCHEDULES` as many as wanted. */
const schedules = Number(process.env["INSPO_FAULT_SCHEDULES"] ?? 6)

const kinds = [
  { profile: "inspo", encoding: "json" },
  { profile: "inspo", encoding: "protobuf" },
  { profile: "tinker", encoding: "json" },
  { profile: "verl", encoding: "json" }
] as const

type Kind = (typeof kinds)[number]

const steps = 3

/** What a run of the loop is about: what it sampled, and the policy it ends with. */
interface Outcome {
  readonly samples: ReadonlyArray<unknown>
  readonly scores: ReadonlyArray<ReadonlyArray<number>>
  readonly updates: ReadonlyArray<{ readonly datums: number; readonly key: string }>
  readonly failures: number
  readonly faults: number
}

describe("a run over a server that fails", () => {
  for (const kind of kinds) {
    it.effect(
      `counts every update once, ${kind.profile} over ${kind.encoding}`,
      () =>
        Effect.gen(function* () {
          const expected = yield* run(kind, "0", 0)
          assert.strictEqual(expected.updates.length, steps)
          let faults = 0
          let failures = 0
          for (let schedule = 0; schedule < schedules; schedule++) {
            const seed = `${kind.profile}/${kind.encoding}/${schedule}`
            const outcome = yield* run(kind, seed, [0.02, 0.1, 0.25][schedule % 3] ?? 0)
            faults += outcome.faults
            failures += outcome.failures
            assert.deepStrictEqual(outcome.samples, expected.samples, seed)
            assert.deepStrictEqual(outcome.scores, expected.scores, seed)
            const keys = outcome.updates.map(({ key }) => key)
            assert.strictEqual(new Set(keys).size, keys.length, `${seed}: an update was made twice`)
            for (const { datums } of outcome.updates) assert.strictEqual(datums, expected.updates[0]?.datums, seed)
          }
          assert.isAbove(faults, schedules)
          yield* Effect.logDebug(`${schedules} schedules, ${faults} faults, ${failures} restores`)
        }),
      300_000
    )
  }
})

const run = Effect.fnUntraced(function* (kind: Kind, seed: string, rate: number) {
  const fiber = yield* Effect.forkChild(Effect.scoped(loop(kind, seed, rate)))
  while (fiber.pollUnsafe() === undefined) {
    yield* TestClock.adjust("500 millis")
    // What is not a matter of time needs its turn, too.
    yield* Effect.promise(() => new Promise((resolve) => setImmediate(resolve)))
  }
  return yield* Fiber.join(fiber)
})

/** The training loop over one engine: an attempt that fails is made again from the last checkpoint. */
const loop = Effect.fnUntraced(function* ({ encoding, profile }: Kind, seed: string, rate: number) {
  const tabular = yield* TabularEngine.make
  const server = yield* FaultyServer.make({ engine: tabular, rate, seed, forgetful: profile === "verl" })
  const connect = TinkerEngine.layer({
    url: "http://inspo.test",
    tokenizer: tabular.tokenizer,
    contextLength: tabular.profile.contextLength,
    profile,
    encoding
  }).pipe(
    Layer.provide(Layer.succeed(HttpClient.HttpClient)(server.client)),
    Layer.build,
    Effect.retry({ times: 50 }),
    Effect.flatMap((context) => Effect.provideContext(Engine, context))
  )
  let engine = yield* connect
  let failures = 0
  let checkpoint: CheckpointRef | null = null
  const samples: Array<unknown> = []
  for (let step = 0; step <= steps;) {
    const attempt: Result.Result<{ readonly saved: CheckpointRef; readonly sampled: unknown }, unknown> =
      yield* Effect.result(
        Effect.gen(function* () {
          const sampled = yield* engine.sample(requests(step))
          if (step > 0) yield* engine.train(training(step, requests(step), sampled))
          return { sampled, saved: yield* engine.save(`step-${step}`) }
        })
      )
    if (Result.isSuccess(attempt)) {
      checkpoint = attempt.success.saved
      samples.push(attempt.success.sampled)
      step += 1
    } else {
      failures += 1
      assert.isBelow(failures, 200, String(attempt.failure))
      // A run is resumed by another process as often as it goes on in the same one.
      if (checkpoint === null || failures % 2 === 0) engine = yield* connect
      if (checkpoint !== null) yield* Effect.ignore(engine.restore(checkpoint))
    }
  }
  const last = checkpoint
  const scores = yield* engine.score("current", [{ prompt: [1, 2], response: [3, 4, 5, 6] }]).pipe(
    Effect.tapError(() => (last === null ? Effect.void : Effect.ignore(engine.restore(last)))),
    Effect.retry({ times: 50 })
  )
  return {
    samples,
    scores,
    failures,
    faults: server.faults(),
    updates: server.updates.map(({ datums, key }, index) => ({ datums, key: profile === "verl" ? String(index) : key }))
  } satisfies Outcome
})

const requests = (step: number): ReadonlyArray<SampleRequest> =>
  [0, 1, 2].map((index) => ({
    prompt: [1 + index, 2 + step],
    n: 2,
    stop: [],
    maxTokens: 4,
    temperature: 1,
    topP: 1,
    seed: `${step}/${index}`
  }))

const training = (
  step: number,
  asked: ReadonlyArray<SampleRequest>,
  sampled: Effect.Success<ReturnType<Engine.Interface["sample"]>>
): TrainRequest => ({
  key: `train/${step}`,
  datums: sampled.flatMap(({ sequences }, index) =>
    sequences.map(({ logprobs, tokens }, at) => ({
      prompt: asked[index]?.prompt ?? [],
      response: tokens,
      logprobs,
      advantages: tokens.map(() => (at === 0 ? 1 : -1)),
      weights: tokens.map(() => 0.1)
    }))
  ),
  loss: { clipRatio: 0.2, klCoefficient: 0 },
  optimizer: { learningRate: 0.1, beta1: 0.9, beta2: 0.999, weightDecay: 0, gradientClip: 1 }
})
