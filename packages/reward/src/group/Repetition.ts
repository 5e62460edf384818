import { groupReward, perAttempt } from "../GroupReward.ts"
import { Method } from "@inspo/domain"

/** TRL's penalty for repetition: the share of the n-grams of words that occurred before. It is 0 where all differ. */
export const repetition = groupReward({
  name: "repetition",
  description: "punishes repeated n-grams of words",
  formula: "r + penalty · (1 − distinct n-grams / n-grams)",
  source: "repetition penalty (TRL)",
  certainty: "code",
  trl: "get_repetition_penalty_reward",
  needs: "the words of rollouts",
  isSupplied: true,
  defaults: { size: 3, penalty: -1 },
  compute: perAttempt(({ reward, words }, { penalty, size }) => {
    const all = Method.required("repetition", "words", words).map((word) => word.toLowerCase())
    const grams = all.slice(size - 1).map((_, index) => JSON.stringify(all.slice(index, index + size)))
    return grams.length === 0 ? reward : reward + penalty * (1 - new Set(grams).size / grams.length)
  })
})
