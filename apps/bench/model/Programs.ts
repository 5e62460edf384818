import { Effect, Stream } from "effect"
import { ChildProcess } from "effect/process"
import { fileURLToPath } from "node:url"
import * as Foreign from "../../../test/compatibility/support/Foreign.ts"

/** Waits for a program; fails if it does. */
export const ended = Effect.fnUntraced(function* (program: ChildProcess.Command) {
  yield* succeeded(yield* (yield* program).exitCode)
})

/** The standard output of a program; fails if it does. */
export const outputOf = Effect.fnUntraced(function* (program: ChildProcess.Command) {
  const { exitCode, stdout } = yield* program
  const text = yield* stdout.pipe(Stream.decodeText(), Stream.mkString)
  yield* succeeded(yield* exitCode)
  return text
}, Effect.scoped)

const succeeded = (code: number) =>
  code === 0
    ? Effect.void
    : Effect.fail(`The program failed with exit code ${code}, see above. Repeat the command to continue.`)

/** Writes the weights of a GGUF file into a directory of transformers, unless it exists. */
export const writeWeights = (model: string, directory: string) =>
  ended(ChildProcess.make(Foreign.python, [weights, model, directory], { stdout: "inherit", stderr: "inherit" }))

const weights = fileURLToPath(new URL("weights.py", import.meta.url))
