import type { RunConfig } from "./Config.ts"

/**
 * The config of the static arm: the seed instruction alone, no pruning, no evolution, and as many steps as spend at least
 * `rollouts`, with the learning-rate schedule stretched over them. All else stays equal.
 */
export const staticConfig = (config: RunConfig, rollouts: number): RunConfig => ({
  ...config,
  instruction: { ...config.instruction, seeds: [] },
  population: { ...config.population, size: 1, parents: 1 },
  schedule: {
    ...config.schedule,
    steps: Math.max(1, Math.ceil(rollouts / (config.train.batchSize * config.rollout.groupSize))),
    pruneEvery: 0,
    evolveEvery: 0,
    evolveUntil: 0,
    policyFirst: null
  },
  train: { ...config.train, fromStep: config.train.fromStep === null ? null : 1 },
  // It proposes nothing, and so needs no language model and no key.
  optimizer: { ...config.optimizer, provider: "offline" },
  // Beside a run in a database it keeps a file of its own.
  journal: { ...config.journal, url: null },
  control: { permuteCredit: false, clauses: null }
})
