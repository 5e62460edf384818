import { Effect, PlatformError, Predicate, Runtime, Schema } from "effect"

const fields = { problem: Schema.String, cause: Schema.optionalKey(Schema.Defect()) }

/** The command, its config or a file that it names cannot be used as given; nothing was started. Exit code 2. */
export class UsageError extends Schema.TaggedError<UsageError>()("UsageError", fields) {
  override readonly [Runtime.errorExitCode] = 2
  override readonly [Runtime.errorReported] = false
  override get message() {
    return this.problem
  }
}

/** What was asked for was started and failed, or the run that it names cannot be used. Exit code 1. */
export class CommandFailure extends Schema.TaggedError<CommandFailure>()("CommandFailure", fields) {
  override readonly [Runtime.errorExitCode] = 1
  override readonly [Runtime.errorReported] = false
  override get message() {
    return this.problem
  }
}

export const usageError = (problem: string, cause?: unknown): UsageError =>
  new UsageError({ problem, ...(cause === undefined ? {} : { cause }) })

export const commandFailure = (problem: string, cause?: unknown): CommandFailure =>
  new CommandFailure({ problem, ...(cause === undefined ? {} : { cause }) })

/** What `--require` asks for is not met: the contrary is shown (exit code 3), or neither is (4). All files are written. */
export class Unmet extends Schema.TaggedError<Unmet>()("Unmet", { problem: Schema.String, isShown: Schema.Boolean }) {
  override get [Runtime.errorExitCode]() {
    return this.isShown ? 3 : 4
  }
  override readonly [Runtime.errorReported] = false
  override get message() {
    return this.problem
  }
}

/** Fails with {@link Unmet} unless a requirement is met; null where neither it nor the contrary is shown. */
export const assertMet = (requirement: string, isMet: boolean | null): Effect.Effect<void, Unmet> =>
  isMet === true
    ? Effect.void
    : Effect.fail(
        new Unmet({
          problem: `--require ${requirement} is ${isMet === false ? "not met" : "undecided"}.`,
          isShown: isMet === false
        })
      )

export const oneLine = (text: string): string => text.replaceAll(/\s+/gu, " ").trim()

/** A file of ours that cannot be read or written: its name, what the system says and what to do about it. */
export const fileFailure = (file: string, what: "read" | "written", cause: PlatformError.PlatformError) =>
  commandFailure(`${file} cannot be ${what} (${systemWords(cause)}).${remedy(cause)}`, cause)

/** What the operating system said, where it did: `ENOSPC: no space left on device`. */
export const systemWords = ({ message, reason }: PlatformError.PlatformError): string =>
  reason.cause instanceof Error ? reason.cause.message.replace(/, [a-z]+(?: '[^']*'.*)?$/u, "") : message

/** How to fix what an error, or what caused it, says by a code or field; empty where it says none. */
export const remedy = (error: unknown): string => {
  if (!(error instanceof Error)) return ""
  if (Predicate.isTagged(error, "JournalError") && Predicate.hasProperty(error, "intactEvents"))
    return " Restore the journal from a backup, or start the run again."
  const known = Predicate.hasProperty(error, "code") ? remedies.get(error.code) : undefined
  return known === undefined
    ? remedy(error instanceof PlatformError.PlatformError ? error.reason.cause : error.cause)
    : ` ${known} and try again; a run that has begun continues with \`inspo resume\`.`
}

const remedies: ReadonlyMap<unknown, string> = new Map([
  ["EACCES", "Let this user read and write there"],
  ["ENOSPC", "The disk is full: make room there"],
  ["EDQUOT", "The disk quota is used up: make room there"]
])
