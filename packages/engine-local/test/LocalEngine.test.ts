import { execFile } from "node:child_process"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Engine, type SampleRequest, type TrainRequest } from "@inspo/engine"
import { EngineLaws } from "@inspo/engine/testing"
import type { LocalEngineOptions } from "@inspo/engine-local"
import { Array as Arr, Effect, Predicate } from "effect"
import { config, layer, shippedSize, temporaryFolder } from "./fixtures.ts"

/** `count` requests of unlike prompts, some of which share a prefix. */
const requests = (count: number, overrides: Partial<SampleRequest> = {}): ReadonlyArray<SampleRequest> =>
  Arr.makeBy(count, (index) => ({
    prompt: Arr.makeBy(12 + (index % 7) * 9, (at) => 12 + ((at < 10 ? at : at * (1 + (index % 5))) % 250)),
    n: 1,
    stop: ["</search>", "</answer>"],
    maxTokens: 20,
    temperature: 1,
    topP: 1,
    seed: `test/${index}`,
    ...overrides
  }))

/** The next turn of each request's first sequence, after an observation. */
const nextTurn = Effect.fnUntraced(function* (engine: Engine.Interface, first: ReadonlyArray<SampleRequest>) {
  const results = yield* engine.sample(first)
  const second = first.map((request, index) => ({
    ...request,
    prompt: [...request.prompt, ...(results[index]?.sequences[0]?.tokens ?? []), 8, 40, 41, 9],
    seed: `${request.seed}/second`
  }))
  return { results, second, answers: yield* engine.sample(second) }
})

const training = (key: string, sampled: Effect.Success<ReturnType<typeof nextTurn>>): TrainRequest => ({
  key,
  datums: sampled.second.map(({ prompt }, index) => {
    const { tokens = [], logprobs = [] } = sampled.answers[index]?.sequences[0] ?? {}
    return {
      prompt,
      response: tokens,
      logprobs,
      advantages: tokens.map(() => (index % 3) - 1),
      weights: tokens.map(() => 0.01)
    }
  }),
  loss: { clipRatio: 0.2, klCoefficient: 0.01 },
  optimizer: { learningRate: 1e-2, beta1: 0.9, beta2: 0.999, weightDecay: 0.01, gradientClip: 1 }
})

/** Two turns, a training step, the second turn and both turns again, and a checkpoint: everything an engine gives. */
const episode = (options: Partial<LocalEngineOptions>) =>
  Effect.gen(function* () {
    const engine = yield* Engine
    const before = yield* nextTurn(engine, requests(24))
    const start = yield* engine.save("start")
    const metrics = yield* engine.train(training("0", before))
    const continued = yield* engine.sample(before.second)
    const after = yield* nextTurn(engine, requests(6, { n: 3 }))
    const scores = yield* engine.score(
      "current",
      after.second.map(({ prompt }) => ({ prompt, response: [40, 41] }))
    )
    const { hash } = yield* engine.save("end")
    // Prefixes of the second turn that are cached under the present weights must not outlive them.
    yield* engine.sample(
      before.second.map((request) => ({ ...request, prompt: request.prompt.slice(0, -1), maxTokens: 1 }))
    )
    yield* engine.restore(start)
    assert.deepStrictEqual(yield* engine.sample(before.second), before.answers)
    return { before, metrics, continued, after, scores, hash }
  }).pipe(Effect.provide(layer(options), { local: true }))

/** Sampler and trainer give the same log-probabilities. */
const agreement = Effect.gen(function* () {
  const engine = yield* Engine
  const first = requests(12)
  const { results, second, answers } = yield* nextTurn(engine, first)
  const scores = yield* engine.score(
    "current",
    second.map(({ prompt }, index) => ({
      prompt: first[index]?.prompt ?? [],
      response: [...prompt.slice(first[index]?.prompt.length), ...(answers[index]?.sequences[0]?.tokens ?? [])]
    }))
  )
  scores.forEach((logprobs, index) => {
    const turn = results[index]?.sequences[0]?.logprobs ?? []
    const answer = answers[index]?.sequences[0]?.logprobs ?? []
    turn.forEach((logprob, at) => assert.closeTo(logprobs[at] ?? NaN, logprob, 1e-5))
    answer.forEach((logprob, at) => assert.closeTo(logprobs.at(at - answer.length) ?? NaN, logprob, 1e-5))
  })
})

