import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect, Stream } from "effect"
import { ChildProcess } from "effect/process"
import * as Foreign from "./Foreign.ts"
import * as SkyRL from "./SkyRL.ts"

/** The folder of a Llama of random weights, until the scope ends. */
export const tinyModel = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "inspo-torch-"))),
  (folder) => Effect.promise(() => rm(folder, { recursive: true, force: true }))
).pipe(Effect.tap((folder) => Effect.promise(() => SkyRL.writeModel(folder))))

/** Serves a model by a Python program of the studies, on a free port, until the scope ends; returns the base URL. */
export const serving = Effect.fn("Torch.serving")(function* (name: string, args: ReadonlyArray<string>) {
  const program = fileURLToPath(new URL(`../../../research/studies/model/${name}`, import.meta.url))
  const { stdout } = yield* ChildProcess.make(Foreign.python, [program, ...args, "--port", "0"], {
    stderr: "inherit",
    // A signal to the process group ends the server too.
    detached: false
  })
  // Printed once the port is open.
  const lines = yield* stdout.pipe(Stream.decodeText(), Stream.splitLines, Stream.take(1), Stream.runCollect)
  const url = /http:\S+/u.exec(lines[0] ?? "")?.[0]
  return url === undefined ? yield* Effect.fail("The server ended before it was ready, see above.") : url
})
