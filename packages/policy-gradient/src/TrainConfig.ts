import { Choice } from "@inspo/domain"
import { Schema } from "effect"
import { Advantage } from "./Advantage.ts"

/** What one mini-batch counts; the advantages of a group that is split are still those of the whole group. */
export const MiniBatchUnit = Schema.Literals(["questions", "trajectories"])
export type MiniBatchUnit = typeof MiniBatchUnit.Type

/** How the loss weights tokens. */
export const Normalization = Schema.Literals(["sequence-mean", "token-mean"])
export type Normalization = typeof Normalization.Type

/** How the learning rate falls after its warm-up. */
export const Decline = Schema.Literals(["cosine", "linear", "constant"])
export type Decline = typeof Decline.Type

const Positive = Schema.Finite.check(Schema.isGreaterThan(0))
const NonNegative = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))
const Share = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
const Decay = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0), Schema.isLessThan(1))

/** The loss of an update: the clipped objective of GRPO (Eq. 2). */
export const LossConfig = Schema.Struct({
  clipRatio: Positive.annotate({ description: "ε of Eq. 2" }),
  klCoefficient: NonNegative.annotate({ description: "β of Eq. 2; 0 disables the reference policy" }),
  kl: Schema.Literals(["loss", "advantages"]).annotate({
    description:
      "Where the KL term towards the reference policy is added: the k3 estimate of the KL divergence in the loss, " +
      "or a penalty per token in the advantages, for engines whose loss has no such term"
  }),
  entropyCoefficient: NonNegative.annotate({
    description: "Coefficient of the entropy bonus for the next-token distributions; 0 disables it"
  }),
  normalization: Normalization.annotate({
    description:
      "How the loss weights tokens: mean over each sequence, then over the sequences (`sequence-mean`, Eq. 2), " +
      "or every action token of the mini-batch equally (`token-mean`)"
  })
})
export interface LossConfig extends Schema.Schema.Type<typeof LossConfig> {}

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

/** The mini-batches of a step; one optimizer step each. */
export const MiniBatchConfig = Schema.Struct({
  size: Schema.Int.check(Schema.isGreaterThan(0)).annotate({ description: "Size of a mini-batch, in `unit`" }),
  unit: MiniBatchUnit.annotate({
    description:
      "The unit of `size`: full groups of a question, or single trajectories as in Search-R1, which can split a group over " +
      "two mini-batches"
  }),
  epochs: Schema.Int.check(Schema.isGreaterThan(0)).annotate({
    description:
      "Passes of a step over its mini-batches; after the first pass the clipped ratio corrects for the " +
      "change of the policy"
  })
})

/** The policy update: AdamW on the clipped GRPO objective. */
export const TrainConfig = Schema.Struct({
  learningRate: Positive.annotate({ description: "Peak of the learning rate" }),
  optimizer: Optimizer,
  loss: LossConfig.annotate({ description: "The clipped objective of GRPO (Eq. 2)" }),
  miniBatch: MiniBatchConfig.annotate({ description: "The mini-batches of a step; one optimizer step each" }),
  advantage: Advantage.annotate({
    description:
      "How rewards of a group become advantages: `standardised` is Eq. 3, `centred` is Dr. GRPO; " +
      "docs/reference/methods.md has the formulas of all"
  })
})
export interface TrainConfig extends Schema.Schema.Type<typeof TrainConfig> {}
