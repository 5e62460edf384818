import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { describe, it } from "@effect/vitest"
import { EngineLaws } from "@inspo/engine/testing"
import * as CompletionsEngine from "@inspo/engine-completions/CompletionsEngine"
import * as HuggingFaceTokenizer from "@inspo/engine/HuggingFaceTokenizer"
import { Effect, Layer, Schedule } from "effect"
import { HttpClient } from "effect/http"
import { freePort } from "../cli/FreePort.ts"
import * as Foreign from "./support/Foreign.ts"
import * as SkyRL from "./support/SkyRL.ts"
import * as NodeServices from "@effect/platform-node/NodeServices"

const program = fileURLToPath(new URL("../../apps/bench/model/sample.py", import.meta.url))

/** The sampler of the studies over a Llama of random weights, until the scope ends. */
const serving = Effect.gen(function* () {
  const folder = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "inspo-sample-"))),
    (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
  )
  yield* Effect.promise(() => SkyRL.writeModel(folder))
  const port = yield* Effect.promise(freePort)
  yield* Effect.acquireRelease(
    Effect.sync(() =>
      spawn(Foreign.python, [program, "--model", folder, "--port", String(port)], {
        stdio: ["ignore", "ignore", "inherit"]
      })
    ),
    (child) =>
      Effect.promise(async () => {
        child.kill()
        if (child.exitCode === null && child.signalCode === null) await once(child, "close")
      })
  )
  const url = `http://127.0.0.1:${port}`
  yield* HttpClient.get(`${url}/v1/models`).pipe(
    Effect.retry(Schedule.max([Schedule.spaced("200 millis"), Schedule.during("1 minute")]))
  )
  return { folder, url }
})

describe.skipIf(Foreign.problem !== null)("the sampler of the studies", () => {
  it.live(
    "is a frozen engine that holds to the laws",
    () =>
      Effect.gen(function* () {
        const { folder, url } = yield* serving
        const tokenizer = yield* HuggingFaceTokenizer.read(folder)
        const context = yield* Layer.build(CompletionsEngine.layer({ url, tokenizer }))
        for (const { check } of EngineLaws.laws()) yield* Effect.provideContext(check, context)
      }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, NodeHttpClient.layerUndici])),
    300_000
  )
})
