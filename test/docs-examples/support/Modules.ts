/** Modules that documents show, as they are written there. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { Effect } from "effect"
import { blocksOf } from "./Documents.ts"

/** What the first TypeScript block of a document that has a text exports. */
export const moduleOf = <A>(document: string, text = "export"): Effect.Effect<A> =>
  Effect.acquireUseRelease(
    Effect.sync(() => mkdtempSync(join(import.meta.dirname, ".module-"))),
    (folder) =>
      Effect.promise(async () => {
        const block = blocksOf(document).find(({ code, language }) => language === "ts" && code.includes(text))
        if (block === undefined) throw new Error(`${document}: no block with ${text}`)
        const file = join(folder, "module.ts")
        writeFileSync(file, block.code)
        const module: A = await import(pathToFileURL(file).href)
        return module
      }),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true }))
  )
