/** A step of the loop without a model: rollouts of episodes, converted to training data. */
import { Presets } from "@inspo/coevolution"
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

/** Our settings at the paper's scale, without the reference policy. */
const trainConfig: TrainConfig = { ...Presets.robust.train, kl: { name: "none" } }
