/** The registry of advantages: a new one is a file in `advantages`, and a line here. */
import { Choice, InvalidInput, type Strategy } from "@inspo/domain"
import { Context } from "effect"
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
import type { Estimator as Method, Group } from "./Estimator.ts"

/** The estimators that need no more than their defaults. */
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

/** Those that need a constant without a published default, or what a run does not record. */
export const furtherEstimators = [gfpo, remax, gdpo, confidence, budgeted, risk] as const

/** How rewards of a group become advantages. */
export const Advantage = Choice.of(
  [...estimators, gfpo, budgeted],
  "How rewards of a group become advantages: `standardised` is Eq. 3, `centred` is Dr. GRPO; docs/reference/methods.md has the " +
    "formulas of all"
)
export type Advantage = typeof Advantage.Type

/** An estimator of a config, by its name alone with its defaults. */
export type Kind = Advantage | Advantage["name"]

/** The estimator of a config. */
export const named = (kind: Kind): Method => {
  const called = typeof kind === "string" ? kind : kind.name
  return Advantage.methods.find(({ name }) => name === called) ?? standardised
}

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
export const advantages = (rewards: ReadonlyArray<number>, kind: Kind): ReadonlyArray<number> =>
  ofBatch([rewards.map((reward) => ({ reward, length: 1, answer: null, firstCall: null }))], kind).flat()

/** The advantages of the groups of a step, in order. Throws `InvalidInput` on a reward that is not finite. */
export const ofBatch = (
  groups: ReadonlyArray<Group>,
  kind: Kind | Pick<Interface, "ofBatch">
): ReadonlyArray<ReadonlyArray<number>> => {
  for (const group of groups)
    for (const [index, { reward: value }] of group.entries())
      if (!Number.isFinite(value))
        InvalidInput.refuse({ where: "Advantage", field: `rewards[${index}]`, value, expected: "a finite number" })
  return (typeof kind === "object" && "ofBatch" in kind ? kind : make(kind)).ofBatch(groups)
}

export interface Interface {
  readonly identity: Strategy.Identity
  /** The advantage of each member of the groups of a step, in order; the rewards are finite. */
  readonly ofBatch: (groups: ReadonlyArray<Group>) => ReadonlyArray<ReadonlyArray<number>>
}

/** How the rewards of a run become advantages. */
export class Estimator extends Context.Service<Estimator, Interface>()("@inspo/policy-gradient/Estimator") {}

/** The estimator that a config names. */
export const make = (kind: Kind): Interface => {
  const { name, ...constants } = typeof kind === "string" ? { name: kind } : kind
  const method = named(kind)
  return {
    identity: { name, parameters: { ...constants } },
    ofBatch: (groups) => method.ofBatch(groups, constants)
  }
}
