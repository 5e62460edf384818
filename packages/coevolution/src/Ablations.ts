import type { RunConfig } from "./Config.ts"

/**
 * The ablations of a config by preset name: each changes what its name says and nothing else.
 *
 * `pre-policy` and `post-policy` split a run of `steps` in two. Before the policy trains (`pre-policy`), the instructions
 * evolve once, at the first quarter, and are pruned to one by the half. After it (`post-policy`), the seed instruction alone
 * is trained for the first half; evolution begins at its end, under the frozen policy.
 */
export const of = (base: RunConfig) => {
  const { population, proposer, sampler, schedule, train, verification } = base
  const half = Math.floor(schedule.steps / 2)
  const quarter = Math.max(1, Math.floor(schedule.steps / 4))
  const halvings = Math.ceil(Math.log2(population.size))
  const atTemperature = (temperature: number): RunConfig => ({ ...base, sampler: { ...sampler, temperature } })
  const withVerification = (change: Partial<RunConfig["verification"]>): RunConfig => ({
    ...base,
    verification: { ...verification, ...change }
  })
  const withPopulation = (change: Partial<RunConfig["population"]>): RunConfig => ({
    ...base,
    population: { ...population, ...change }
  })
  const withProposer = (change: Partial<RunConfig["proposer"]>): RunConfig => ({
    ...base,
    proposer: { ...proposer, ...change }
  })
  return {
    "ablation-static": {
      ...base,
      population: { ...population, size: 1, parents: 1 },
      schedule: { ...schedule, pruneEvery: 0, evolveEvery: 0 }
    },
    "ablation-constant-population": { ...base, schedule: { ...schedule, pruneEvery: 0, evolveEvery: 0 } },
    "ablation-no-pruning": { ...base, schedule: { ...schedule, pruneEvery: 0 } },
    "ablation-no-expansion": { ...base, schedule: { ...schedule, evolveEvery: 0 } },
    "ablation-no-verification": withVerification({ samples: 0 }),
    "ablation-proposer-random": withProposer({ kind: "random" }),
    "ablation-proposer-paraphrase": withProposer({ kind: "paraphrase" }),
    "ablation-proposer-history": withProposer({ kind: "history" }),
    "ablation-pre-policy": {
      ...base,
      halving: { ...base.halving, minimumGroups: 0 },
      schedule: {
        ...schedule,
        evolveEvery: quarter,
        evolveUntil: quarter,
        evolveUntilInclusive: true,
        pruneEvery: Math.max(1, Math.floor((half - quarter) / halvings))
      },
      train: { ...train, fromStep: half + 1 }
    },
    "ablation-post-policy": {
      ...base,
      population: { ...population, initial: 1 },
      schedule: { ...schedule, evolveEvery: quarter, evolveFrom: half, evolveUntil: half + quarter },
      train: { ...train, untilStep: half }
    },
    "ablation-early-stop": withVerification({ stop: 0.05, race: true, lookEvery: 4 }),
    "ablation-reuse": withVerification({ reuse: true }),
    "ablation-instruction-only": { ...base, train: { ...train, fromStep: null, untilStep: null } },
    "ablation-crossover": withProposer({ crossover: 2 }),
    "ablation-diversity": withProposer({ maxSimilarity: 0.8 }),
    "ablation-pareto": withPopulation({ parents: 2, parentChoice: "pareto" }),
    "ablation-archive": withPopulation({ archive: 2 }),
    "ablation-parents-2": withPopulation({ parents: 2 }),
    "ablation-parents-4": withPopulation({ parents: 4 }),
    "ablation-temperature-0.05": atTemperature(0.05),
    "ablation-temperature-1": atTemperature(1)
  } satisfies Record<string, RunConfig>
}
