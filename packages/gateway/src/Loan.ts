/** What a run and the gateways beside it write to each other. */
import { Trajectory } from "@inspo/domain"
import { OutsideAgent } from "@inspo/outside"
import { Schema } from "effect"

/** `to` names a loan: the same one where the request is repeated. */
export const Wanted = Schema.Struct({ to: Schema.NonEmptyString })
export interface Wanted extends Schema.Schema.Type<typeof Wanted> {}

/** An episode whose calls are answered elsewhere, and what `GET /episodes/setting` says. */
export const Lent = Schema.Struct({
  episode: Schema.Struct({
    seed: Schema.String,
    instruction: Schema.Struct({ text: Schema.String }),
    sampler: Schema.optionalKey(Schema.String)
  }),
  setting: Schema.Json
})
export interface Lent extends Schema.Schema.Type<typeof Lent> {}

const { budget, earlier, logprobs, mask, prompt, response, toolCalls, transcript } = Trajectory.Trajectory.fields

/** The end of a loan: what the worker sent, and what was recorded. */
export const Returned = Schema.Struct({
  to: Schema.NonEmptyString,
  answer: OutsideAgent.Answer,
  recorded: Schema.Struct({
    recording: Schema.Struct({
      budget,
      earlier,
      logprobs,
      mask,
      prompt,
      response,
      toolCalls,
      transcript,
      asideTokens: Schema.Int
    }),
    limit: Schema.NullOr(Schema.Literals(["turns-exhausted", "context-exhausted"]))
  })
})
export interface Returned extends Schema.Schema.Type<typeof Returned> {}
