import { Degradation, foldStored } from "@inspo/coevolution"
import type { RunNotes } from "@inspo/dashboard/RunCatalog"
import { Effect, Schema } from "effect"
import { oneLine } from "../Failure.ts"
import { Baseline, summarize } from "../report/Summary.ts"
import { filesOf } from "./Files.ts"
import { readRun } from "./Read.ts"
import * as Regular from "./Regular.ts"
import { wallSeconds } from "./Timings.ts"
import { replaceFile } from "./Write.ts"

/** What the final report holds beyond the journal. */
export const Outcome = Schema.Struct({
  baseline: Schema.NullOr(Baseline),
  /** What failed beside the run without ending it: trackers, the baseline. */
  degraded: Schema.Array(Degradation.Degradation).pipe(Schema.withDecodingDefaultKey(Effect.succeed([])))
})
export interface Outcome extends Schema.Schema.Type<typeof Outcome> {}

const OutcomeJson = Schema.fromJsonString(Outcome)

export const writeOutcome = Effect.fnUntraced(function* (directory: string, outcome: Outcome) {
  yield* replaceFile(filesOf(directory).outcome, `${yield* Schema.encodeEffect(OutcomeJson)(outcome)}\n`)
})

/** A stored run, its state and its summary, which is null while the run is not finished. */
export const readResult = Effect.fn("RunDirectory.result")(function* (directory: string) {
  const run = yield* readRun(directory)
  const state = yield* foldStored({ algorithm: run.config }, run.events)
  const outcome = yield* readOutcome(directory)
  const seconds = yield* wallSeconds(directory)
  const summary = summarize({ runDir: directory, config: run.config, state, outcome, wallSeconds: seconds })
  return { ...run, state, outcome, summary }
})

/** The outcome of a run directory; `nothing` before there is one. */
export const readOutcome = Effect.fnUntraced(function* (directory: string) {
  const file = filesOf(directory).outcome
  const problem = (message: string) =>
    `${file} is not a valid outcome (${oneLine(message)}). Restore it from a copy, or remove it: ` +
    "`inspo resume` then repeats the comparison."
  return (yield* Regular.readDocument(file, OutcomeJson, problem)) ?? nothing
})

/** What is known of a run beyond its journal; what cannot be read is left out. */
export const runNotes = Effect.fnUntraced(function* (directory: string): Effect.fn.Return<RunNotes> {
  const { baseline, degraded } = yield* Effect.orElseSucceed(readOutcome(directory), () => nothing)
  const seconds = yield* Effect.orElseSucceed(wallSeconds(directory), () => 0)
  return {
    baseline: baseline === null ? null : { em: baseline.em, ci95: baseline.ci95, rollouts: baseline.rollouts },
    wallSeconds: seconds === 0 ? null : seconds,
    degraded
  }
})

const nothing: Outcome = { baseline: null, degraded: [] }
