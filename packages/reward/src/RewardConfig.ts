import { Schema } from "effect"
import * as ResponseFormat from "./ResponseFormat.ts"

/**
 * Where the answer is looked for.
 *
 * - `response`: in what the policy itself wrote. Neither the instruction nor an observation can change the reward.
 * - `searchr1`: in prompt and response together, as Search-R1 does, for numbers that compare with its own.
 * - `verl`: in the response with its observations, as verl's port of Search-R1 does, its penalty for tag spam included.
 */
export const Scope = Schema.Literals(["response", "searchr1", "verl"])
export type Scope = typeof Scope.Type

/** Which reward a run uses. */
export const RewardConfig = Schema.Struct({
  /** Exact match, golden answer within the answer, format-aware exact match, word F1, or a program of yours. */
  kind: Schema.Literals(["em", "subem", "em-format", "f1", "command"]),
  scope: Scope,
  /** What the form of a response is worth to `em-format`. */
  format: ResponseFormat.FormatScores,
  /** Program and arguments of `command`. */
  command: Schema.Array(Schema.NonEmptyString),
  /** Seconds that one batch may take the program. */
  commandTimeout: Schema.Finite.check(Schema.isGreaterThan(0))
})
export interface RewardConfig extends Schema.Schema.Type<typeof RewardConfig> {}

/** The reward of the paper: exact match of the response's answer. */
export const defaultConfig: RewardConfig = {
  kind: "em",
  scope: "response",
  format: ResponseFormat.defaultScores,
  command: [],
  commandTimeout: 60
}
