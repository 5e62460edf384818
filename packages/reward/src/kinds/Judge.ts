import { Schema } from "effect"
import type { RewardKind } from "../RewardKind.ts"

/** The verdict of a language model. */
export const judge = {
  name: "judge",
  label: "judge's verdict",
  description: "the verdict of the language model `model` by `criteria`, null for the built-in ones",
  needs: "model",
  defaults: { model: null, criteria: null },
  parameters: {
    model: Schema.NonEmptyString.annotate({ description: "A language model, as in `policy.model`" }),
    criteria: Schema.NullOr(Schema.NonEmptyString).annotate({ description: "When an answer is right, in sentences" })
  },
  load: async () => (await import("../JudgeReward.ts")).rewardFunction
} as const satisfies RewardKind<"judge">
