import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises"
import { dirname } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect, FileSystem, Option, Schema } from "effect"

export class AssetsError extends Schema.TaggedError<AssetsError>()("AssetsError", { reason: Schema.String }) {
  override get message() {
    return `dashboard: the page cannot be built: ${this.reason}. Install the packages again and retry`
  }
}

/** The folder of the built page; a published package includes it. */
export const folder = fileURLToPath(new URL("../dist/page", import.meta.url))

/** Builds the page if it is missing or older than its sources, after `onBuild`. A published package has no sources, and builds nothing. */
export const ensure = Effect.fn("Assets.ensure")(function* (onBuild: Effect.Effect<void>) {
  const fs = yield* FileSystem.FileSystem
  if (!(yield* Effect.orDie(fs.exists(sources)))) return
  const changed = yield* Effect.orElseSucceed(latestChange([sources, shared]), () => Infinity)
  const built = yield* Effect.orElseSucceed(modified(`${folder}/index.html`), () => 0)
  if (built > changed) return
  yield* onBuild
  yield* build
})

/** The file of the page where a server has populations; `index.html` is that where it has runs and searches. */
export const populations = "populations.html"

/** Builds the page, in about two seconds. Several processes may do so at once. */
export const build = Effect.tryPromise({
  try: async () => {
    const vite = await import("vite")
    await mkdir(dirname(folder), { recursive: true })
    const own = await mkdtemp(`${folder}-`)
    const made = `${own}/page`
    try {
      await vite.build({
        configFile: false,
        root: sources,
        base: "./",
        logLevel: "error",
        // Also in a process with another environment, such as a test.
        define: { "process.env.NODE_ENV": JSON.stringify("production") },
        oxc: { jsx: { runtime: "automatic", development: false } },
        build: {
          outDir: made,
          chunkSizeWarningLimit: 2000,
          modulePreload: { polyfill: false },
          rolldownOptions: {
            // No module relies on a getter that does something when it is loaded: 3 kB less of unused code.
            treeshake: { propertyReadSideEffects: false }
          }
        }
      })
      await forPopulations(made)
      // If another process has built the page meanwhile, that one is kept: it is the same.
      await rename(folder, `${own}/old`).catch(unless("ENOENT"))
      await rename(made, folder).catch(unless("ENOTEMPTY", "EEXIST"))
    } finally {
      await rm(own, { recursive: true, force: true })
    }
  },
  catch: (cause) => new AssetsError({ reason: cause instanceof Error ? cause.message : String(cause) })
}).pipe(Effect.withSpan("Assets.build"))

const unless =
  (...codes: ReadonlyArray<string>) =>
  (error: NodeJS.ErrnoException) => {
    if (!codes.includes(error.code ?? "")) throw error
  }

const forPopulations = async (made: string) => {
  const page = await readFile(`${made}/index.html`, "utf8")
  await writeFile(`${made}/${populations}`, page.replace('data-source="runs"', 'data-source="populations"'))
}

const sources = fileURLToPath(new URL("../page", import.meta.url))

/** The sources that the page shares with the server. */
const shared = fileURLToPath(new URL(".", import.meta.url))

const latestChange = Effect.fnUntraced(function* (folders: ReadonlyArray<string>) {
  const fs = yield* FileSystem.FileSystem
  const files = yield* Effect.forEach(folders, (folder) =>
    Effect.map(fs.readDirectory(folder, { recursive: true }), (names) => names.map((name) => `${folder}/${name}`))
  )
  return Math.max(...(yield* Effect.forEach(files.flat(), modified, { concurrency: 16 })))
})

const modified = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const { mtime } = yield* fs.stat(file)
  return Option.match(mtime, { onNone: () => 0, onSome: (date) => date.getTime() })
})
