import { Context, type Effect, Layer } from "effect"
import type { ScoredEpisode } from "./ScoredEpisode.ts"
import type { RewardError, RewardFunction, Scored } from "./RewardFunction.ts"
import { em } from "./kinds/Measured.ts"
import { defaultOptions } from "./RewardKind.ts"

/** Judges finished episodes. */
export class Reward extends Context.Service<Reward, Reward.Interface>()("@inspo/reward/Reward") {}

export declare namespace Reward {
  export interface Interface {
    /** Scores one attempt. Calls made at the same time may be answered together. */
    readonly score: (attempt: ScoredEpisode) => Effect.Effect<Scored, RewardError>
  }
}

/** A reward function as the service. */
export const layer = ({ score }: RewardFunction): Layer.Layer<Reward> => Layer.succeed(Reward, { score })

/** The reward of the paper: 1 when the last answer equals a golden answer after normalisation, else 0. */
export const layerExactMatch: Layer.Layer<Reward> = layer(em.make(defaultOptions))
