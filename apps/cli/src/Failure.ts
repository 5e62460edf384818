import { Runtime, Schema } from "effect"

/** The command or its config cannot be used as given; nothing was started. Exit code 2. */
export class UsageError extends Schema.TaggedError<UsageError>()("UsageError", { problem: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 2
  override readonly [Runtime.errorReported] = false
  override get message() {
    return this.problem
  }
}

/** What was asked for was started and failed, or its material cannot be used. Exit code 1. */
export class CommandFailure extends Schema.TaggedError<CommandFailure>()("CommandFailure", { problem: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
  override readonly [Runtime.errorReported] = false
  override get message() {
    return this.problem
  }
}
