import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect, Schedule } from "effect"
import { HttpClient } from "effect/http"
import { freePort } from "../../cli/FreePort.ts"
import * as Foreign from "./Foreign.ts"
import * as SkyRL from "./SkyRL.ts"

/** The folder of a Llama of random weights, until the scope ends. */
export const tinyModel = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "inspo-torch-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
).pipe(Effect.tap((folder) => Effect.promise(() => SkyRL.writeModel(folder))))

/** Serves a model by a Python program of the studies until the scope ends, and returns the base URL once `path` answers. */
export const serving = Effect.fnUntraced(function* (name: string, args: ReadonlyArray<string>, path: string) {
  const program = fileURLToPath(new URL(`../../../apps/bench/model/${name}`, import.meta.url))
  const port = yield* Effect.promise(freePort)
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(Foreign.python, [program, ...args, "--port", String(port)], { stdio: ["ignore", "ignore", "inherit"] })
    ),
    (child) =>
      Effect.promise(async () => {
        child.kill()
        if (child.exitCode === null && child.signalCode === null) await once(child, "close")
      })
  )
  const url = `http://127.0.0.1:${port}`
  yield* HttpClient.get(`${url}/${path}`).pipe(
    Effect.retry(Schedule.max([Schedule.spaced("200 millis"), Schedule.during("1 minute")]))
  )
  return url
})
