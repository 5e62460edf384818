/** Updates of the policy by the names of their authors: presets of the settings below `train`. */
import { Advantage, Losses } from "@inspo/policy-gradient"
import { Schema } from "effect"
import type { Algorithm } from "./Algorithm.ts"

interface Recipe {
  /** What it changes, as the rest of a sentence that begins with its name. */
  readonly description: string
  /** Whose it is. */
  readonly source: string
  readonly train: (algorithm: Algorithm) => Partial<Algorithm["train"]>
}

const bySequence = { name: "sequence-mean" } as const
const byToken = { name: "token-mean" } as const
const noKl = { name: "none" } as const
const advantage = Schema.decodeSync(Advantage.Advantage)
const loss = Schema.decodeSync(Losses.Loss)

/** The sum over each sequence divided by the longest that there can be. */
const bySum = ({ rollout }: Algorithm): Algorithm["train"]["normalization"] => ({
  name: "sequence-sum",
  tokens: rollout.maxTurns * rollout.maxResponseTokens
})

/** Every recipe, by name. */
export const recipes = {
  "dr-grpo": {
    description: "centres rewards in their group, and sums over each sequence",
    source: "Dr. GRPO, arXiv 2503.20783",
    train: (algorithm) => ({ advantage: advantage("centred"), normalization: bySum(algorithm), kl: noKl })
  },
  dapo: {
    description:
      "has a higher upper clip, trains groups of differing rewards alone, drawing up to 9 further batches, and takes the mean over tokens",
    source: "DAPO, arXiv 2503.14476",
    train: () => ({
      loss: loss({ name: "clip", high: 0.28 }),
      keep: { name: "differing", draws: 9 },
      normalization: byToken,
      kl: noKl
    })
  },
  gspo: {
    description: "clips the geometric mean ratio of each sequence",
    source: "GSPO, arXiv 2507.18071",
    train: () => ({ loss: loss("gspo"), normalization: bySequence, kl: noKl })
  },
  gmpo: {
    description: "takes the geometric mean of one-sidedly clipped ratios",
    source: "GMPO (verl, TRL)",
    train: () => ({ loss: loss("gmpo"), normalization: bySequence, kl: noKl })
  },
  cispo: {
    description: "bounds the ratio by 5 as a weight that takes no gradient",
    source: "CISPO of MiniMax-M1; the bound is that of TRL",
    train: () => ({ loss: loss({ name: "cispo", low: 1, high: 4 }), normalization: byToken, kl: noKl })
  },
  sapo: {
    description: "lets a smooth gate take the place of the clip",
    source: "SAPO, arXiv 2511.20347",
    train: () => ({ loss: loss("sapo"), normalization: bySequence, kl: noKl })
  },
  rloo: {
    description: "compares a reward with the mean of the others, without a clip, and has the KL term in the advantages",
    source: "RLOO, arXiv 2402.14740; the coefficient is that of TRL",
    train: (algorithm) => ({
      advantage: advantage("leave-one-out"),
      loss: loss("reinforce"),
      normalization: bySum(algorithm),
      kl: { name: "advantages", coefficient: 0.05 }
    })
  },
  loop: {
    description: "compares a reward with the mean of the others, and clips each token",
    source: "LOOP, arXiv 2502.01600",
    train: () => ({ advantage: advantage("leave-one-out"), normalization: byToken, kl: noKl })
  },
  maxrl: {
    description: "divides advantages by the success rate, for the likelihood of success",
    source: "MaxRL, arXiv 2602.02710",
    train: () => ({ advantage: advantage("max-likelihood"), kl: noKl })
  },
  "reinforce++": {
    description: "whitens rewards over the tokens of a step, and has the KL term in the advantages",
    source: "REINFORCE++ (verl)",
    train: ({ train }) => ({
      advantage: advantage("reinforce-plus-plus"),
      normalization: byToken,
      kl: { name: "advantages", coefficient: train.kl.name === "none" ? 0.001 : train.kl.coefficient }
    })
  },
  "reinforce++-baseline": {
    description: "whitens rewards less the mean of their group over the tokens of a step",
    source: "REINFORCE++ (verl)",
    train: () => ({ advantage: advantage("reinforce-plus-plus-baseline"), normalization: byToken })
  },
  "lite-ppo": {
    description: "divides by the deviation of the whole step, and takes the mean over tokens",
    source: "Lite PPO",
    train: () => ({ advantage: advantage("batch-scaled"), normalization: byToken, kl: noKl })
  },
  gpg: {
    description: "has no ratio, and is scaled up by the groups that differ",
    source: "GPG, arXiv 2504.02546",
    train: () => ({ advantage: advantage("gpg"), loss: loss("reinforce"), normalization: byToken, kl: noKl })
  },
  opo: {
    description: "has the baseline of least variance, no ratio, and no KL term",
    source: "OPO (verl)",
    train: () => ({ advantage: advantage("opo"), loss: loss("reinforce"), kl: noKl })
  }
} as const satisfies Record<string, Recipe>
