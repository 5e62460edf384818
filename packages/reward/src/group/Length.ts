import { groupReward, perAttempt } from "../GroupReward.ts"
import { Moments } from "@inspo/statistics"

/** DAPO's soft punishment of overlong rollouts: it begins `buffer` tokens before the limit, and is 1 from the limit on. */
export const softOverlong = groupReward({
  name: "soft-overlong",
  description: "punishes rollouts that come close to their limit of tokens",
  formula: "r + clip((M − c − L) / c, −1, 0)",
  source: "DAPO, arXiv 2503.14476",
  certainty: "code",
  verl: "overlong_buffer_cfg, which falls below −1",
  trl: "get_soft_overlong_punishment",
  defaults: { limit: 20_480, buffer: 4096 },
  compute: perAttempt(
    ({ length, reward }, { buffer, limit }) => reward + Moments.clamp((limit - buffer - length) / buffer, -1, 0)
  )
})

/** TRL's cosine of the length: short successes earn more, short failures less. Every success beats every failure. */
export const cosineLength = groupReward({
  name: "cosine-length",
  description: "rewards short successes, and long failures, more",
  formula: "least + ½ · (most − least) · (1 + cos(π · min(L / M, 1)))",
  source: "cosine reward (TRL)",
  certainty: "code",
  trl: "get_cosine_scaled_reward",
  defaults: { limit: 1000, least: 0.5, most: 1 },
  compute: perAttempt(({ length, reward }, { least, limit, most }) => {
    const share = (1 + Math.cos(Math.PI * Math.min(length / limit, 1))) / 2
    return reward > 0 ? least + (most - least) * share : -least - (most - least) * share
  })
})
