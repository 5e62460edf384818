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

/** The command line of this checkout. */
export const inspo = (args: ReadonlyArray<string>, stdout: Stdout) => node(cli, args, stdout)

/** A study of this checkout. */
export const research = (args: ReadonlyArray<string>, stdout: Stdout) => node(studies, args, stdout)

type Stdout = "ignore" | "inherit" | "pipe"

const node = (program: string, args: ReadonlyArray<string>, stdout: Stdout) =>
  ChildProcess.make(process.execPath, [program, ...args], {
    stdin: "inherit",
    stdout,
    stderr: "inherit",
    detached: false
  })

const cli = fileURLToPath(new URL("../../../apps/cli/src/main.ts", import.meta.url))

const studies = fileURLToPath(new URL("../cli/main.ts", import.meta.url))

/** The flags of settings, each as `KEY=VALUE`. */
export const setFlags = (settings: ReadonlyArray<string>) => settings.flatMap((one) => ["--set", one])

/** Writes the weights of a GGUF file into a directory of transformers, unless it exists. */
export const writeWeights = (model: string, directory: string) =>
  ended(ChildProcess.make(Foreign.python, [weights, model, directory], { stdout: "inherit", stderr: "inherit" }))

const weights = fileURLToPath(new URL("weights.py", import.meta.url))
