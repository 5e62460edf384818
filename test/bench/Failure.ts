import { Runtime, Schema } from "effect"

/** The command cannot be used as given. Exit code 2. */
export class UsageError extends Schema.TaggedError<UsageError>()("UsageError", { problem: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 2
  override readonly [Runtime.errorReported] = false
  override get message() {
    return this.problem
  }
}

/** A figure is worse than it may be, or could not be measured. Exit code 1. */
export class BenchFailure extends Schema.TaggedError<BenchFailure>()("BenchFailure", { problem: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
  override readonly [Runtime.errorReported] = false
  override get message() {
    return this.problem
  }
}
