import * as Evolve from "@inspo/evolve/SearchView"
import { Schema, Struct } from "effect"
import { RunId } from "./RunView.ts"

/** A search or a comparison of prompts, for lists and headers. */
export const SearchRow = Schema.Struct({
  id: RunId,
  name: Schema.String,
  kind: Schema.Literals(["search", "comparison"]),
  /** `quiet` is not done and was not written for a while: it was stopped, or waits for an answer. */
  status: Schema.Literals(["running", "quiet", "finished", "unreadable"]),
  /** Why it is `unreadable`; else null. */
  problem: Schema.NullOr(Schema.String),
  /** Null if it is unreadable. */
  summary: Schema.NullOr(
    Schema.Struct({
      ...Struct.pick(Evolve.SearchView.fields, ["phase", "calls", "budget", "usd", "budgetUsd"]),
      /** Null until it is done. */
      verdict: Schema.NullOr(Schema.String),
      /** The number of prompts, the given one included, and of proposals that break a rule. */
      tried: Schema.Int,
      rejected: Schema.Int,
      /** The gain of the finalist on held-out cases, or else of the leader in the search; null if the given prompt leads. */
      gain: Schema.NullOr(Evolve.Gain)
    })
  ),
  /** The time of the last event, in milliseconds since 1970; null if it is not known. */
  lastWritten: Schema.NullOr(Schema.Finite)
})
export interface SearchRow extends Schema.Schema.Type<typeof SearchRow> {}

/** Everything that the page shows of a search. */
export const SearchDetail = Schema.Struct({
  ...Evolve.SearchView.fields,
  /** The number of failing cases; `failing` has the worst of them, as texts. */
  failingCount: Schema.Int,
  failing: Schema.Array(
    Schema.Struct({
      case: Schema.String,
      output: Schema.String,
      feedback: Schema.NullOr(Schema.String),
      score: Schema.Finite
    })
  )
})
export interface SearchDetail extends Schema.Schema.Type<typeof SearchDetail> {}
