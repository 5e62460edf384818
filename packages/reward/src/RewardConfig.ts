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
  kind: Schema.Literals(["em", "subem", "em-format", "f1", "judge", "command"]).annotate({
    description:
      "Exact match, golden answer within the answer, format-aware exact match, word F1, the verdict of a " +
      "language model, or your own program"
  }),
  scope: Scope.annotate({
    description:
      "Where the answer is looked for: in what the policy itself wrote (`response`), in prompt and response " +
      "together as Search-R1 does (`searchr1`), or in the response with its observations as verl's port does " +
      "(`verl`)"
  }),
  format: ResponseFormat.FormatScores,
  criteria: Schema.NullOr(Schema.NonEmptyString).annotate({
    description: "The criteria of `judge` for a correct answer, as text, or null for the built-in ones"
  }),
  command: Schema.Array(Schema.NonEmptyString).annotate({ description: "Program and arguments of `command`" }),
  commandTimeout: Schema.Finite.check(Schema.isGreaterThan(0)).annotate({
    description: "Seconds that one batch may take the program"
  })
})
export interface RewardConfig extends Schema.Schema.Type<typeof RewardConfig> {}

/** What a mean of rewards is called in tables and figures. */
export const measure = ({ kind }: Pick<RewardConfig, "kind">): string => measures[kind]

const measures: Readonly<Record<RewardConfig["kind"], string>> = {
  em: "EM",
  subem: "sub-EM",
  "em-format": "EM with format",
  f1: "F1",
  judge: "judge's verdict",
  command: "reward of a program"
}

/** The reward of the paper: exact match of the response's answer. */
export const defaultConfig: RewardConfig = {
  kind: "em",
  scope: "response",
  format: ResponseFormat.defaultScores,
  criteria: null,
  command: [],
  commandTimeout: 60
}
