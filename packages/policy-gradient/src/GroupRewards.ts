/** The registry of rewards of groups: a new one is a file in `rewards`, and a line here. */
import { agreement } from "./rewards/Agreement.ts"
import { budget } from "./rewards/Budget.ts"
import { adaptiveTools, costs } from "./rewards/Costs.ts"
import { flawed } from "./rewards/Flawed.ts"
import { historyLength } from "./rewards/HistoryLength.ts"
import { cosineLength, softOverlong } from "./rewards/Length.ts"
import { repetition } from "./rewards/Repetition.ts"
import { stability } from "./rewards/Stability.ts"
import { tournament } from "./rewards/Tournament.ts"

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
