import * as Evolve from "@inspo/evolve/SearchView"
import { Schema } from "effect"

const Score = Schema.NullOr(Schema.Finite)

/** Everything that the page shows of a comparison of prompts. */
export const PromptComparison = Schema.Struct({
  control: Schema.Struct({ prompt: Schema.String, score: Score }),
  candidates: Schema.Array(
    Schema.Struct({
      prompt: Schema.String,
      verdict: Schema.String,
      /** What was found, in words. */
      sentence: Schema.String,
      score: Score,
      gain: Evolve.Gain,
      cases: Schema.Int,
      improved: Schema.Int,
      worsened: Schema.Int,
      /** The first cases of each kind of change. */
      changes: Schema.Array(
        Schema.Struct({
          title: Schema.String,
          count: Schema.Int,
          cases: Schema.Array(Schema.Struct({ case: Schema.String, control: Schema.Finite, candidate: Schema.Finite }))
        })
      ),
      /** The evidence for each claim after so many calls: a logarithm to the base 10. */
      course: Schema.Array(
        Schema.Struct({
          calls: Schema.Int,
          evidence: Schema.Struct({ better: Schema.Finite, "no-worse": Schema.Finite, worse: Schema.Finite })
        })
      )
    })
  ),
  bound: Schema.Finite,
  margin: Schema.Finite,
  requirement: Schema.NullOr(Schema.String),
  isMet: Schema.NullOr(Schema.Boolean),
  /** What it cost, in words. */
  costs: Schema.String,
  identity: Schema.Record(Schema.String, Schema.String)
})
export interface PromptComparison extends Schema.Schema.Type<typeof PromptComparison> {}
