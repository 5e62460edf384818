/** The registry of rewards of groups: a new one is a file in `group`, and a line here. */
import { Choice, type Method } from "@inspo/domain"
import { agreement } from "./group/Agreement.ts"
import { budget } from "./group/Budget.ts"
import { adaptiveTools, costs } from "./group/Costs.ts"
import { flawed } from "./group/Flawed.ts"
import { historyLength } from "./group/HistoryLength.ts"
import { cosineLength, softOverlong } from "./group/Length.ts"
import { repetition } from "./group/Repetition.ts"
import { rubric } from "./group/Rubric.ts"
import { stability } from "./group/Stability.ts"
import { tournament } from "./group/Tournament.ts"
import type { Attempt } from "./GroupReward.ts"

export type { Attempt } from "./GroupReward.ts"

/** Every reward of a group. */
export const groupRewards = [
  agreement,
  tournament,
  rubric,
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

/** A change of the rewards that the policy is trained on. */
export const Shaping = Choice.of(
  [{ name: "none", defaults: {} }, ...groupRewards],
  "A reward of the rollouts of a group that the policy is trained on in the place of their own rewards, which instructions are " +
    "credited with; docs/reference/methods.md has all"
)
export type Shaping = typeof Shaping.Type

/** The reward of a config, or null without one. */
export const named = ({ name: called }: Shaping): Rule | null =>
  groupRewards.find(({ name }) => name === called) ?? null

type Rule = Method.Rule<ReadonlyArray<Attempt>, ReadonlyArray<number>>
