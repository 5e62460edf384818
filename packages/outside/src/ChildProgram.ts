/** Programs that are started with lines on standard input: one to its end, or one that stays. */
import { Duration, Effect, type PlatformError, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { redacted } from "./Secrets.ts"

export type Command = readonly [program: string, ...args: ReadonlyArray<string>]

/** A program that was not run to its end. */
export class ProgramFailed extends Schema.TaggedError<ProgramFailed>()("ProgramFailed", {
  why: Schema.Literals(["cannot be run", "too late", "too long"]),
  reason: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {}

/** What a program wrote, `trouble` to standard error: its end, where it is long. */
export interface Finished {
  readonly code: number
  readonly output: string
  readonly trouble: string
}

export interface RunOptions {
  readonly command: Command
  readonly input: Iterable<string>
  readonly timeout: Duration.Input
  /** The most bytes of standard output. */
  readonly most: number
}

/** Runs a program with its whole input. It is killed with its children when it takes or writes too long, or nobody waits for it. */
export const run = Effect.fnUntraced(function* ({ command: [program, ...args], input, most, timeout }: RunOptions) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  return yield* Effect.gen(function* () {
    const stream = Stream.encodeText(Stream.fromIterable(input))
    const child = yield* spawner.spawn(ChildProcess.make(program, args, { stdin: { stream }, killSignal: "SIGKILL" }))
    const tooLong = new ProgramFailed({ why: "too long", reason: `wrote more than ${most} bytes` })
    const [output, trouble, code] = yield* Effect.all(
      [
        child.stdout.pipe(
          Stream.mapError(notRun),
          Stream.limitBytes(most, () => Stream.fail(tooLong)),
          Stream.decodeText,
          Stream.mkString
        ),
        tail(child.stderr),
        child.exitCode
      ],
      { concurrency: "unbounded" }
    )
    return { code, output, trouble } satisfies Finished
  }).pipe(
    Effect.scoped,
    Effect.mapError((error) => (error._tag === "ProgramFailed" ? error : notRun(error))),
    Effect.timeoutOrElse({
      duration: timeout,
      orElse: () =>
        Effect.fail(
          new ProgramFailed({
            why: "too late",
            reason: `did not end within ${Duration.format(Duration.fromInputUnsafe(timeout))}`
          })
        )
    })
  )
})

const notRun = (cause: PlatformError.PlatformError) =>
  new ProgramFailed({ why: "cannot be run", reason: `cannot be run: ${cause.message}`, cause })

const tail = <E>(bytes: Stream.Stream<Uint8Array, E>) =>
  bytes.pipe(
    Stream.decodeText,
    Stream.runFold(
      () => "",
      (kept, text) => keepEnd(kept + text)
    )
  )

/** The end of a text, as much as is kept of what a program reports, without secrets. */
export const keepEnd = (text: string): string => redacted(text).slice(-mostTrouble)

const mostTrouble = 64 * 1024

/** The last line that names an error, since Node ends with its version; without one, the last line. */
export const lastError = (trouble: string): string => {
  const lines = trouble.trimEnd().split("\n")
  return lines.findLast((line) => /error|exception/iu.test(line)) ?? lines.at(-1) ?? ""
}
