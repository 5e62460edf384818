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
  const proposedBy = (kind: RunConfig["proposer"]["kind"]): RunConfig => ({ ...base, proposer: { ...proposer, kind } })
  const withParents = (parents: number): RunConfig => ({ ...base, population: { ...population, parents } })
  const atTemperature = (temperature: number): RunConfig => ({ ...base, sampler: { ...sampler, temperature } })
  return {
    "ablation-static": {
      ...base,
      population: { ...population, size: 1, parents: 1 },
      schedule: { ...schedule, pruneEvery: 0, evolveEvery: 0 }
    },
    "ablation-constant-population": { ...base, schedule: { ...schedule, pruneEvery: 0, evolveEvery: 0 } },
    "ablation-no-pruning": { ...base, schedule: { ...schedule, pruneEvery: 0 } },
    "ablation-no-expansion": { ...base, schedule: { ...schedule, evolveEvery: 0 } },
    "ablation-no-verification": { ...base, verification: { ...verification, samples: 0 } },
    "ablation-proposer-random": proposedBy("random"),
    "ablation-proposer-paraphrase": proposedBy("paraphrase"),
    "ablation-proposer-history": proposedBy("history"),
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
    "ablation-parents-2": withParents(2),
    "ablation-parents-4": withParents(4),
    "ablation-temperature-0.05": atTemperature(0.05),
    "ablation-temperature-1": atTemperature(1)
  } satisfies Record<string, RunConfig>
}
