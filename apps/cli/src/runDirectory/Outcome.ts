import { Effect, FileSystem, Schema } from "effect"
import { Baseline } from "../report/Summary.ts"
import { UnknownWords } from "../report/UnknownWords.ts"
import { filesOf } from "./Files.ts"
import { replaceFile } from "./Write.ts"

/** What the final report tells beyond the journal. */
export const Outcome = Schema.Struct({
  baseline: Schema.NullOr(Baseline),
  unknownWords: Schema.NullOr(UnknownWords)
})
export interface Outcome extends Schema.Schema.Type<typeof Outcome> {}

export const nothing: Outcome = { baseline: null, unknownWords: null }

const OutcomeJson = Schema.fromJsonString(Outcome)

export const writeOutcome = Effect.fnUntraced(function* (directory: string, outcome: Outcome) {
  yield* replaceFile(filesOf(directory).outcome, `${yield* Schema.encodeEffect(OutcomeJson)(outcome)}\n`)
})

/** The outcome of a run directory; `nothing` before there is one. */
export const readOutcome = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const file = filesOf(directory).outcome
  if (!(yield* fs.exists(file))) return nothing
  return yield* Schema.decodeEffect(OutcomeJson)(yield* fs.readFileString(file))
})
