import { createRequire } from "node:module"
import os from "node:os"
import { DatabaseSync } from "node:sqlite"
import { Presets } from "@inspo/config"
import { Engine } from "@inspo/engine"
import { Cause, Effect, FileSystem } from "effect"
import { CommandFailure } from "../Failure.ts"
import { layerEngine } from "../layers.ts"
import * as Reporter from "../terminal/Reporter.ts"
import * as Models from "./Models.ts"

/** One thing a run needs, or can use where it is not required, whether it is there, and what was found. */
export interface Check {
  readonly name: string
  readonly ok: boolean
  readonly required: boolean
  readonly detail: string
}

/** Checks what a run needs, one line each, and which proposers it could use; fails when something needed is missing. */
export const diagnose = Effect.fn("Doctor.diagnose")(function* (input: { readonly json: boolean }) {
  const needed = yield* Effect.all([node, cores, memory, onnxruntime, engine, fullTextSearch, writable])
  const checks = [...needed, ...(yield* proposers)]
  const missing = needed.filter(({ ok }) => !ok)
  yield* Reporter.print(input.json, { ok: missing.length === 0, checks }, () =>
    checks.map(({ detail, name, ok, required }) => `${mark(ok, required)}${name.padEnd(28)}${detail}`)
  )
  if (missing.length > 0)
    return yield* new CommandFailure({
      problem: `This machine lacks what a run needs: ${missing.map(({ name }) => name).join(", ")}.`
    })
})

const mark = (ok: boolean, required: boolean): string => (ok ? "ok      " : required ? "missing " : "absent  ")

const proposers = Effect.map(Models.probeAll, (found) =>
  found.map(({ detail, ok, provider }): Check => ({ name: `proposer ${provider}`, ok, required: false, detail }))
)

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

const onnxruntime = attempt(
  "onnxruntime",
  Effect.map(
    // The engine's dependency, found from where the engine is.
    Effect.try(() => createRequire(import.meta.resolve("@inspo/engine-local/package.json"))("onnxruntime-node")),
    () => "loads"
  )
)

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

const fullTextSearch = attempt(
  "SQLite with FTS5",
  Effect.try(() => {
    const database = new DatabaseSync(":memory:")
    database.exec("CREATE VIRTUAL TABLE probe USING fts5(text)")
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
