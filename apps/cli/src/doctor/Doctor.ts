import { createRequire } from "node:module"
import os from "node:os"
import { DatabaseSync } from "node:sqlite"
import { Presets } from "@inspo/config"
import { Engine } from "@inspo/engine"
import { Provider, providers } from "@inspo/reflection/models"
import { Cause, Config, Effect, FileSystem, Option, type Redacted } from "effect"
import { FetchHttpClient } from "effect/http"
import { commandFailure } from "../Failure.ts"
import { layerEngine } from "../layers.ts"
import * as Reporter from "../terminal/Reporter.ts"

/** One thing a run needs, or can use where it is not required, whether it is there, and what was found. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly required: boolean
  readonly detail: string
}

/** Checks what a run needs, and which proposers it could use; fails when something required is missing. */
export const diagnose = Effect.fn("Doctor.diagnose")(function* () {
  const needed = yield* Effect.all([node, cores, memory, ...embedded(), sqlite, writable])
  const checks = [...needed, ...(yield* proposers)]
  const missing = needed.filter(({ ok, required }) => required && !ok)
  yield* Reporter.print({ ok: missing.length === 0, checks }, () =>
    checks.map(({ detail, name, ok, required }) => `${mark(ok, required)}${name.padEnd(28)}${detail}`)
  )
  if (missing.length > 0)
    return yield* commandFailure(`This machine lacks what a run needs: ${missing.map(({ name }) => name).join(", ")}.`)
})

const mark = (ok: boolean, required: boolean): string => (ok ? "ok      " : required ? "missing " : "absent  ")

const gibibyte = 1024 ** 3

const node = Effect.sync((): Check => {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number)
  const ok = major > 22 || (major === 22 && minor >= 19)
  return { name: "Node.js", ok, required: true, detail: `${process.version}, 22.19 or later is needed` }
})

const cores = Effect.sync((): Check => {
  const count = os.availableParallelism()
  return {
    name: "processor",
    ok: true,
    required: true,
    detail: `${count} ${count === 1 ? "core" : "cores"}, ${os.arch()}`
  }
})

const memory = Effect.sync((): Check => {
  const total = os.totalmem() / gibibyte
  return { name: "memory", ok: total >= 2, required: true, detail: `${total.toFixed(1)} GiB, a run needs up to 2` }
})

/** The embedded engine is an option: without its runtime, runs use the engine of a server. */
const embedded = () => {
  const runtime = runtimeOf()
  if (runtime !== null) return [attempt("onnxruntime", Effect.as(Effect.try(runtime), "loads")), engine]
  const detail = "onnxruntime-node is not installed: npm install onnxruntime-node"
  return [Effect.succeed<Check>({ name: "embedded engine", ok: false, required: false, detail })]
}

/** Loads the runtime; null where it is not installed. It is found from where the engine is: its package, or a bundle. */
const runtimeOf = () => {
  for (const place of [() => import.meta.resolve("@inspo/engine-local/package.json"), () => import.meta.url])
    try {
      const require = createRequire(place())
      require.resolve("onnxruntime-node")
      return (): unknown => require("onnxruntime-node")
    } catch {}
  return null
}

const engine = attempt(
  "embedded engine",
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const checkpoints = yield* fs.makeTempDirectoryScoped()
    return yield* Effect.map(Engine, ({ profile }) => `${profile.model} starts, ${profile.parameters} parameters`).pipe(
      Effect.provide(layerEngine(Presets.quick, checkpoints))
    )
  }).pipe(Effect.scoped)
)

const sqlite = attempt(
  "SQLite",
  Effect.try(() => {
    const database = new DatabaseSync(":memory:")
    database.exec("CREATE TABLE probe (text TEXT)")
    database.close()
    return "works"
  })
)

const writable = attempt(
  "working directory",
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    yield* fs.makeTempDirectoryScoped({ directory: "." })
    return `${process.cwd()} is writable`
  }).pipe(Effect.scoped)
)

function attempt<E, R>(name: string, effect: Effect.Effect<string, E, R>): Effect.Effect<Check, never, R> {
  return Effect.matchCause(effect, {
    onSuccess: (detail) => ({ name, ok: true, required: true, detail }),
    onFailure: (cause) => {
      const error = Cause.squash(cause)
      return { name, ok: false, required: true, detail: error instanceof Error ? error.message : String(error) }
    }
  })
}

/**
 * Asks every provider whose key the environment holds for its list of models, which costs no token. A server of chat
 * completions is asked where `OPENAI_BASE_URL` says there is one.
 */
const proposers = Effect.forEach(
  Object.values(providers),
  (provider) => (provider.url === null ? probeOwn(provider) : probeHosted(provider)),
  { concurrency: "unbounded" }
)

const probeHosted = Effect.fnUntraced(function* (provider: Provider.Provider) {
  const variable = provider.apiKeyEnv ?? ""
  const key = yield* secret(variable)
  return Option.isNone(key)
    ? optional(provider, false, `not set up: ${variable} is not set`)
    : yield* probe(provider, null, key, `accepts the key in ${variable}`)
})

const probeOwn = Effect.fnUntraced(function* (provider: Provider.Provider) {
  const url = yield* Effect.option(Config.String("OPENAI_BASE_URL"))
  return Option.isNone(url)
    ? optional(provider, false, "not set up: OPENAI_BASE_URL is not set")
    : yield* probe(provider, url.value, yield* secret("OPENAI_API_KEY"), "answers at OPENAI_BASE_URL")
})

const probe = (provider: Provider.Provider, url: string | null, key: Option.Option<Redacted.Redacted>, found: string) =>
  Provider.probe(provider, { url, apiKey: Option.getOrNull(key), timeout: "10 seconds" }).pipe(
    Effect.provide(FetchHttpClient.layer),
    Effect.match({
      onSuccess: () => optional(provider, true, found),
      onFailure: (error) => optional(provider, false, Provider.explain(error))
    })
  )

const secret = (variable: string) => Effect.option(Config.Redacted(variable))

const optional = ({ name }: Provider.Provider, ok: boolean, detail: string): Check => ({
  name: `proposer ${name}`,
  ok,
  required: false,
  detail
})
