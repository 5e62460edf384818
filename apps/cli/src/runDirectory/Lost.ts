/** Work that a run directory tells of and its journal does not: the end of the journal is lost. */
import type { RunEvent } from "@inspo/coevolution"
import type { LedgerEntry, LedgerTotal } from "@inspo/journal"
import { Effect, Equal, FileSystem, Schema } from "effect"
import { CommandFailure } from "../Failure.ts"
import { filesOf } from "./Files.ts"
import { readSpent, type Spent, unbooked } from "./Spent.ts"
import { accepted, appendTiming, lastStep } from "./Timings.ts"
import { readJsonLines } from "./Write.ts"

/** What is lost. */
export interface Lost {
  /** The last step that the journal knows. */
  readonly step: number
  /** What tells of more, in words. */
  readonly witnesses: ReadonlyArray<string>
  /** What was spent on it. */
  readonly unbooked: ReadonlyArray<LedgerEntry>
  /** Files that hold what comes after {@link step}. */
  readonly later: ReadonlyArray<string>
}

/** What the files beside a journal tell of a run. */
export interface Told {
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

/** Reads what the files of a run tell: before its journal, which a run that goes on may write to meanwhile. */
export const listen = Effect.fn("Lost.listen")(function* (directory: string) {
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
  } satisfies Told
})

/**
 * What the files of a directory, heard before its journal was read, know beyond it; null where they know no more, and where
 * a run writes to both meanwhile, which is no damage.
 */
export const find = Effect.fnUntraced(function* (
  directory: string,
  told: Told,
  events: ReadonlyArray<RunEvent>,
  ledger: ReadonlyArray<LedgerTotal>
) {
  const lost = compare(told, events, ledger)
  return lost !== null && Equal.equals(told, yield* listen(directory)) ? lost : null
})

/** Why a run with such a journal does not go on by itself. */
export const refusal = (directory: string, { step, witnesses }: Lost): CommandFailure =>
  new CommandFailure({
    problem:
      `The journal of ${directory} ends after step ${step}, and the directory tells of ${witnesses.join(", ")}: its end is ` +
      "lost. Restore the journal with the files beside it from a copy, or do the lost steps again, and pay for them " +
      `again, with \`inspo resume ${directory} --accept-lost\`: what they cost stays on the books.`
  })

/** Keeps what tells of lost steps under another name, so that it does not pass for what is done now. */
export const setAside = Effect.fnUntraced(function* (directory: string, { later, step }: Lost, launchedAt: number) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.forEach(later, (file) => fs.rename(file, `${file}.lost`), { discard: true })
  yield* appendTiming(directory, accepted(launchedAt, step))
})

/**
 * What the files know beyond the journal, or null. They are written after the journal has committed, so that a journal
 * which lags behind them has lost commits.
 */
const compare = (told: Told, events: ReadonlyArray<RunEvent>, ledger: ReadonlyArray<LedgerTotal>): Lost | null => {
  const { spent } = told
  const step = events.reduce((last, event) => (event._tag === "StepTrained" ? event.step : last), 0)
  const results = events.some(({ _tag }) => _tag === "RunFinished") ? [] : told.results
  const missing = spent === null ? [] : unbooked(spent, ledger)
  const later = told.checkpoints.filter((file) => stepOfCheckpoint(file) > step)
  const beyond = (name: string, known: number) => (known > step ? [`${name} of step ${known}`] : [])
  const witnesses = [
    ...(spent !== null && spent.events > events.length ? [`spent.json of ${spent.events} events`] : []),
    ...(missing.length > 0 ? [`spent.json of ${paid(missing)} more`] : []),
    ...beyond("metrics.jsonl", told.metrics),
    ...beyond("timings.jsonl", told.timings),
    ...beyond("checkpoints/", Math.max(0, ...later.map(stepOfCheckpoint))),
    ...(results.length > 0 ? ["outcome.json of its end"] : [])
  ]
  return witnesses.length === 0 ? null : { step, witnesses, unbooked: missing, later: [...later, ...results] }
}

const stepOfCheckpoint = (file: string): number => Number(/step-(\d+)\.safetensors$/u.exec(file)?.[1] ?? 0)

/** Amounts in words; of seconds nobody asks here. */
const paid = (expenses: ReadonlyArray<LedgerEntry>): string => {
  const sum = (amount: "rollouts" | "tokens" | "calls" | "usd") =>
    expenses.reduce((total, expense) => total + expense[amount], 0)
  return [
    `${sum("rollouts")} rollouts`,
    `${sum("tokens")} tokens`,
    ...(sum("calls") > 0 ? [`${sum("calls")} calls to language models`] : []),
    ...(sum("usd") > 0 ? [`${sum("usd").toFixed(4)} US dollars`] : [])
  ].join(", ")
}
