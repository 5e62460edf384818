import { Schema } from "effect"

/** The stored work of a run does not match its events, settings or data; nothing was changed. */
export class RunMismatch extends Schema.TaggedError<RunMismatch>()("RunMismatch", { reason: Schema.String }) {
  override get message() {
    return `run: ${this.reason}`
  }
}
