import { Struct } from "effect"
import type { Algorithm } from "./Algorithm.ts"

/** The parts of co-evolution that an experiment can leave out, with what remains. Nothing else changes. */
export const parts = {
  population: {
    remains: "the seed instruction alone",
    remove: (algorithm) => ({
      ...algorithm,
      variants: [],
      population: { ...algorithm.population, size: 1, parents: 1 },
      rollout: { ...algorithm.rollout, rescue: null },
      schedule: { ...algorithm.schedule, pruneEvery: 0, evolveEvery: 0 },
      control: { ...algorithm.control, policyFirst: null }
    })
  },
  pruning: {
    remains: "no pruning between evolutions; a refill still makes room for newcomers",
    remove: (algorithm) => ({ ...algorithm, schedule: { ...algorithm.schedule, pruneEvery: 0 } })
  },
  expansion: {
    remains: "the first population, without newcomers",
    remove: (algorithm) => ({ ...algorithm, schedule: { ...algorithm.schedule, evolveEvery: 0 } })
  },
  verification: {
    remains: "candidates enter without verification, in the order in which they were proposed",
    remove: (algorithm) => ({ ...algorithm, verification: { ...algorithm.verification, samples: 0 } })
  },
  sharing: {
    remains: "one instruction for each question",
    remove: (algorithm) => ({ ...algorithm, rollout: { ...algorithm.rollout, instructionsPerQuestion: 1 } })
  },
  comparison: {
    remains: "values by the mean of the last steps, and shares by the softmax of these values",
    remove: (algorithm) =>
      algorithm.selection.average === "questions"
        ? { ...algorithm, selection: { ...algorithm.selection, average: "steps", shares: "softmax" } }
        : algorithm
  },
  evidence: {
    remains:
      "the bottom half is pruned, an evolution replaces all but the parents, and the best of the last population is returned",
    remove: (algorithm) => (algorithm.selection.removal === "evidence" ? withoutEvidence(algorithm) : algorithm)
  },
  failures: {
    remains: "candidates are written from the parent alone",
    remove: (algorithm) =>
      algorithm.proposer.kind.name === "reflection"
        ? { ...algorithm, proposer: { ...algorithm.proposer, kind: { name: "paraphrase", prompt: null } } }
        : algorithm
  },
  reflection: {
    remains: "candidates are random edits with clauses of the offline bank",
    remove: (algorithm) => ({ ...algorithm, proposer: { ...algorithm.proposer, kind: { name: "random" } } })
  },
  training: {
    remains: "a frozen policy, under which instructions evolve",
    remove: (algorithm) => ({
      ...algorithm,
      control: { ...algorithm.control, policyFirst: null },
      rollout: { ...algorithm.rollout, instructionsPerQuestion: sharedBySamples(algorithm.rollout) },
      train: { ...algorithm.train, fromStep: null }
    })
  }
} as const satisfies Record<string, { readonly remains: string; readonly remove: (algorithm: Algorithm) => Algorithm }>

/** The name of a part of co-evolution. */
export type Part = keyof typeof parts

/** The names of all parts. */
export const partNames: ReadonlyArray<Part> = Struct.keys(parts)

/** An algorithm without some parts of co-evolution; their order does not matter. */
export const without = (algorithm: Algorithm, left: ReadonlyArray<Part>): Algorithm =>
  left.reduce((smaller, name) => parts[name].remove(smaller), algorithm)

/** Halving by values. It can prune the seed, so that nothing is compared with it and the policy trains under others. */
const withoutEvidence = (algorithm: Algorithm): Algorithm => ({
  ...algorithm,
  selection: { ...algorithm.selection, removal: "bottom-half", instruction: "best" }
})

/** Without gradients, a group that instructions share says most for its rollouts. */
const sharedBySamples = ({
  groupSize,
  instructionsPerQuestion
}: Algorithm["rollout"]): Algorithm["rollout"]["instructionsPerQuestion"] =>
  groupSize > 1 && instructionsPerQuestion !== 1 ? "samples" : instructionsPerQuestion
