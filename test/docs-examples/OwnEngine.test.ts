import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { it } from "@effect/vitest"
import { laws } from "@inspo/engine/testing/EngineLaws"
import * as TabularEngine from "@inspo/engine/testing/TabularEngine"
import { Effect, Layer } from "effect"
import { blocksOf } from "./support/Documents.ts"
import type { OwnEngine } from "./support/OwnEngine.ts"

/** The module of the page, as it is written there. */
const page = Effect.acquireUseRelease(
  Effect.sync(() => mkdtempSync(join(import.meta.dirname, ".own-engine-"))),
  (folder) =>
    Effect.promise(async () => {
      const [block] = blocksOf("docs/how-to/own-engine.md")
      const file = join(folder, "engine.ts")
      writeFileSync(file, block?.code ?? "")
      const module: OwnEngine = await import(pathToFileURL(file).href)
      return module
    }),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
)

/** The engine of the page over the sampler of a small model. */
const engine = Layer.unwrap(
  Effect.gen(function* () {
    const { profile, sample, tokenizer } = yield* TabularEngine.make
    const { layer } = yield* page
    return layer(
      {
        contextLength: profile.contextLength,
        generate: (request) =>
          Effect.runPromise(
            Effect.map(sample([{ ...request, n: 1 }]), ([result]) => {
              const [sequence] = result?.sequences ?? []
              if (sequence === undefined) throw new Error("no sequence")
              return sequence
            })
          )
      },
      tokenizer
    )
  })
)

it.layer(engine)("the engine of docs/how-to/own-engine.md", (it) => {
  for (const { check, name } of laws()) it.effect(name, () => check)
})
