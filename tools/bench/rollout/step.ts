/** One step in a process of its own: `step.ts CASE QUESTIONS [URL]`. Sends its costs to its parent, or prints them. */
// As the command line does.
import "effect/schema/SchemaJITCompiler/enable"
import { Engine } from "@inspo/engine"
import { Effect, Layer } from "effect"
import { processorSeconds } from "../Measure.ts"
import * as Environment from "./Environment.ts"
import * as NullEngine from "./NullEngine.ts"
import { play } from "./Play.ts"
import { isCase, type Measured } from "./Shape.ts"

const [name = "", questions = "", url] = process.argv.slice(2)
if (!isCase(name)) throw new RangeError(`no case ${name}`)
const environment = Environment.make(name)

// The client is loaded for the cases that need it alone: it would count in the memory of the others.
const engine =
  url === undefined
    ? NullEngine.layer(environment.tokenizer, environment.turns)
    : (await import("./RemoteEngine.ts")).layer(url, environment.tokenizer)

const step = Effect.gen(function* () {
  const { train } = yield* Engine
  const episodes = environment.episodes(Number(questions))
  const began = performance.now()
  const before = process.cpuUsage()
  const { requests, samples } = yield* play(episodes)
  const measured = {
    wall: (performance.now() - began) / 1000,
    processor: processorSeconds(before),
    peak: process.resourceUsage().maxRSS / 1024,
    samples,
    datums: requests.reduce((total, { datums }) => total + datums.length, 0)
  }
  const sampled = process.cpuUsage()
  for (const request of requests) yield* train(request)
  return { ...measured, gradientProcessor: processorSeconds(sampled) } satisfies Measured
})

const measured = await step.pipe(
  Effect.provide(environment.rollout.pipe(Layer.provideMerge(engine))),
  Effect.scoped,
  Effect.runPromise
)
if (process.send === undefined) process.stdout.write(`${JSON.stringify(measured)}\n`)
else process.send(measured)
