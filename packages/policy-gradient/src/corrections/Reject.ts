import { correction, logsOf } from "../Correction.ts"
import { Moments } from "@inspo/statistics"

/** Rollouts whose geometric mean ratio is out of bounds are left out; the others count fully. verl bounds the inverse ratio. */
export const rejectSequence = correction({
  name: "reject-sequence",
  description: "leaves out rollouts whose geometric mean ratio is out of bounds",
  formula: "1 if exp(mean −log ρ′) is within [low, high], else 0",
  source: "rejection of verl",
  certainty: "code",
  verl: "rollout_rs: seq_mean_k1",
  defaults: { low: 0.999, high: 1.001 },
  compute: (sampled, { high, low }) => {
    const inverse = Math.exp(-Moments.mean(logsOf(sampled)))
    return sampled.trainer.map(() => (inverse >= low && inverse <= high ? 1 : 0))
  }
})

/**
 * The mask of DeepSeek-V3.2: failures that the trainer would hardly make any more are left out, since what is learnt from them
 * is about another policy. Successes always count.
 */
export const rejectFailures = correction({
  name: "reject-failures",
  description: "leaves out failures that the trainer finds much less probable than the sampler",
  formula: "0 if A < 0 and mean(log π_sampler − log π) > δ, else 1",
  source: "DeepSeek-V3.2 (TRL)",
  certainty: "code",
  trl: "off_policy_mask_threshold",
  defaults: { delta: 0.5 },
  compute: (sampled, { delta }) => {
    const away = sampled.advantage < 0 && -Moments.mean(logsOf(sampled)) > delta
    return sampled.trainer.map(() => (away ? 0 : 1))
  }
})
