/** What the samples say whose rewards never came. */
import { Schema } from "effect"
import { Reward } from "@inspo/domain/Trajectory"

/**
 * `worst`: a missing reward says nothing, so a decision must hold whatever it would have been. A value in [0, 1]: a missing
 * reward is that outcome, by definition.
 */
export const MissingRewards = Schema.Union([Schema.Literal("worst"), Schema.Struct({ value: Reward })])
export type MissingRewards = typeof MissingRewards.Type
