/** Work that the files of a run directory show and its journal does not: the end of the journal is lost. */
import { plural } from "@inspo/report"
import type { RunEvent } from "@inspo/coevolution"
import type { LedgerEntry, LedgerTotal } from "@inspo/journal"
import { Effect, Equal, FileSystem, Schema } from "effect"
import { type CommandFailure, commandFailure } from "../Failure.ts"
import { filesOf } from "./Files.ts"
import { readSpent, type Spent, unbooked } from "./Spent.ts"
import { accepted, appendTiming, lastStep } from "./Timings.ts"
import { readJsonLines } from "./Write.ts"

export interface MissingTail {
  /** The last step that the journal knows. */
  readonly step: number
  /** The files that show more, in words. */
  readonly witnesses: ReadonlyArray<string>
  /** What was spent on it. */
  readonly unbooked: ReadonlyArray<LedgerEntry>
  /** Files that hold what comes after {@link step}. */
  readonly later: ReadonlyArray<string>
}

/** What the files beside a journal show of a run. */
export interface Noted {
  readonly spent: Spent | null
  /** The last step of metrics and of timings. */
  readonly metrics: number
  readonly timings: number
  readonly checkpoints: ReadonlyArray<string>
  /** Files that are written at the end, where outcome.json is there. */
  readonly results: ReadonlyArray<string>
}

/** What counts in a row of the metrics. */
const Row = Schema.Struct({ step: Schema.Int })

/** Reads what the files of a run show. Call it before reading the journal, to which an active run may write meanwhile. */
export const listen = Effect.fn("MissingTail.listen")(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const { checkpoints, htmlReport, metrics, outcome, report } = filesOf(directory)
  return {
    spent: yield* readSpent(directory),
    metrics: (yield* readJsonLines(metrics, Row)).reduce((last, { step }) => Math.max(last, step), 0),
    timings: yield* lastStep(directory),
    checkpoints: (yield* fs.exists(checkpoints))
      ? (yield* fs.readDirectory(checkpoints)).map((name) => `${checkpoints}/${name}`)
      : [],
    results: (yield* fs.exists(outcome))
      ? yield* Effect.filter([outcome, report, htmlReport], (file) => fs.exists(file))
      : []
  } satisfies Noted
})

/** What the files show beyond the journal, read after them; null if nothing, or if a run writes to both meanwhile, which is no damage. */
export const find = Effect.fnUntraced(function* (
  directory: string,
  noted: Noted,
  events: ReadonlyArray<RunEvent>,
  ledger: ReadonlyArray<LedgerTotal>
) {
  const lost = compare(noted, events, ledger)
  return lost !== null && Equal.equals(noted, yield* listen(directory)) ? lost : null
})

/** The error of a command on a run with such a journal. */
export const refusal = (directory: string, { step, witnesses }: MissingTail): CommandFailure =>
  commandFailure(
    `The journal of ${directory} ends after step ${step}, but the directory has ${witnesses.join(", ")}: the end of the ` +
      "journal is lost. Restore the journal and the files beside it from a copy, or repeat the lost steps, and pay for them " +
      `again, with \`inspo resume ${directory} --accept-lost\`: their first cost stays in the ledger.`
  )

/** Renames the files of lost steps, so that they are not taken for new ones. */
export const setAside = Effect.fnUntraced(function* (
  directory: string,
  { later, step }: MissingTail,
  launchedAt: number
) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.forEach(later, (file) => fs.rename(file, `${file}.lost`), { discard: true })
  yield* appendTiming(directory, accepted(launchedAt, step))
})

/** What the files show beyond the journal, or null. They are written after each commit: a journal behind them has lost commits. */
const compare = (
  noted: Noted,
  events: ReadonlyArray<RunEvent>,
  ledger: ReadonlyArray<LedgerTotal>
): MissingTail | null => {
  const { spent } = noted
  const step = events.reduce((last, event) => (event._tag === "StepTrained" ? event.step : last), 0)
  const results = events.some(({ _tag }) => _tag === "RunFinished") ? [] : noted.results
  const missing = spent === null ? [] : unbooked(spent, ledger)
  const later = noted.checkpoints.filter((file) => stepOfCheckpoint(file) > step)
  const beyond = (name: string, known: number) => (known > step ? [`${name} of step ${known}`] : [])
  const witnesses = [
    ...(spent !== null && spent.events > events.length ? [`spent.json of ${spent.events} events`] : []),
    ...(missing.length > 0 ? [`spent.json of ${paid(missing)} more`] : []),
    ...beyond("metrics.jsonl", noted.metrics),
    ...beyond("timings.jsonl", noted.timings),
    ...beyond("checkpoints/", Math.max(0, ...later.map(stepOfCheckpoint))),
    ...(results.length > 0 ? ["outcome.json of its end"] : [])
  ]
  return witnesses.length === 0 ? null : { step, witnesses, unbooked: missing, later: [...later, ...results] }
}

const stepOfCheckpoint = (file: string): number => Number(/step-(\d+)\.safetensors$/u.exec(file)?.[1] ?? 0)

/** Amounts in words, without seconds. */
const paid = (expenses: ReadonlyArray<LedgerEntry>): string => {
  const sum = (amount: "rollouts" | "tokens" | "calls" | "usd") =>
    expenses.reduce((total, expense) => total + expense[amount], 0)
  return [
    plural(sum("rollouts"), "rollout"),
    plural(sum("tokens"), "token"),
    ...(sum("calls") > 0 ? [`${plural(sum("calls"), "call")} to language models`] : []),
    ...(sum("usd") > 0 ? [`${sum("usd").toFixed(4)} US dollars`] : [])
  ].join(", ")
}
