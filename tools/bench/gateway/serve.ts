/** The gateway in a process of its own: `serve.ts EPISODES`. Sends its URL to its parent, then what all episodes did cost. */
// As the command line does.
import "effect/schema/SchemaJITCompiler/enable"
import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Instruction, Question, Trajectory } from "@inspo/domain"
import type { Engine } from "@inspo/engine"
import { type Gateway, GatewayRollout, layer as layerGateway, routes, Workers } from "@inspo/gateway"
import { layerExactMatch } from "@inspo/reward"
import { Agents, defaultConfig, type Episode, Rollout } from "@inspo/rollout"
import { Array as Arr, Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { collectGarbage, processorSeconds } from "../Measure.ts"
import { shape } from "../rollout/Shape.ts"
import { engine, limits, words, written } from "./Served.ts"
import { calls, type Measured } from "./Shape.ts"

const count = Number(process.argv[2])
const instruction = Instruction.make("Answer the given question.", { id: "i0" })
const episode = (index: number): Episode => ({
  id: Trajectory.TrajectoryId.make(`bench/${index}`),
  instruction,
  question: {
    id: Question.QuestionId.make(`question ${index}`),
    question: `${words.slice(0, shape.prompt / 2).join(" ")} ${index}?`,
    goldenAnswers: ["yes"],
    dataSource: "bench"
  },
  seed: String(index)
})

/** Whether the tokens that were sampled in an episode are its own, and all of them. */
const isOwn = ({ mask, response }: Trajectory.Trajectory, index: number): boolean => {
  const sampled = response.filter((_, at) => mask[at] === 1)
  return (
    sampled.join(" ") ===
    Arr.makeBy(calls, () => written(String(index)))
      .flat()
      .join(" ")
  )
}

/** Megabytes that are in use once garbage is collected. */
const heap = () => {
  collectGarbage()
  return process.memoryUsage().heapUsed / 2 ** 20
}

const bench = Effect.gen(function* () {
  const services = yield* Effect.context<Gateway | Engine>()
  const { player, routes: pulled } = yield* Workers.make({ name: "workers", timeout: "10 minutes" })
  const served = Layer.merge(routes, pulled).pipe(Layer.provide(Layer.succeedContext(services)))
  const server = yield* HttpRouter.serve(served, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provideMerge(
      NodeHttpServer.layer(() => createServer({ keepAliveTimeout: 600_000 }), { port: 0, host: "127.0.0.1" })
    ),
    Layer.build
  )
  const { address } = yield* Effect.provideContext(HttpServer.HttpServer, server)
  const url = `http://127.0.0.1:${"port" in address ? address.port : 0}`
  process.send?.(url)
  const rollout = GatewayRollout.layer({ agent: Agents.fromConfig(defaultConfig), player, url })
  const { collect } = yield* Effect.provide(Rollout, rollout)
  const began = performance.now()
  let mixed = 0
  let heapBefore = 0
  let processor = 0
  // As steps of a run, which keep nothing of the last one.
  const fifth = Math.ceil(count / 5)
  for (let from = 0; from < count; from += fifth) {
    const before = process.cpuUsage()
    const part = Arr.makeBy(Math.min(fifth, count - from), (at) => episode(from + at))
    const played = yield* collect(part)
    mixed += played.filter((one, at) => !isOwn(one, from + at)).length
    processor += processorSeconds(before)
    if (from === 0) heapBefore = heap()
  }
  return {
    calls: count * calls,
    mixed,
    processor,
    wall: (performance.now() - began) / 1000,
    peak: process.resourceUsage().maxRSS / 1024,
    heapBefore,
    heap: heap()
  } satisfies (typeof Measured)["Type"]
})

const layers = Layer.merge(layerExactMatch, Layer.provideMerge(layerGateway(limits), engine))
const measured = await bench.pipe(Effect.provide(layers), Effect.scoped, Effect.runPromise)
process.send?.(measured)
process.disconnect?.()
