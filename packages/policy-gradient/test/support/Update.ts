import type { TrainConfig } from "@inspo/policy-gradient"

/** The update of the paper in small mini-batches, without the reference policy. */
export const update = {
  learningRate: 1e-3,
  miniBatch: { name: "questions", size: 4, epochs: 1 },
  credit: { name: "outcome" },
  keep: { name: "all" },
  loss: { name: "clip", low: 0.2, high: 0.2, dual: 0 },
  normalization: { name: "sequence-mean" },
  kl: { name: "none" },
  correction: { name: "none" },
  optimizer: {
    name: "adamw",
    warmup: 0.1,
    decay: "cosine",
    beta1: 0.9,
    beta2: 0.999,
    weightDecay: 0.01,
    gradientClip: 1
  },
  advantage: { name: "standardised", epsilon: 1e-6 }
} as const satisfies TrainConfig
