/** Writes docs/reference, and the tables of pages from results files. */
import { fileURLToPath } from "node:url"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { Effect, FileSystem } from "effect"
import { filled, pages as withFigures } from "./figures.ts"
import { pages } from "./pages.ts"

const root = fileURLToPath(new URL("../..", import.meta.url))
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
  for (const page of withFigures)
    yield* fs.writeFileString(`${root}/${page}`, filled(page, yield* fs.readFileString(`${root}/${page}`)))
}).pipe(Effect.provide(NodeServices.layer), NodeRuntime.runMain)
