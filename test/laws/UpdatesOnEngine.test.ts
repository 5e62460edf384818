/** Losses on the embedded engine, against the change of what is written. */
import { assert, describe, it } from "@effect/vitest"
import { Engine, type TrainRequest } from "@inspo/engine"
import { layer } from "@inspo/engine-local"
import { Losses, Weighing } from "@inspo/policy-gradient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem, Layer, Schema } from "effect"

const prompts = [0, 1, 2].map((shift) => Array.from({ length: 10 }, (_, at) => 12 + ((at * 7 + shift * 31) % 200)))
// A denominator that dwarfs the second moment makes AdamW a step along the gradient.
const flat = 1e6
const optimizer = { beta1: 0, beta2: 0, weightDecay: 0, gradientClip: Infinity, epsilon: flat }

const sampled = Effect.gen(function* () {
  const engine = yield* Engine
  const results = yield* engine.sample(
    prompts.map((prompt, at) => ({ prompt, n: 2, stop: [], maxTokens: 12, temperature: 1, topP: 1, seed: `law/${at}` }))
  )
  return results.flatMap(({ sequences }, group) =>
    sequences.map(({ logprobs, tokens }, index) => ({
      prompt: prompts[group] ?? [],
      response: tokens,
      logprobs,
      advantages: tokens.map(() => (index === 0 ? 1 : -0.7)),
      weights: tokens.map(() => 1 / (tokens.length * 6))
    }))
  )
})

const wide = { low: 0.9, high: 9 }
/** Bounds that leave whole sequences a gradient, and the constant without a default. */
const given: Readonly<Record<string, object>> = {
  "clip-turn": wide,
  "clip-trajectory": wide,
  gspo: wide,
  luspo: wide,
  "ratio-variance": { lambda: 0.5 }
}

const engine = Layer.unwrap(
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    return layer({ checkpoints: yield* files.makeTempDirectoryScoped() })
  })
).pipe(Layer.provide(NodeServices.layer))

describe("a loss on the embedded engine", { tags: "deep" }, () => {
  it.effect.each(Losses.losses.map(({ name }) => name))(
    "%s has the gradient of what is written",
    (name) =>
      Effect.gen(function* () {
        const engine = yield* Engine
        const datums = yield* sampled
        const loss = Schema.decodeUnknownSync(Losses.Loss)({ name, ...given[name] })
        const { name: _, ...constants } = loss
        const request = (key: string, rate: number): TrainRequest => ({
          key,
          datums,
          loss: { clipRatio: 0.2, klCoefficient: 0 },
          optimizer: { ...optimizer, learningRate: rate * flat }
        })
        // Ratios leave 1 by an update before it.
        yield* engine.train(request("away", 2e-3))
        const start = yield* engine.save("start")
        const now = yield* engine.score("current", datums)
        const objective = (scores: ReadonlyArray<ReadonlyArray<number>>) =>
          datums.reduce((sum, { advantages, logprobs: old }, at) => {
            const sequence = { logprobs: scores[at] ?? [], old, advantages }
            const held = { ...sequence, logprobs: now[at] ?? [] }
            return sum + Losses.named(loss).objective(sequence, constants, held) / datums.length
          }, 0)
        const { request: weighed } = Weighing.weighed(request("step", 0), now, Losses.make(loss))
        const moved = Effect.fnUntraced(function* (rate: number) {
          yield* engine.restore(start)
          const { gradientNorm } = yield* engine.train({
            ...weighed,
            key: `step/${rate}`,
            optimizer: { ...optimizer, learningRate: rate * flat }
          })
          return { gradientNorm, value: objective(yield* engine.score("current", datums)) }
        })
        const rate = 2e-4
        const [up, same] = [yield* moved(rate), yield* moved(1e-9)]
        const slope = (up.value - same.value) / rate
        const expected = up.gradientNorm ** 2
        assert.isAbove(expected, 0)
        assert.isBelow(Math.abs(slope - expected) / expected, 0.1, `${slope} by ${expected}`)
      }).pipe(Effect.provide(engine, { local: true })),
    60_000
  )
})
