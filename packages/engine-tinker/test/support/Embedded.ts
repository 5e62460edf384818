import { mkdtemp, rm } from "node:fs/promises"
import { createServer } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Engine } from "@inspo/engine"
import * as HuggingFaceTokenizer from "@inspo/engine/HuggingFaceTokenizer"
import * as LocalEngine from "@inspo/engine-local"
import { ModelConfig, ModelFolder, TokenizerFiles } from "@inspo/engine-local"
import { Catalog } from "@inspo/engine-tinker"
import * as Server from "@inspo/engine-tinker/server"
import * as TinkerEngine from "@inspo/engine-tinker"
import { Effect, Layer } from "effect"
import { HttpRouter, HttpServer } from "effect/http"

/** A folder that is removed with the scope. */
export const temporaryFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "inspo-tinker-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
)

/** A transformer of the embedded kind, small and of random weights, in a folder of its own below `folder`. */
const writeModel = Effect.fnUntraced(function* (folder: string) {
  const tokenizerFiles = TokenizerFiles.makeTokenizerFiles(
    "The mayor of Ostrel Bay is born in Question Answer Who . ?".split(" ")
  )
  const model = {
    vocabulary: HuggingFaceTokenizer.fromFiles(tokenizerFiles).vocabularySize,
    width: 32,
    layers: 1,
    heads: 2,
    keyValueHeads: 1,
    feedForward: 2,
    context: 160
  }
  const path = join(folder, "model")
  // Sharper than initial weights are, so that samples differ in likelihood.
  const parameters = ModelConfig.initialParameters(model, "test").map((value) => 1.5 * value)
  yield* ModelFolder.write(path, { name: "random", model, parameters, tokenizerFiles })
  return path
})

/** That model, behind a server that listens, behind the client; what clients save lies in `folder`. */
export const overHttp = (folder: string, encoding: "json" | "protobuf") =>
  Layer.unwrap(
    Effect.gen(function* () {
      const model = yield* writeModel(folder)
      const checkpoints = join(folder, "checkpoints")
      const local = yield* Layer.build(LocalEngine.layer({ model, checkpoints, workers: 1 }))
      const catalog = yield* Catalog.file(join(folder, "catalog.json"))
      const { tokenizer } = yield* Effect.provideContext(Engine, local)
      const routes = Server.routes.pipe(
        Layer.provide(Server.layer({ model: "inspo-tiny", catalog })),
        Layer.provide(Layer.succeedContext(local))
      )
      const server = HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
        Layer.provideMerge(NodeHttpServer.layer(createServer, { port: 0, host: "127.0.0.1" }))
      )
      const { address } = yield* Effect.provideContext(HttpServer.HttpServer, yield* Layer.build(server))
      const port = "port" in address ? address.port : 0
      return TinkerEngine.layer({ url: `http://127.0.0.1:${port}`, tokenizer, encoding })
    })
  ).pipe(Layer.provide([NodeHttpClient.layerUndici, NodeServices.layer]))
