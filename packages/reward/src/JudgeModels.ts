/** The language models that judge groups and turns. */
import { Spent } from "@inspo/domain"
import { Context, Effect, Schema } from "effect"
import { RewardError } from "./RewardFunction.ts"

/** What a question to a judge brought, as JSON can keep it: a reply that was read; null where none could be, or the judge refuses the prompt. */
export const Reply = Schema.Struct({ text: Schema.NullOr(Schema.String), spent: Spent.Spent })
export interface Reply extends Schema.Schema.Type<typeof Reply> {}

export interface JudgeModel {
  /** A reply that can be read. Fails where the model does. */
  readonly ask: (prompt: string, isReadable: (reply: string) => boolean) => Effect.Effect<Reply, RewardError>
  /** The most that a question can cost. */
  readonly atMost: (prompt: string) => Spent.Spent
}

/** The language model that judges for a setting, such as `reward.shaping`; by default there is none. */
export const JudgeModels = Context.Reference<(setting: string) => Effect.Effect<JudgeModel, RewardError>>(
  "@inspo/reward/JudgeModels",
  {
    defaultValue: () => (setting) =>
      Effect.fail(new RewardError({ reward: setting, reason: "this run has no language model as a judge" }))
  }
)
