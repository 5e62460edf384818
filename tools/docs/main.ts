/** Writes docs/reference. */
import { fileURLToPath } from "node:url"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem } from "effect"
import { pages } from "./pages.ts"

const directory = fileURLToPath(new URL("../../docs/reference", import.meta.url))

Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  yield* fs.makeDirectory(directory, { recursive: true })
  yield* Effect.forEach(
    Object.entries(yield* pages),
    ([name, text]) => fs.writeFileString(`${directory}/${name}`, text),
    {
      discard: true
    }
  )
}).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
