import { Schema, Struct } from "effect"
import type { Algorithm } from "./Algorithm.ts"
import { recipes } from "./Recipes.ts"

/**
 * How a policy is trained.
 *
 * - `inspo`: policy and instruction evolve together
 * - `grpo-static`: GRPO with tools under the seed instruction, as in Search-R1
 * - `grpo`: GRPO without tools: the policy answers directly
 * - `rejection-sampling`: supervised fine-tuning on the policy's own rewarded rollouts, under the seed instruction
 * - `sft`: supervised fine-tuning on the golden answers, without tools
 * - `sft-tool`: supervised fine-tuning on demonstrations that search for every supporting passage, then answer
 * - a recipe: policy and instruction evolve together, by the update of its authors
 */
export const Method = Schema.Literals([
  "inspo",
  "grpo-static",
  "grpo",
  "rejection-sampling",
  "sft",
  "sft-tool",
  ...Struct.keys(recipes)
])
export type Method = typeof Method.Type

/** An algorithm changed to a training method. */
export const bend = (algorithm: Algorithm, method: Method): Algorithm => {
  switch (method) {
    case "inspo":
      return algorithm
    case "grpo-static":
      return oneInstruction(algorithm)
    case "grpo":
      return toolFree(oneInstruction(algorithm))
    case "rejection-sampling":
      return likelihood(oneInstruction(algorithm), null)
    case "sft":
      return oneTrajectory(likelihood(toolFree(oneInstruction(algorithm)), "answers"))
    case "sft-tool":
      return oneTrajectory(likelihood(oneInstruction(algorithm), "searches"))
    default:
      return { ...algorithm, train: { ...algorithm.train, ...recipes[method].train(algorithm) } }
  }
}

const oneInstruction = (algorithm: Algorithm): Algorithm => ({
  ...algorithm,
  population: { ...algorithm.population, size: 1, parents: 1 },
  schedule: { ...algorithm.schedule, pruneEvery: 0, evolveEvery: 0 },
  control: { ...algorithm.control, policyFirst: null }
})

/** For a policy without tools. */
const toolFree = (algorithm: Algorithm): Algorithm => ({
  ...algorithm,
  rollout: { ...algorithm.rollout, agent: { name: "direct" } },
  seedInstruction: "Answer the question. Put the final answer between <answer> and </answer>."
})

/** Maximum likelihood of rewarded texts, without a KL term. */
const likelihood = (algorithm: Algorithm, demonstrations: Algorithm["control"]["demonstrations"]): Algorithm => ({
  ...algorithm,
  train: { ...algorithm.train, ...likelihoodOf },
  reward: { ...algorithm.reward, shaping: { name: "none" } },
  control: { ...algorithm.control, demonstrations }
})

/** The update of maximum likelihood. */
export const likelihoodOf = {
  advantage: { name: "reward" },
  credit: { name: "outcome" },
  keep: { name: "all" },
  loss: { name: "clip", low: 0.2, high: 0.2, dual: 0 },
  kl: { name: "none" }
} as const satisfies Partial<Algorithm["train"]>

const oneTrajectory = (algorithm: Algorithm): Algorithm => ({
  ...algorithm,
  rollout: { ...algorithm.rollout, groupSize: 1 }
})
