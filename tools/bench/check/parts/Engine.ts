import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { type Datum, Engine } from "@inspo/engine"
import * as LocalEngine from "@inspo/engine-local"
import { Array as Arr, Effect, FileSystem, Layer, Schema } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { Level } from "../Comparison.ts"
import { measure } from "../Workload.ts"

const part = "engine"
const groupSize = 5
const promptTokens = 60
const maxTokens = 30

/** The embedded engine compared with a matrix product on its workers, and the cost of more prompts. */
export const figures = Effect.gen(function* () {
  const { matrixProductGflops, percentOfMatrixProduct, sampledTokensPerSecond } = yield* bench
  const fs = yield* FileSystem.FileSystem
  const checkpoints = join(yield* fs.makeTempDirectoryScoped(), "checkpoints")
  const context = yield* Layer.build(LocalEngine.layer({ checkpoints, workers: 2 }))
  let calls = 0
  const { growth } = yield* measure({
    part,
    name: "a step",
    items: "prompts",
    sizes: [4, 128],
    rounds: 3,
    // New prompts each time, since a known prompt would be served from the cache.
    make: (prompts) => Effect.succeed(Effect.suspend(() => step(prompts, calls++)).pipe(Effect.provideContext(context)))
  })
  return [
    Level.make({
      part,
      name: "training",
      unit: "% of the GFLOP/s of a matrix product",
      value: percentOfMatrixProduct,
      better: "more",
      tolerance: 0.25
    }),
    Level.make({
      part,
      name: "sampling",
      unit: "tokens per GFLOP of a matrix product",
      value: sampledTokensPerSecond / matrixProductGflops,
      better: "more",
      tolerance: 0.25
    }),
    growth
  ]
})

const Bench = Schema.fromJsonString(
  Schema.Struct({
    matrixProductGflops: Schema.Finite,
    percentOfMatrixProduct: Schema.Finite,
    sampledTokensPerSecond: Schema.Finite
  })
)

/** A short run of `bench engine`, whose first line is JSON. */
const bench = Effect.gen(function* () {
  const script = fileURLToPath(new URL("../../../../packages/engine-local/bench/engine.ts", import.meta.url))
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const [line = ""] = yield* spawner.lines(
    ChildProcess.make(process.execPath, [script, "5", "2"], { stderr: "inherit" })
  )
  return yield* Schema.decodeEffect(Bench)(line)
})

/** Samples and trains once, as a GRPO step does. */
const step = Effect.fnUntraced(function* (prompts: number, call: number) {
  const engine = yield* Engine
  const { vocabularySize } = engine.tokenizer
  const asked = Arr.makeBy(prompts, (prompt) =>
    Arr.makeBy(promptTokens, (place) => (7919 * (call + 1) + 104_729 * prompt + 31 * place) % vocabularySize)
  )
  const results = yield* engine.sample(
    asked.map((prompt, index) => ({
      prompt,
      n: groupSize,
      stop: [],
      maxTokens,
      temperature: 1,
      topP: 1,
      seed: `${call}/${index}`
    }))
  )
  const datums = results.flatMap(({ sequences }, index) =>
    sequences.map(({ logprobs, tokens }, sample): Datum => ({
      prompt: asked[index] ?? [],
      response: tokens,
      logprobs,
      advantages: tokens.map(() => sample - (groupSize - 1) / 2),
      weights: tokens.map(() => 1 / (prompts * groupSize * tokens.length))
    }))
  )
  yield* engine.train({
    key: String(call),
    datums,
    loss: { clipRatio: 0.2, klCoefficient: 0 },
    optimizer: { learningRate: 1e-6, beta1: 0.9, beta2: 0.999, weightDecay: 0.01, gradientClip: 1 }
  })
})
