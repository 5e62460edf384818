import * as PlainText from "@inspo/domain/PlainText"
import { Schema } from "effect"

/** The agent fails, so no prompt can be compared. What was answered so far is in the file of the search. */
export class AgentFailed extends Schema.TaggedError<AgentFailed>()("AgentFailed", {
  case: Schema.Int,
  attempts: Schema.Int,
  cause: Schema.Defect()
}) {
  override get message() {
    return `the agent failed on case ${this.case} after ${this.attempts} ${this.attempts === 1 ? "attempt" : "attempts"}: ${describe(this.cause)}`
  }
}

/** The score of an output is missing or invalid. The output was paid for and is in the file of the search: it is scored again from there. */
export class ScoreFailed extends Schema.TaggedError<ScoreFailed>()("ScoreFailed", {
  case: Schema.Int,
  cause: Schema.Defect()
}) {
  override get message() {
    return `score of case ${this.case}: ${describe(this.cause)}`
  }
}

/** The file of a search cannot be read, written, or continued with these options. */
export class FileFailed extends Schema.TaggedError<FileFailed>()("FileFailed", {
  file: Schema.String,
  problem: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return `${this.file}: ${this.problem}`
  }
}

/** What a cause says, without characters that a terminal would obey: it may quote what a model wrote. */
export const describe = (cause: unknown): string =>
  PlainText.escape(cause instanceof Error ? cause.message : String(cause))
