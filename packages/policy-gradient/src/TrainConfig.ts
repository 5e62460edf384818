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

const Positive = Schema.Finite.check(Schema.isGreaterThan(0))
const NonNegative = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))
const Decay = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0), Schema.isLessThan(1))

/**
 * The policy update: AdamW on the clipped GRPO objective.
 *
 * `learningRate` is the peak; `clipRatio` is ε and `klCoefficient` β of Eq. 2, 0 leaves the reference policy out;
 * `gradientClip` is the largest global gradient norm; `miniBatchSize` counts `unit`s.
 */
export const TrainConfig = Schema.Struct({
  learningRate: Positive,
  schedule: Schedule,
  warmupRatio: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
  clipRatio: Positive,
  klCoefficient: NonNegative,
  beta1: Decay,
  beta2: Decay,
  weightDecay: NonNegative,
  gradientClip: Positive,
  miniBatchSize: Schema.Int.check(Schema.isGreaterThan(0)),
  unit: MiniBatchUnit,
  normalization: Normalization,
  advantage: Advantage
})
export interface TrainConfig extends Schema.Schema.Type<typeof TrainConfig> {}
