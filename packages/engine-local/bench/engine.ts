/**
 * Times GRPO steps of 32 prompts × 5 rollouts, 120 prompt and up to 60 sampled tokens, on a random model of 0.36 M
 * parameters, and compares the training phase with a 1024³ matrix product on the same workers in the same run.
 *
 *     node packages/engine-local/bench/engine.ts [steps] [workers]
 */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type Datum, Engine } from "@inspo/engine"
import { Array as Arr, Console, Duration, Effect, Number as Num, Random } from "effect"
import { Graph } from "../src/graph/Graph.ts"
import { linear } from "../src/graph/Linear.ts"
import { shareProgram } from "../src/internal/Protocol.ts"
import * as WorkerPool from "../src/internal/WorkerPool.ts"
import { layer } from "../src/LocalEngine.ts"
import * as ModelFolder from "../src/ModelFolder.ts"
import { initialParameters, type ModelConfig, parameterLayout } from "../src/model/ModelConfig.ts"
import { fromFiles } from "@inspo/engine/HuggingFaceTokenizer"
import { makeTokenizerFiles } from "../src/TokenizerFiles.ts"

const steps = Number(process.argv[2] ?? 15)
const workers = Number(process.argv[3] ?? 2)
const warmUp = 2
const groups = 32
const groupSize = 5
const promptLength = 120
const maxTokens = 60
const matrix = 1024

const words = Arr.makeBy(280, (index) => "k".repeat(1 + (index % 16)) + "v".repeat(1 + Math.floor(index / 16)))
const tokenizerFiles = makeTokenizerFiles(words)
const config: ModelConfig = {
  vocabulary: fromFiles(tokenizerFiles).vocabularySize,
  width: 96,
  layers: 3,
  heads: 4,
  keyValueHeads: 1,
  feedForward: 4,
  context: 320
}

const program = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "inspo-bench-"))),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  )
  const parameters = initialParameters(config, "bench")
  yield* ModelFolder.write(folder, { name: "bench", model: config, parameters, tokenizerFiles })
  const peak = yield* Effect.scoped(matrixProduct(parameters))
  const measured = yield* measureSteps.pipe(Effect.provide(layer({ model: folder, checkpoints: folder, workers })))
  const peakAfter = yield* Effect.scoped(matrixProduct(parameters))

  const of = (pick: (step: StepTime) => number) => median(measured.map(pick))
  const trainingRate = median(measured.map((step) => step.flops / step.train / 1e9))
  const product = median([peak, peakAfter])
  const result = {
    parameters: parameters.length,
    workers,
    steps: measured.length,
    cpuSecondsPerStep: round(of(({ sampleCpu, trainCpu }) => sampleCpu + trainCpu)),
    sampleCpuSeconds: round(of(({ sampleCpu }) => sampleCpu)),
    trainCpuSeconds: round(of(({ trainCpu }) => trainCpu)),
    secondsPerStep: round(of(({ sample, train }) => sample + train)),
    sampleSeconds: round(of(({ sample }) => sample)),
    trainSeconds: round(of(({ train }) => train)),
    sampledTokensPerSecond: Math.round(of(({ tokens, sample }) => tokens / sample)),
    trainingGflops: round(trainingRate),
    matrixProductGflops: round(product),
    percentOfMatrixProduct: round((100 * trainingRate) / product)
  }
  yield* Console.log(JSON.stringify(result))
  yield* Console.log(
    Object.entries(result)
      .map(([name, value]) => `${name.padEnd(24)}${String(value).padStart(10)}`)
      .join("\n")
  )
})

interface StepTime {
  readonly sample: number
  readonly train: number
  /** Of all threads together. */
  readonly sampleCpu: number
  readonly trainCpu: number
  readonly tokens: number
  readonly flops: number
}

