import { Struct } from "effect"
import type { RunConfig } from "./Config.ts"

/**
 * What an experiment can leave out of co-evolution, and what remains then. Each changes nothing else, and nothing where it is
 * not there.
 */
export const parts = {
  population: {
    remains: "the seed instruction alone",
    remove: (config) => ({
      ...config,
      instruction: { ...config.instruction, seeds: [] },
      population: { ...config.population, size: 1, parents: 1 },
      schedule: { ...config.schedule, pruneEvery: 0, evolveEvery: 0, policyFirst: null }
    })
  },
  pruning: {
    remains: "no instruction leaves between evolutions; a refill still replaces all but the parents",
    remove: (config) => ({ ...config, schedule: { ...config.schedule, pruneEvery: 0 } })
  },
  expansion: {
    remains: "pruning alone, from the first population to the parents",
    remove: (config) => ({ ...config, schedule: { ...config.schedule, evolveEvery: 0 } })
  },
  verification: {
    remains: "candidates enter untried, in the order they were proposed",
    remove: (config) => ({ ...config, verification: { ...config.verification, samples: 0 } })
  },
  failures: {
    remains: "candidates are written from the parent alone",
    remove: (config) =>
      config.proposer.kind === "reflection"
        ? { ...config, proposer: { ...config.proposer, kind: "paraphrase" } }
        : config
  },
  reflection: {
    remains: "candidates are random edits with clauses of the offline bank",
    remove: (config) => ({ ...config, proposer: { ...config.proposer, kind: "random" } })
  },
  training: {
    remains: "the policy stays as it is, and instructions evolve under it",
    remove: (config) => ({
      ...config,
      schedule: { ...config.schedule, policyFirst: null },
      train: { ...config.train, fromStep: null }
    })
  }
} as const satisfies Record<string, { readonly remains: string; readonly remove: (config: RunConfig) => RunConfig }>

/** A part of co-evolution by name. */
export type Part = keyof typeof parts

/** The names of all parts. */
export const partNames: ReadonlyArray<Part> = Struct.keys(parts)

/** A config without some parts of co-evolution; their order does not matter. */
export const without = (config: RunConfig, left: ReadonlyArray<Part>): RunConfig =>
  left.reduce((smaller, name) => parts[name].remove(smaller), config)

/**
 * The instruction first: the policy is frozen for half of the steps, while instructions evolve once, at the first quarter,
 * and are pruned to one.
 */
export const prePolicy = (config: RunConfig): RunConfig => {
  const { half, quarter } = fractions(config)
  const halvings = Math.ceil(Math.log2(config.population.size))
  return {
    ...config,
    // Nobody is spared, so that one is left.
    halving: { ...config.halving, rule: "bottom-half" },
    schedule: {
      ...config.schedule,
      evolveEvery: quarter,
      evolveUntil: quarter,
      pruneEvery: Math.max(1, Math.floor((half - quarter) / halvings))
    },
    train: { ...config.train, fromStep: half + 1 }
  }
}

/** The policy first: the seed instruction alone for half of the steps; then instructions evolve under the frozen policy. */
export const postPolicy = (config: RunConfig): RunConfig => {
  const { half, quarter } = fractions(config)
  return {
    ...config,
    schedule: { ...config.schedule, evolveEvery: quarter, evolveUntil: half + quarter, policyFirst: half }
  }
}

const fractions = ({ schedule }: RunConfig) => ({
  half: Math.floor(schedule.steps / 2),
  quarter: Math.max(1, Math.floor(schedule.steps / 4))
})
