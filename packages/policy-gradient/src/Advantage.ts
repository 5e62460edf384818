/** The registry of advantages: a new one is a file in `advantages`, and a line here. */
import { InvalidInput } from "@inspo/domain"
import { Schema } from "effect"
import { adora } from "./advantages/Adora.ts"
import { batchScaled } from "./advantages/BatchScaled.ts"
import { bestOfGroup } from "./advantages/BestOfGroup.ts"
import { budgeted } from "./advantages/Budgeted.ts"
import { centred } from "./advantages/Centred.ts"
import { confidence } from "./advantages/Confidence.ts"
import { consistency } from "./advantages/Consistency.ts"
import { earlyTool } from "./advantages/EarlyTool.ts"
import { gdpo } from "./advantages/Gdpo.ts"
import { gfpo } from "./advantages/Gfpo.ts"
import { gpg } from "./advantages/Gpg.ts"
import { leaveOneOut } from "./advantages/LeaveOneOut.ts"
import { maxLikelihood } from "./advantages/MaxLikelihood.ts"
import { opo } from "./advantages/Opo.ts"
import { passAtK } from "./advantages/PassAtK.ts"
import { plain } from "./advantages/Plain.ts"
import { reinforcePlusPlus } from "./advantages/ReinforcePlusPlus.ts"
import { reinforcePlusPlusBaseline } from "./advantages/ReinforcePlusPlusBaseline.ts"
import { remax } from "./advantages/Remax.ts"
import { risk } from "./advantages/Risk.ts"
import { standardised } from "./advantages/Standardised.ts"
import { tokenAverage } from "./advantages/TokenAverage.ts"
import type { Estimator, Group } from "./Estimator.ts"

/** The estimators that a config can name. */
export const estimators = [
  standardised,
  centred,
  plain,
  leaveOneOut,
  batchScaled,
  reinforcePlusPlus,
  reinforcePlusPlusBaseline,
  opo,
  gpg,
  passAtK,
  bestOfGroup,
  maxLikelihood,
  tokenAverage,
  consistency,
  earlyTool,
  adora
] as const

/** Those that need a constant without a published default, or what a run does not record: for programs. */
export const furtherEstimators = [gfpo, remax, gdpo, confidence, budgeted, risk] as const

/** How rewards of a group become advantages. */
export const Advantage = Schema.Literals(estimators.map(({ name }) => name))
export type Advantage = typeof Advantage.Type

/** The estimator of a config. */
export const named = (kind: Advantage): Estimator => estimators.find(({ name }) => name === kind) ?? standardised

/**
 * The advantage of each trajectory of one group, in order, from rewards alone: all have one length, and no answer. Except
 * with `reward`, a group of one or with equal rewards gets zeros. Throws `InvalidInput` on a reward that is not finite.
 *
 * @example
 * ```ts
 * import { Advantage } from "@inspo/policy-gradient"
 *
 * Advantage.advantages([1, 0, 0, 0, 0], "centred") // [0.8, -0.2, -0.2, -0.2, -0.2]
 * ```
 */
export const advantages = (rewards: ReadonlyArray<number>, kind: Advantage): ReadonlyArray<number> =>
  ofBatch([rewards.map((reward) => ({ reward, length: 1, answer: null, firstCall: null }))], kind).flat()

/** The advantages of the groups of a step, in order. Throws `InvalidInput` on a reward that is not finite. */
export const ofBatch = (groups: ReadonlyArray<Group>, kind: Advantage): ReadonlyArray<ReadonlyArray<number>> => {
  for (const group of groups)
    for (const [index, { reward: value }] of group.entries())
      if (!Number.isFinite(value))
        InvalidInput.refuse({ where: "Advantage", field: `rewards[${index}]`, value, expected: "a finite number" })
  return named(kind).ofBatch(groups)
}
