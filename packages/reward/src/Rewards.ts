/** The registry of rewards: a new one is a file in `kinds`, and a line here. */
import { emFormat } from "./kinds/EmFormat.ts"
import { em, f1, subem } from "./kinds/Measured.ts"
import type { RewardKind } from "./RewardKind.ts"

export { fromMeasure } from "./kinds/Measured.ts"
export { extract } from "./Scope.ts"

/** The rewards that need nothing but the attempt. */
export const builtIn = { em, subem, "em-format": emFormat, f1 }

/** The rewards that a config can name. */
export const kinds = [
  ...Object.values(builtIn),
  {
    name: "judge",
    label: "judge's verdict",
    description: "the verdict of a language model",
    needs: "model",
    load: async () => (await import("./JudgeReward.ts")).rewardFunction
  },
  {
    name: "command",
    label: "reward of a program",
    description: "your own program",
    needs: "program",
    load: async () => (await import("./CommandReward.ts")).rewardFunction
  }
] as const satisfies ReadonlyArray<RewardKind>
