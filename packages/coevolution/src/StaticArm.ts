import { ProposerModel } from "@inspo/reflection"
import type { Algorithm } from "./Algorithm.ts"

/**
 * The algorithm of the static arm: the seed instruction alone, no pruning, no evolution, and enough steps to spend at least
 * `rollouts`, with the learning-rate schedule over all of them. All other settings are equal.
 */
export const staticAlgorithm = (algorithm: Algorithm, rollouts: number): Algorithm => ({
  ...algorithm,
  variants: [],
  population: { ...algorithm.population, size: 1, parents: 1 },
  schedule: {
    ...algorithm.schedule,
    steps: Math.max(1, Math.ceil(rollouts / (algorithm.train.batchSize * algorithm.rollout.groupSize))),
    pruneEvery: 0,
    evolveEvery: 0,
    evolveUntil: 0
  },
  rollout: { ...algorithm.rollout, rescue: null },
  train: { ...algorithm.train, fromStep: algorithm.train.fromStep === null ? null : 1 },
  // Without proposals it needs no language model and no key.
  proposer: { ...algorithm.proposer, model: { ...algorithm.proposer.model, name: ProposerModel.offline } },
  control: { ...algorithm.control, permuteCredit: false, clauses: null, policyFirst: null }
})