const measureSteps = Effect.gen(function* () {
  const engine = yield* Engine
  const times: Array<StepTime> = []
  for (let step = 0; step < warmUp + steps; step++) {
    const prompts = yield* Effect.forEach(Arr.range(1, groups), () =>
      Effect.forEach(Arr.range(1, promptLength), () => Random.nextIntBetween(12, config.vocabulary - 1))
    ).pipe(Random.withSeed(`prompts/${step}`))
    const atStart = processorSeconds()
    const [sampling, results] = yield* Effect.timed(
      engine.sample(
        prompts.map((prompt, index) => {
          const seed = `${step}/${index}`
          return { prompt, n: groupSize, stop: [], maxTokens, temperature: 1, topP: 1, seed }
        })
      )
    )
    const datums = results.flatMap(({ sequences }, index) =>
      sequences.map(({ tokens, logprobs }, sample): Datum => ({
        prompt: prompts[index] ?? [],
        response: tokens,
        logprobs,
        advantages: tokens.map(() => sample - (groupSize - 1) / 2),
        weights: tokens.map(() => 1 / (groups * groupSize * tokens.length))
      }))
    )
    const atTraining = processorSeconds()
    const [training] = yield* Effect.timed(
      engine.train({
        key: String(step),
        datums,
        loss: { clipRatio: 0.2, klCoefficient: 0 },
        optimizer: { learningRate: 1e-4, beta1: 0.9, beta2: 0.999, weightDecay: 0.01, gradientClip: 1 }
      })
    )
    const atEnd = processorSeconds()
    if (step < warmUp) continue
    times.push({
      sampleCpu: atTraining - atStart,
      trainCpu: atEnd - atTraining,
      sample: Duration.toSeconds(sampling),
      train: Duration.toSeconds(training),
      tokens: Num.sumAll(datums.map(({ response }) => response.length)),
      flops: trainingFlops(datums.map(({ response }) => response.length))
    })
  }
  return times
})

/**
 * 6 per parameter and token, the output head on response tokens alone, and 12 · layers · width per token and position it
 * looks at. A prompt counts once per group, as it is computed; padding does not count.
 */
const trainingFlops = (responses: ReadonlyArray<number>): number => {
  const size = (names: RegExp) =>
    Num.sumAll(parameterLayout(config).flatMap(({ name, size }) => (names.test(name) ? [size] : [])))
  const inner = size(/^(shift|qkv|out|up|down)/)
  const head = size(/^emb$/)
  const attention = (from: number, count: number) =>
    12 * config.layers * config.width * count * (from + (count + 1) / 2)
  const prompt = promptLength - 1
  return (
    groups * (6 * inner * prompt + attention(0, prompt)) +
    Num.sumAll(responses.map((length) => 6 * (inner + head) * length + attention(prompt, length)))
  )
}

/** GFLOP/s of a matrix product, summed over the workers, all at work at once. */
const matrixProduct = Effect.fnUntraced(function* (parameters: Float32Array) {
  const graph = new Graph()
  const shape = [matrix, matrix]
  graph.output("product", linear(graph, graph.input("left", shape), graph.input("right", shape)))
  const shared = shareProgram(graph.build())
  const pool = yield* WorkerPool.make({ config, parameters, workers, rows: 0 })
  const values = new Float32Array(matrix * matrix).fill(0.5)
  const batch = { program: shared, inputs: { left: values, right: values } }
  const repeats = 20
  const run = (batches: number) =>
    Effect.forEach(
      Arr.range(1, workers),
      () =>
        pool.run("evaluate", { policy: "current", lane: null, outputs: [], batches: Arr.replicate(batch, batches) }),
      { concurrency: "unbounded" }
    )
  yield* run(2)
  const [duration] = yield* Effect.timed(run(repeats))
  return (workers * repeats * 2 * matrix ** 3) / Duration.toSeconds(duration) / 1e9
})

/** Of all threads of this process. */
const processorSeconds = (): number => {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6
}

const median = (values: ReadonlyArray<number>): number => {
  const sorted = Arr.sort(values, Num.Order)
  return ((sorted[Math.floor((sorted.length - 1) / 2)] ?? 0) + (sorted[Math.ceil((sorted.length - 1) / 2)] ?? 0)) / 2
}

const round = (value: number): number => Number(value.toPrecision(3))

await Effect.runPromise(Effect.scoped(program))
