/** The registry of rewards of groups: a new one is a file in `rewards`, and a line here. */
import { agreement } from "./group/Agreement.ts"
import { budget } from "./group/Budget.ts"
import { adaptiveTools, costs } from "./group/Costs.ts"
import { flawed } from "./group/Flawed.ts"
import { historyLength } from "./group/HistoryLength.ts"
import { cosineLength, softOverlong } from "./group/Length.ts"
import { repetition } from "./group/Repetition.ts"
import { stability } from "./group/Stability.ts"
import { tournament } from "./group/Tournament.ts"

export type { Attempt } from "./GroupReward.ts"

/** Every reward of a group. */
export const groupRewards = [
  agreement,
  tournament,
  historyLength,
  budget,
  flawed,
  costs,
  adaptiveTools,
  softOverlong,
  cosineLength,
  repetition,
  stability
] as const
