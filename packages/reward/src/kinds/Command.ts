import { Schema } from "effect"
import type { RewardKind } from "../RewardKind.ts"

/** A program of the user. */
export const command = {
  name: "command",
  label: "reward of a program",
  description: "your own program, as `command` with its arguments",
  needs: "program",
  defaults: { command: null },
  parameters: {
    command: Schema.NonEmptyArray(Schema.NonEmptyString).annotate({ description: "The program and its arguments" })
  },
  load: async () => (await import("../CommandReward.ts")).rewardFunction
} as const satisfies RewardKind<"command">
