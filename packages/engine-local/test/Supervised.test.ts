/** @module-tag deep */
import { assert, describe, it } from "@effect/vitest"
import { Checkpoint, ModelConfig, Supervised } from "@inspo/engine-local"
import { Array as Arr, Effect } from "effect"
import { config } from "./fixtures.ts"

const options = { learningRate: 1e-2, beta1: 0.9, beta2: 0.99, weightDecay: 0.01, gradientClip: 1 }

/** Sequences of several lengths in which each token follows from the one before; more runs than there are lanes. */
const batch = Arr.makeBy(240, (index) => {
  const tokens = [index % 40]
  while (tokens.length < 2 + ((7 * index) % 40)) tokens.push(((tokens.at(-1) ?? 0) * 5 + 7) % 40)
  return { tokens, weights: tokens.map((_, at) => (at % 4 === 3 ? 0.5 : 1)) }
})

const trainer = (workers: number) =>
  Supervised.makeSupervisedTrainer({ config, parameters: ModelConfig.initialParameters(config, "supervised"), workers })

describe("Supervised", () => {
  it.effect("gives the same bits for any number of workers, and learns", () =>
    Effect.gen(function* () {
      const runs = yield* Effect.forEach([1, 3], (workers) =>
        Effect.gen(function* () {
          const { step, parameters } = yield* trainer(workers)
          const metrics = yield* Effect.forEach(Arr.range(1, 6), () => step(batch, options))
          return { metrics, hash: Checkpoint.hash(parameters) }
        }).pipe(Effect.scoped)
      )
      for (const run of runs) assert.deepStrictEqual(run, runs[0])
      const losses = runs[0]?.metrics.map(({ loss }) => loss) ?? []
      assert.closeTo(losses[0] ?? NaN, Math.log(config.vocabulary), 0.5)
      assert.isBelow(losses.at(-1) ?? NaN, (losses[0] ?? NaN) - 1)
      assert.strictEqual(
        runs[0]?.metrics[0]?.tokens,
        batch.reduce((sum, { tokens }) => sum + tokens.length - 1, 0)
      )
    })
  )

  it.effect("the gradient is that of the weighted mean: doubled weights, repetition and order change nothing", () =>
    Effect.gen(function* () {
      const after = (sequences: ReadonlyArray<Supervised.WeightedSequence>) =>
        Effect.gen(function* () {
          const { step, parameters } = yield* trainer(2)
          const { loss, gradientNorm } = yield* step(sequences, options)
          return { loss, gradientNorm, parameters: parameters.slice() }
        }).pipe(Effect.scoped)
      const plain = yield* after(batch)
      const doubled = yield* after(batch.map(({ tokens, weights }) => ({ tokens, weights: weights.map((w) => 2 * w) })))
      assert.closeTo(doubled.loss, plain.loss, 1e-5)
      assert.closeTo(doubled.gradientNorm, plain.gradientNorm, 1e-4)
      const repeated = yield* after([...batch, ...batch])
      assert.closeTo(repeated.gradientNorm, plain.gradientNorm, 1e-4)
      const reversed = yield* after(batch.toReversed())
      assert.closeTo(reversed.gradientNorm, plain.gradientNorm, 1e-4)
    })
  )

  it.effect("the loss of a token is what it is at the end of the sequence up to it", () =>
    Effect.gen(function* () {
      const { step } = yield* trainer(1)
      const loss = (sequence: Supervised.WeightedSequence) =>
        Effect.map(step([sequence], { ...options, learningRate: 0 }), (metrics) => metrics.loss)
      const tokens = Arr.makeBy(14, (at) => (at * 7) % 40)
      for (const at of [1, 6, 13]) {
        const only = tokens.map((_, index) => (index === at ? 3 : 0))
        const whole = yield* loss({ tokens, weights: only })
        const upTo = yield* loss({ tokens: tokens.slice(0, at + 1), weights: only.slice(0, at + 1) })
        assert.isAbove(whole, 1)
        assert.closeTo(whole, upTo, 1e-5)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("refuses sequences that do not fit", () =>
    Effect.gen(function* () {
      const { step } = yield* trainer(1)
      const reason = (tokens: ReadonlyArray<number>, weights: ReadonlyArray<number>) =>
        Effect.map(Effect.flip(step([{ tokens, weights }], options)), (error) => error.reason)
      assert.match(yield* reason([1], [1]), /holds 1 tokens, expected 2 to 161/)
      assert.match(yield* reason([1, 2], [1]), /holds 1 weights for 2 tokens/)
    }).pipe(Effect.scoped)
  )
})
