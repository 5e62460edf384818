/** A step of the loop without a model: rollouts of episodes, converted to training data. */
import { GrpoBatch, type TrainConfig } from "@inspo/policy-gradient"
import { type Episode, Rollout } from "@inspo/rollout"
import { Effect } from "effect"

/** The training requests of a step, and its number of samples. */
export const play = Effect.fnUntraced(function* (episodes: ReadonlyArray<Episode>) {
  const { collect } = yield* Rollout
  const trajectories = yield* collect(episodes)
  return {
    requests: GrpoBatch.trainRequests(trajectories, trainConfig, { key: "train/1", learningRate: 1e-6 }),
    samples: trajectories.reduce((total, { turns }) => total + turns, 0)
  }
})

/** The settings of the paper, without the reference policy. */
const trainConfig: TrainConfig = {
  miniBatch: { size: 256, unit: "questions", epochs: 1 },
  credit: { name: "outcome" },
  keep: { name: "all" },
  loss: { name: "clip", low: 0.2, high: 0.2, dual: 0 },
  normalization: { name: "sequence-mean" },
  kl: { name: "none" },
  entropy: 0,
  optimizer: {
    name: "adamw",
    warmup: 0.1,
    decay: "cosine",
    beta1: 0.9,
    beta2: 0.999,
    weightDecay: 0.01,
    gradientClip: 1
  },
  learningRate: 5e-7,
  advantage: { name: "standardised", epsilon: 1e-6 }
}
