import { createHash } from "node:crypto"
import { createRequire } from "node:module"
import { dirname, sep } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect, FileSystem, Schema } from "effect"
import { folder } from "../Program.ts"

/** The hash of a bundle, which has no sources. */
declare const INSPO_BUNDLED_CODE: string | undefined

/** Packages whose code cannot change the results of a run. */
const indifferent: ReadonlySet<string> = new Set(["@inspo/evolve", "@inspo/journal", "@inspo/http"])

/** SHA-256 of the sources that decide the results of a run: all packages of this project that the program uses, without their tests. */
export const codeHash = Effect.fn("CodeHash.codeHash")(function* () {
  if (typeof INSPO_BUNDLED_CODE === "string") return INSPO_BUNDLED_CODE
  const fs = yield* FileSystem.FileSystem
  const own = fileURLToPath(new URL("package.json", folder))
  const manifests = new Map<string, string>()
  const open = yield* dependencies(own)
  for (const { from, name } of open) {
    if (manifests.has(name) || indifferent.has(name)) continue
    const manifest = createRequire(from).resolve(`${name}/package.json`)
    manifests.set(name, manifest)
    open.push(...(yield* dependencies(manifest)))
  }
  const hash = createHash("sha256")
  for (const [name, manifest] of [...manifests].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    const directory = `${dirname(manifest)}/src`
    const entries = yield* fs.readDirectory(directory, { recursive: true })
    // The same names on every system.
    const files = entries.map((entry) => entry.replaceAll(sep, "/"))
    for (const file of files.filter((entry) => entry.endsWith(".ts")).toSorted()) {
      hash.update(`${name}/${file}\0`).update(yield* fs.readFile(`${directory}/${file}`))
    }
  }
  return hash.digest("hex")
})

/** The packages of this project that a manifest names, each with the manifest that names it. */
const dependencies = Effect.fnUntraced(function* (manifest: string) {
  const fs = yield* FileSystem.FileSystem
  const { dependencies: named = {} } = yield* decode(yield* fs.readFileString(manifest))
  return Object.keys(named)
    .filter((name) => name.startsWith("@inspo/"))
    .map((name) => ({ name, from: manifest }))
})

const decode = Schema.decodeEffect(
  Schema.fromJsonString(
    Schema.Struct({ dependencies: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)) })
  )
)
