import { sumAll } from "effect/Number"
import { centre, type Estimator } from "../Estimator.ts"

/** What Eq. 3 adds to the standard deviation. */
const epsilon = 1e-6

/** Eq. 3 of the INSPO paper, as in GRPO. Advantages of a group sum to 0; equal rewards get zeros. */
export const standardised: Estimator<"standardised"> = {
  name: "standardised",
  description: "is the centred reward divided by the standard deviation of its group (Eq. 3)",
  allowsLevels: false,
  ofGroup: (rewards) => {
    const centred = centre(rewards)
    if (centred.every((value) => value === 0)) return centred
    const deviation = Math.sqrt(sumAll(centred.map((value) => value * value)) / (rewards.length - 1))
    return centred.map((value) => value / (deviation + epsilon))
  }
}
