/** A gateway beside that of the run, in a process of its own: `branch.ts URL`. Sends its URL, and then the seconds of its processor. */
// As the command line does.
import "effect/schema/SchemaJITCompiler/enable"
import { createServer } from "node:http"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Branch, layer as layerGateway } from "@inspo/gateway"
import { Effect, Layer } from "effect"
import { HttpClient, HttpClientRequest, HttpRouter, HttpServer } from "effect/http"
import { processorSeconds } from "../Measure.ts"
import { engine, limits } from "./Served.ts"

const [run = ""] = process.argv.slice(2)

const serve = Effect.gen(function* () {
  const client = yield* HttpClient.HttpClient
  const { routes } = yield* Branch.make({
    setting: "null",
    timeout: "10 minutes",
    ask: (path, body) =>
      client.execute(HttpClientRequest.bodyJsonUnsafe(HttpClientRequest.post(`${run}${path}`), body)).pipe(
        Effect.filterOrFail(({ status }) => status === 200),
        Effect.flatMap(({ text }) => text),
        Effect.mapError(() => ({ reason: "no answer", status: 502 }))
      )
  })
  const server = yield* HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provideMerge(
      NodeHttpServer.layer(() => createServer({ keepAliveTimeout: 600_000 }), { port: 0, host: "127.0.0.1" })
    ),
    Layer.build
  )
  const { address } = yield* Effect.provideContext(HttpServer.HttpServer, server)
  const before = process.cpuUsage()
  process.on("message", () => process.send?.(processorSeconds(before), () => process.exit()))
  process.send?.(`http://127.0.0.1:${"port" in address ? address.port : 0}`)
  return yield* Effect.never
})

await serve.pipe(
  Effect.provide([Layer.provideMerge(layerGateway(limits), engine), NodeHttpClient.layerUndici]),
  Effect.scoped,
  Effect.runPromise
)