describe("LocalEngine", () => {
  it.layer(layer())("conformance", (it) => {
    for (const { name, check } of EngineLaws.laws()) it.effect(name, () => check)
  })

  it.effect(
    "gives the same bits for any number of workers and rows, with and without the prefix cache",
    () =>
      Effect.gen(function* () {
        const expected = yield* episode({ workers: 2, rows: 5 })
        assert.isAbove(
          new Set(expected.before.results.flatMap(({ sequences }) => sequences[0]?.tokens.join() ?? [])).size,
          20
        )
        assert.deepStrictEqual(yield* episode({ workers: 3, rows: 2 }), expected)
        assert.deepStrictEqual(yield* episode({ workers: 1, rows: 12, prefixCache: false }), expected)
      }),
    { tags: "deep" }
  )

  it.layer(layer({ workers: 1, rows: 64 }, shippedSize))("at the shipped model's size", (it) => {
    it.effect("a sample alone is the sample among 63 others, bit by bit, whatever their lengths", () =>
      Effect.gen(function* () {
        const engine = yield* Engine
        const long = requests(3).map((request, index) => ({
          ...request,
          prompt: Arr.makeBy(180 + 50 * index, (at) => 12 + ((at * (7 + index)) % 250))
        }))
        // Continued where they ended, so that they are long from the first step on.
        const { second } = yield* nextTurn(engine, long)
        const all = [...requests(61, { maxTokens: 12 }), ...second]
        const together = yield* engine.sample(all)
        for (const index of [0, 5, 33, 60, 61, 63]) {
          assert.deepStrictEqual(yield* engine.sample(all.slice(index, index + 1)), together.slice(index, index + 1))
        }
      })
    )

    it.effect("sampler and trainer agree on log-probabilities within 1e-5, over turns", () => agreement)
  })

  it.layer(layer({}, { ...config, keyValueHeads: 2 }))("with two key-value heads", (it) => {
    it.effect("sampler and trainer agree on log-probabilities within 1e-5, over turns", () => agreement)
  })

  it.layer(layer())("requests", (it) => {
    it.effect("a training request sent twice counts once", () =>
      Effect.gen(function* () {
        const engine = yield* Engine
        const request = training("same", yield* nextTurn(engine, requests(8)))
        const metrics = yield* engine.train(request)
        const once = yield* engine.save("once")
        assert.deepStrictEqual(yield* engine.train(request), metrics)
        assert.strictEqual((yield* engine.save("twice")).hash, once.hash)
        yield* engine.train({ ...request, key: "another" })
        assert.notStrictEqual((yield* engine.save("thrice")).hash, once.hash)
      })
    )

    it.effect("an update that is not finite is refused, and the policy keeps its weights", () =>
      Effect.gen(function* () {
        const engine = yield* Engine
        const request = training("first", yield* nextTurn(engine, requests(8)))
        const start = yield* engine.save("start")
        const advantages = request.datums.map((datum) => ({ ...datum, advantages: datum.advantages.map(() => 1e308) }))
        for (const wild of [
          { ...request, optimizer: { ...request.optimizer, learningRate: 1e30 } },
          { ...request, datums: advantages }
        ])
          assert.strictEqual((yield* Effect.flip(engine.train(wild))).kind, "not-finite")
        assert.strictEqual((yield* engine.save("refused")).hash, start.hash)
        yield* engine.train(request)
        assert.notStrictEqual((yield* engine.save("trained")).hash, start.hash)
      })
    )

    it.effect("a datum given twice at half its weight trains as the datum does", () =>
      Effect.gen(function* () {
        const engine = yield* Engine
        const once = training("once", yield* nextTurn(engine, requests(8)))
        const start = yield* engine.save("start")
        const metrics = yield* engine.train(once)
        const trained = yield* engine.save("trained")
        yield* engine.restore(start)
        const halves = once.datums.map((datum) => ({ ...datum, weights: datum.weights.map((weight) => weight / 2) }))
        const twice = yield* engine.train({ ...once, key: "twice", datums: [...halves, ...halves] })
        assert.closeTo(twice.kl, metrics.kl, 1e-12)
        assert.deepStrictEqual(twice, { ...metrics, kl: twice.kl, tokens: 2 * metrics.tokens })
        assert.strictEqual((yield* engine.save("twice")).hash, trained.hash)
      })
    )

    it.effect("what cannot be sampled is refused, naming the field, the value and what was expected", () =>
      Effect.gen(function* () {
        const engine = yield* Engine
        const refusals: ReadonlyArray<readonly [Partial<SampleRequest>, RegExp]> = [
          [{ prompt: [] }, /requests\[1\]\.prompt\.length is 0; expected 1 to the context length 160/],
          [{ prompt: [12, 100_000] }, /requests\[1\]\.prompt is holding 100000; expected tokens of 0 to/],
          [{ stop: ["two words"] }, /stop "two words" is 9 tokens; expected 1 token/],
          [{ n: 0 }, /requests\[1\]\.n is 0; expected an integer from 1/],
          [{ maxTokens: -1 }, /requests\[1\]\.maxTokens is -1/],
          [{ temperature: NaN }, /requests\[1\]\.temperature is NaN/],
          [{ topP: 0 }, /requests\[1\]\.topP is 0/]
        ]
        for (const [override, reason] of refusals) {
          const error = yield* Effect.flip(engine.sample([...requests(1), ...requests(1, override)]))
          assert.strictEqual(error.operation, "sample")
          assert.match(error.reason, reason)
        }
      })
    )

    it.effect("what cannot be trained is refused", () =>
      Effect.gen(function* () {
        const engine = yield* Engine
        const request = training("refused", yield* nextTurn(engine, requests(2)))
        const [datum] = request.datums
        if (datum === undefined) return assert.fail("no datum")
        const reason = (change: Partial<typeof datum>) =>
          Effect.map(
            Effect.flip(engine.train({ ...request, datums: [{ ...datum, ...change }] })),
            (error) => error.reason
          )
        assert.match(yield* reason({ weights: [] }), /datums\[0\] has \d+, \d+, 0 logprobs, advantages and weights/)
        assert.match(
          yield* reason({ prompt: Arr.makeBy(160, () => 12) }),
          /datums\[0\] holds \d+ tokens, expected at most 160/
        )
      })
    )

    it.effect("weights that are too large to give log-probabilities are refused, and leave nothing behind", () =>
      Effect.gen(function* () {
        const engine = yield* Engine
        const growing = requests(8, { maxTokens: 100 })
        const long = requests(8, { prompt: Arr.makeBy(150, (at) => 12 + (at % 50)) })
        const before = yield* engine.sample(growing)
        const request = training("usable", yield* nextTurn(engine, requests(4)))
        const saved = yield* engine.save("usable")
        yield* engine.train({ ...request, key: "large", optimizer: { ...request.optimizer, learningRate: 1e19 } })
        const lost = [Effect.flip(engine.sample(long)), Effect.flip(engine.score("current", request.datums))]
        for (const error of lost) assert.match((yield* error).reason, /weights have grown so large/u)
        yield* engine.restore(saved)
        // Rows grow over what the long ones left.
        assert.deepStrictEqual(yield* engine.sample(growing), before)
      })
    )

    it.effect("a restore can leave the optimizer's state behind", () =>
      Effect.gen(function* () {
        const engine = yield* Engine
        const request = training("1", yield* nextTurn(engine, requests(4)))
        yield* engine.train(request)
        const saved = yield* engine.save("trained")
        const next = (optimizer: "saved" | "fresh") =>
          Effect.gen(function* () {
            yield* engine.restore(saved, { optimizer })
            yield* engine.train({ ...request, key: "2" })
            return (yield* engine.save(`after-${optimizer}`)).hash
          })
        const kept = yield* next("saved")
        assert.notStrictEqual(yield* next("fresh"), kept)
        assert.strictEqual(yield* next("saved"), kept)
      })
    )

    it.effect("a full context and maxTokens 0 leave no token to sample", () =>
      Effect.gen(function* () {
        const engine = yield* Engine
        const full = requests(1, { prompt: Arr.makeBy(config.context, () => 12), n: 2 })
        const none = { tokens: [], logprobs: [], stopReason: "length" as const }
        assert.deepStrictEqual(yield* engine.sample([...full, ...requests(1, { maxTokens: 0 })]), [
          { sequences: [none, none] },
          { sequences: [none] }
        ])
      })
    )

    it.effect("no datums change nothing but the optimizer's count", () =>
      Effect.gen(function* () {
        const engine = yield* Engine
        const request = training("empty", yield* nextTurn(engine, requests(1)))
        const metrics = yield* engine.train({ ...request, datums: [] })
        assert.deepStrictEqual(metrics, { loss: 0, kl: 0, clipFraction: 0, gradientNorm: 0, tokens: 0 })
      })
    )
  })

  it.effect("a damaged checkpoint is refused and the policy stays", () =>
    Effect.gen(function* () {
      const checkpoints = yield* temporaryFolder
      yield* Effect.gen(function* () {
        const engine = yield* Engine
        const saved = yield* engine.save("damaged")
        const before = yield* engine.sample(requests(2))
        yield* Effect.promise(async () => {
          const path = join(checkpoints, saved.uri)
          const bytes = await readFile(path)
          bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
          await writeFile(path, bytes)
        })
        const error = yield* Effect.flip(engine.restore(saved))
        assert.match(error.message, /^engine restore: checkpoint .*damaged/)
        assert.isTrue(Predicate.isTagged(error.cause, "CheckpointError"))
        assert.deepStrictEqual(yield* engine.sample(requests(2)), before)
      }).pipe(Effect.provide(layer({ checkpoints }), { local: true }))
    }).pipe(Effect.scoped)
  )

  it.effect("the process ends when the scope is closed", () =>
    Effect.gen(function* () {
      const script = join(import.meta.dirname, "sampleOnce.ts")
      const { stdout } = yield* Effect.promise(() =>
        promisify(execFile)(process.execPath, [script], { timeout: 60_000 })
      )
      assert.match(stdout, /^sampled \d+ tokens\n$/)
    })
  )

  it.effect.skipIf(process.env["INSPO_DENO"] === undefined)("the process ends in Deno too, INSPO_DENO", () =>
    Effect.gen(function* () {
      const args = [
        "--yes",
        "deno@2.9.6",
        "run",
        "--allow-all",
        "--no-lock",
        join(import.meta.dirname, "sampleOnce.ts")
      ]
      const { stdout } = yield* Effect.promise(() => promisify(execFile)("npx", args, { timeout: 120_000 }))
      assert.match(stdout, /^sampled \d+ tokens\n$/)
    })
  )
})
