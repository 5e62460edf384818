/** How missing rewards count. */
import { Schema } from "effect"
import { Trajectory } from "@inspo/domain"

/**
 * `worst`: a missing reward is unknown, so a decision must hold whatever it would have been. A value in [0, 1]: a missing
 * reward counts as this value.
 */
export const MissingRewards = Schema.Union([Schema.Literal("worst"), Schema.Struct({ value: Trajectory.Reward })])
export type MissingRewards = typeof MissingRewards.Type
