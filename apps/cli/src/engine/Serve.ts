import * as LocalEngine from "@inspo/engine-local"
import { ModelFolder } from "@inspo/engine-local"
import { Catalog } from "@inspo/engine-tinker"
import * as TinkerServer from "@inspo/engine-tinker/server"
import { Effect, FileSystem, Layer, Option, Path, type PlatformError } from "effect"
import { commandFailure, usageError } from "../Failure.ts"
import { type Address, admission, listen } from "../server/Listen.ts"
import * as Reporter from "../terminal/Reporter.ts"

export interface ServeInput extends Address {
  readonly name: string
  readonly model: Option.Option<string>
  readonly checkpoints: string
  /** The run whose agents are served instead. */
  readonly gateway: Option.Option<string>
}

/** Serves the embedded engine until it is interrupted. One line shows that it is ready, and where it stores checkpoints. */
export const serve = Effect.fn("Serve.serve")(function* (input: ServeInput) {
  const { gateway, name } = input
  if (Option.isSome(gateway)) {
    const { serveBeside } = yield* Effect.promise(() => import("./Gateway.ts"))
    return yield* serveBeside(input, gateway.value)
  }
  if (name === "") return yield* usageError("--name is empty, expected the name of a model.")
  const apiKey = yield* admission(input)
  const path = yield* Path.Path
  const checkpoints = path.resolve(input.checkpoints)
  yield* makeIgnored(checkpoints).pipe(Effect.mapError(unusable(checkpoints)))
  const catalog = yield* Catalog.file(path.join(checkpoints, "catalog.json")).pipe(
    Effect.mapError((cause) => commandFailure(`${cause.message}.`, cause))
  )

  const model = path.resolve(Option.getOrElse(input.model, () => ModelFolder.shipped))
  const routes = TinkerServer.routes.pipe(
    Layer.provide(TinkerServer.layer({ model: name, catalog, apiKey, tokenizer: model })),
    Layer.provide(LocalEngine.layer({ checkpoints, model }))
  )
  const url = yield* listen("engine", input, routes, {
    keys: apiKey === undefined ? [] : [apiKey],
    maxBodyBytes: TinkerServer.limits.bodyBytes
  })
  yield* Reporter.print({ url, model: name, checkpoints }, () => [`${name} at ${url}, checkpoints in ${checkpoints}`])
  return yield* Effect.never
}, Effect.scoped)

/** Creates a missing folder with a `.gitignore` of everything in it: checkpoints do not belong in a repository. */
const makeIgnored = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  if (yield* fs.exists(folder)) return
  yield* fs.makeDirectory(folder, { recursive: true })
  yield* fs.writeFileString(path.join(folder, ".gitignore"), "*\n")
})

const unusable = (folder: string) => (error: PlatformError.PlatformError) =>
  commandFailure(`The directory ${folder} cannot be used (${error.reason._tag}). Choose another with --checkpoints.`)
