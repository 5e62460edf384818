import { Choice } from "@inspo/domain"
import { Schema } from "effect"
import { Advantage } from "./Advantage.ts"
import { Correction } from "./Corrections.ts"
import { Credit } from "./Credits.ts"
import { Keep } from "./Keeps.ts"
import { Loss } from "./Losses.ts"

/** How the learning rate falls after its warm-up. */
export const Decline = Schema.Literals(["cosine", "linear", "constant"])
export type Decline = typeof Decline.Type

const Positive = Schema.Finite.check(Schema.isGreaterThan(0))
const NonNegative = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))
const Share = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
const Decay = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0), Schema.isLessThan(1))

/** How the loss weights tokens. */
export const Normalization = Choice.of(
  [
    { name: "sequence-mean", defaults: {} },
    { name: "token-mean", defaults: {} },
    { name: "sequence-sum", defaults: { tokens: null }, parameters: { tokens: Positive } }
  ],
  "How the loss weights tokens: mean over each sequence, then over the sequences (`sequence-mean`, Eq. 2), every action token of " +
    "the mini-batch equally (`token-mean`), or the sum over each sequence divided by the constant `tokens`, as in Dr. GRPO " +
    "(`sequence-sum`)"
)

const coefficient = { defaults: { coefficient: 0.001 }, parameters: { coefficient: NonNegative } }

/** Where the KL term towards the reference policy is added. */
export const Kl = Choice.of(
  [
    { name: "none", defaults: {} },
    { name: "loss", ...coefficient },
    { name: "advantages", ...coefficient }
  ],
  "Where the KL term towards the reference policy is added, β of Eq. 2 times: the k3 estimate of the KL divergence in the `loss`, or a " +
    "penalty per token in the `advantages`, for engines whose loss has no such term. `none` needs no reference policy"
)
export type Kl = typeof Kl.Type

/** β of Eq. 2. */
export const klCoefficient = (kl: Kl): number => (kl.name === "none" ? 0 : kl.coefficient)

/** The numbers of AdamW, and how its learning rate changes. */
const parameters = {
  warmup: Share.annotate({
    description: "Warm-up: share of the training steps in which the learning rate rises to its peak"
  }),
  decay: Decline.annotate({
    description:
      "How the learning rate falls after the warm-up: along half a cosine or a line towards 0, or it stays `constant`"
  }),
  beta1: Decay.annotate({ description: "Decay of AdamW's first moment" }),
  beta2: Decay.annotate({ description: "Decay of AdamW's second moment" }),
  weightDecay: NonNegative.annotate({ description: "Weight decay of AdamW" }),
  gradientClip: NonNegative.annotate({
    description: "Maximum gradient norm of a mini-batch, by scaling; 0 for no limit"
  })
}
export type OptimizerConfig = Schema.Struct.Type<typeof parameters>

/** AdamW with the defaults of PyTorch. */
export const adamw = {
  name: "adamw",
  defaults: { warmup: 0.1, decay: "cosine", beta1: 0.9, beta2: 0.999, weightDecay: 0.01, gradientClip: 1 },
  parameters
} as const

/** AdamW for runs of tens of steps. */
export const adamwShort = {
  name: "adamw-short",
  defaults: { ...adamw.defaults, beta2: 0.95, weightDecay: 0 },
  parameters
} as const

/** The optimizers that `train.optimizer` can name. */
export const Optimizer = Choice.of(
  [adamw, adamwShort],
  "AdamW with the defaults of PyTorch (`adamw`), or for tens of steps (`adamw-short`). Its learning rate rises over the share " +
    "`warmup` of the steps and falls by `decay`. One number can be changed alone, as `train.optimizer.weightDecay=0.1`"
)

const Count = Schema.Int.check(Schema.isGreaterThan(0))
const passes = { defaults: { size: null, epochs: 1 }, parameters: { size: Count, epochs: Count } }

/** The mini-batches of a step; one optimizer step each. The advantages of a group that is split are those of the whole group. */
export const MiniBatch = Choice.of(
  [
    { name: "questions", ...passes },
    { name: "trajectories", ...passes }
  ],
  "Mini-batches, with one optimizer step each: of `size` full groups of a question (`questions`), or of `size` single trajectories as in " +
    "Search-R1, which can split a group (`trajectories`). A step passes over them `epochs` times; after the first pass the clipped " +
    "ratio corrects for the change of the policy"
)
export type MiniBatch = typeof MiniBatch.Type

/** The policy update: AdamW on an objective, by default the clipped one of GRPO. */
export const TrainConfig = Schema.Struct({
  learningRate: Positive.annotate({ description: "Peak of the learning rate" }),
  optimizer: Optimizer,
  advantage: Advantage,
  credit: Credit,
  keep: Keep,
  loss: Loss,
  correction: Correction,
  normalization: Normalization,
  kl: Kl,
  miniBatch: MiniBatch
})
export interface TrainConfig extends Schema.Schema.Type<typeof TrainConfig> {}
