/** One step in a process of its own: `step.ts CASE QUESTIONS [URL]`. Tells its parent what it took, or prints it. */
import { Engine } from "@inspo/engine"
import type { TrainConfig } from "@inspo/policy-gradient"
import { trainRequests } from "@inspo/policy-gradient/GrpoBatch"
import { Rollout } from "@inspo/rollout"
import { Effect, Layer } from "effect"
import * as Environment from "./Environment.ts"
import * as NullEngine from "./NullEngine.ts"
import { isCase, type Measured, shape } from "./Shape.ts"

const [name = "", questions = "", url] = process.argv.slice(2)
if (!isCase(name)) throw new RangeError(`no case ${name}`)
const environment = Environment.make(name)

/** The client is loaded for the cases that need it alone: it would count in the memory of the others. */
const remote = async (url: string) => {
  const TinkerEngine = await import("@inspo/engine-tinker/TinkerEngine")
  const PooledHttpClient = await import("../../../apps/cli/src/engine/PooledHttpClient.ts")
  const { tokenizer } = environment
  return TinkerEngine.layer({ url, tokenizer, concurrency: shape.concurrency, answerWithin: null }).pipe(
    Layer.provide(PooledHttpClient.layer("60 seconds"))
  )
}

const engine = url === undefined ? NullEngine.layer(environment.tokenizer, environment.turns) : await remote(url)

/** The paper's, without the reference policy. */
const trainConfig: TrainConfig = {
  miniBatchSize: 256,
  unit: "questions",
  epochs: 1,
  learningRate: 5e-7,
  schedule: "cosine",
  warmupRatio: 0.1,
  clipRatio: 0.2,
  klCoefficient: 0,
  kl: "advantages",
  entropyCoefficient: 0,
  beta1: 0.9,
  beta2: 0.999,
  weightDecay: 0.01,
  gradientClip: 1,
  normalization: "sequence-mean",
  advantage: "standardised"
}

const processorSince = (before: NodeJS.CpuUsage) => {
  const { system, user } = process.cpuUsage(before)
  return (system + user) / 1e6
}

const step = Effect.gen(function* () {
  const { train } = yield* Engine
  const { collect } = yield* Rollout
  const episodes = environment.episodes(Number(questions))
  const began = performance.now()
  const before = process.cpuUsage()
  const trajectories = yield* collect(episodes)
  const requests = trainRequests(trajectories, trainConfig, { key: "train/1", learningRate: 1e-6 })
  const measured = {
    wall: (performance.now() - began) / 1000,
    processor: processorSince(before),
    peak: process.resourceUsage().maxRSS / 1024,
    samples: trajectories.reduce((total, { turns }) => total + turns, 0),
    datums: requests.reduce((total, { datums }) => total + datums.length, 0)
  }
  const sampled = process.cpuUsage()
  for (const request of requests) yield* train(request)
  return { ...measured, gradientProcessor: processorSince(sampled) } satisfies Measured
})

const measured = await step.pipe(
  Effect.provide(environment.rollout.pipe(Layer.provideMerge(engine))),
  Effect.scoped,
  Effect.runPromise
)
if (process.send === undefined) process.stdout.write(`${JSON.stringify(measured)}\n`)
else process.send(measured)
