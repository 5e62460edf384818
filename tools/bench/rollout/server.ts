/** The null engine behind our server: `server.ts CASE`. Sends its URL to its parent, and its processor time on request. */
// As the command line does.
import "effect/schema/SchemaJITCompiler/enable"
import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Catalog } from "@inspo/engine-tinker"
import * as TinkerServer from "@inspo/engine-tinker/server"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { processorSeconds } from "../Measure.ts"
import * as Environment from "./Environment.ts"
import * as NullEngine from "./NullEngine.ts"
import { isCase } from "./Shape.ts"

const [name = ""] = process.argv.slice(2)
if (!isCase(name)) throw new RangeError(`no case ${name}`)
const environment = Environment.make(name)

const send = (message: object) =>
  process.send === undefined ? void process.stdout.write(`${JSON.stringify(message)}\n`) : void process.send(message)

process.on("message", () => send({ processor: processorSeconds() }))
process.on("disconnect", () => process.exit())

await Effect.gen(function* () {
  const catalog = yield* Catalog.memory
  const routes = TinkerServer.routes.pipe(
    Layer.provide(TinkerServer.layer({ model: "null", catalog })),
    Layer.provide(NullEngine.layer(environment.tokenizer, environment.turns))
  )
  const context = yield* Layer.build(
    HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
      Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
    )
  )
  const { address } = yield* Effect.provideContext(HttpServer.HttpServer, context)
  send({ url: `http://127.0.0.1:${"port" in address ? address.port : 0}` })
  return yield* Effect.never
}).pipe(Effect.scoped, Effect.runPromise)
