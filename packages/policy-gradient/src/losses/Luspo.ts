import { sumAll } from "effect/Number"
import { clippedObjective, clippedWeight, logRatios, surrogate } from "../Surrogate.ts"
import { ratioOf } from "./Gspo.ts"

/**
 * LUSPO: GSPO with the sum over the tokens of a sequence for their mean, so that short answers are not preferred. Sequences of
 * one length have the gradient of GSPO times that length, also at ratio 1.
 */
export const luspo = surrogate({
  name: "luspo",
  description: "is GSPO times the length of the sequence",
  formula: "g = L · sA, clipped by s",
  source: "LUSPO (TRL)",
  certainty: "code",
  trl: "luspo",
  ofSequences: true,
  defaults: { low: 2e-3, high: 2.5e-3 },
  gradient: (sequence, bounds) => {
    const ratio = ratioOf(sequence)
    return sequence.advantages.map((advantage) => sequence.logprobs.length * clippedWeight(ratio, advantage, bounds))
  },
  written: (sequence, bounds, held) => {
    const drift = logRatios({ ...sequence, old: held.logprobs }).map(Math.exp)
    const ratio = ratioOf(held)
    return sumAll(
      sequence.advantages.map((advantage, index) =>
        clippedObjective(ratio * (drift[index] ?? Number.NaN), advantage, bounds)
      )
    )
  }
})
