import { Trajectory } from "@inspo/domain"
import { Bootstrap, Interval } from "@inspo/statistics"
import { Schema, Struct } from "effect"
import { bySource, type Outcome, valid } from "./Outcome.ts"

const Mean = Schema.NullOr(Schema.Finite)
const MeanInterval = Schema.NullOr(Interval.Interval)

/**
 * Means over `n` questions, without the `failed` ones; null where `n` is 0. `em`, `f1` and `reward` are in [0, 1].
 * `toolCalls`, `turns` and `responseTokens`, those of observations included, count per question.
 *
 * `ci95` is the interval of `em` and `f1Ci95` that of `f1`, by bootstrap over questions. Where all values are equal, that of
 * `em` is the Wilson interval and that of `f1` is null.
 */
export const Cell = Schema.Struct({
  n: Schema.Int,
  failed: Schema.Int,
  em: Mean,
  ci95: MeanInterval,
  f1: Mean,
  f1Ci95: MeanInterval,
  reward: Mean,
  toolCalls: Mean,
  turns: Mean,
  responseTokens: Mean,
  finishReasons: Schema.Record(Trajectory.FinishReason, Schema.Int)
})
export interface Cell extends Schema.Schema.Type<typeof Cell> {}

/** The mean over sources of the means within sources: every source counts alike. */
const Macro = Schema.Struct({ sources: Schema.Int, ...Struct.pick(Cell.fields, ["em", "ci95", "f1", "f1Ci95"]) })

/** All questions as one cell, each source as one, and the mean over sources. */
export const Results = Schema.Struct({
  ...Cell.fields,
  macro: Macro,
  bySource: Schema.Array(Schema.Struct({ source: Schema.String, ...Cell.fields }))
})
export interface Results extends Schema.Schema.Type<typeof Results> {}

export const results = (outcomes: ReadonlyArray<Outcome>, options: Bootstrap.Options): Results => {
  const sources = bySource(outcomes)
  const strata = sources.map(([, members]) => valid(members))
  const intervals = (of: (one: Outcome) => number) =>
    Bootstrap.bootstrap(
      strata.map((members) => members.map(of)),
      options
    )
  const em = intervals((one) => one.em)
  const f1 = intervals((one) => one.f1)
  const known = strata.filter((members) => members.length > 0)
  const macro = (of: (one: Outcome) => number) =>
    Bootstrap.meanOf(known.flatMap((members) => Bootstrap.meanOf(members.map(of)) ?? []))
  return {
    ...cell(outcomes, em.overall, f1.overall),
    macro: {
      sources: known.length,
      em: macro((one) => one.em),
      ci95: em.macro,
      f1: macro((one) => one.f1),
      f1Ci95: f1.macro
    },
    bySource: sources.map(([source, members], index) => ({
      source,
      ...cell(members, em.strata[index] ?? null, f1.strata[index] ?? null)
    }))
  }
}

const cell = (outcomes: ReadonlyArray<Outcome>, emInterval: Cell["ci95"], f1Interval: Cell["f1Ci95"]): Cell => {
  const members = valid(outcomes)
  const n = members.length
  const average = (of: (one: Outcome) => number) => Bootstrap.meanOf(members.map(of))
  const em = average((one) => one.em)
  return {
    n,
    failed: outcomes.length - n,
    em,
    ci95: emInterval ?? (em === null ? null : Interval.wilson(em * n, n)),
    f1: average((one) => one.f1),
    f1Ci95: f1Interval,
    reward: average((one) => one.reward),
    toolCalls: average((one) => one.toolCalls),
    turns: average((one) => one.turns),
    responseTokens: average((one) => one.responseTokens),
    finishReasons: finishReasons(outcomes)
  }
}

const finishReasons = (outcomes: ReadonlyArray<Outcome>): Cell["finishReasons"] => {
  const counted = (reason: Trajectory.FinishReason) => outcomes.filter((one) => one.finishReason === reason).length
  return {
    answered: counted("answered"),
    "turns-exhausted": counted("turns-exhausted"),
    "context-exhausted": counted("context-exhausted"),
    "invalid-action": counted("invalid-action"),
    failed: counted("failed")
  }
}
