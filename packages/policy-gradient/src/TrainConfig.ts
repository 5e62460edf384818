import { Schema } from "effect"
import { Advantage } from "./Advantage.ts"
import { Schedule } from "./LearningRate.ts"

/**
 * What one mini-batch counts: whole groups of a question, or single trajectories as Search-R1 does, which may part a
 * group over two mini-batches (its advantages are those of the whole group all the same).
 */
export const MiniBatchUnit = Schema.Literals(["questions", "trajectories"])
export type MiniBatchUnit = typeof MiniBatchUnit.Type

/**
 * How the loss weighs tokens: `sequence-mean` takes the mean over the action tokens of each sequence, then over the
 * sequences (Eq. 2); `token-mean` gives every action token of the mini-batch the same weight.
 */
export const Normalization = Schema.Literals(["sequence-mean", "token-mean"])
export type Normalization = typeof Normalization.Type

/**
 * Where the pull towards the reference policy enters: as the k3 estimate of the KL divergence in the loss (as in GRPO), or
 * folded into the advantages as a penalty per token, for engines whose loss has no such term.
 */
export const KlPlacement = Schema.Literals(["loss", "advantages"])
export type KlPlacement = typeof KlPlacement.Type

const Positive = Schema.Finite.check(Schema.isGreaterThan(0))
const NonNegative = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))
const Decay = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0), Schema.isLessThan(1))

/**
 * The policy update: AdamW on the clipped GRPO objective.
 *
 * `learningRate` is the peak; `clipRatio` is ε and `klCoefficient` β of Eq. 2, 0 leaves the reference policy out;
 * `entropyCoefficient` rewards the entropy of the next-token distributions, 0 does not. `gradientClip` is the largest
 * global gradient norm; `miniBatchSize` counts `unit`s. `epochs` is how often a step goes through its mini-batches: after
 * the first pass the policy is no longer the one that sampled them, and the clipped ratio corrects for it.
 */
export const TrainConfig = Schema.Struct({
  learningRate: Positive,
  schedule: Schedule,
  warmupRatio: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
  clipRatio: Positive,
  klCoefficient: NonNegative,
  kl: KlPlacement,
  entropyCoefficient: NonNegative,
  beta1: Decay,
  beta2: Decay,
  weightDecay: NonNegative,
  gradientClip: Positive,
  miniBatchSize: Schema.Int.check(Schema.isGreaterThan(0)),
  unit: MiniBatchUnit,
  epochs: Schema.Int.check(Schema.isGreaterThan(0)),
  normalization: Normalization,
  advantage: Advantage
})
export interface TrainConfig extends Schema.Schema.Type<typeof TrainConfig> {}
