import { Schema } from "effect"
import type { RunConfig } from "./Config.ts"

/**
 * How a policy is trained.
 *
 * - `inspo`: policy and instruction evolve together
 * - `grpo-static`: GRPO with tools under the seed instruction, as Search-R1 trains
 * - `grpo`: GRPO without tools: the policy answers at once
 * - `rejection-sampling`: the policy learns its own rewarded rollouts by heart, under the seed instruction
 * - `sft`: supervised fine-tuning on the golden answers, without tools
 * - `sft-tool`: supervised fine-tuning on demonstrations that search for every supporting passage, then answer
 */
export const Method = Schema.Literals(["inspo", "grpo-static", "grpo", "rejection-sampling", "sft", "sft-tool"])
export type Method = typeof Method.Type

/** A config bent to a training method. */
export const bend = (config: RunConfig, method: Method): RunConfig => {
  switch (method) {
    case "inspo":
      return config
    case "grpo-static":
      return oneInstruction(config)
    case "grpo":
      return toolFree(oneInstruction(config))
    case "rejection-sampling":
      return likelihood(oneInstruction(config), null)
    case "sft":
      return oneTrajectory(likelihood(toolFree(oneInstruction(config)), "answers"))
    case "sft-tool":
      return oneTrajectory(likelihood(oneInstruction(config), "searches"))
  }
}

const oneInstruction = (config: RunConfig): RunConfig => ({
  ...config,
  population: { ...config.population, size: 1, parents: 1 },
  schedule: { ...config.schedule, pruneEvery: 0, evolveEvery: 0, policyFirst: null }
})

/** For a policy that has nothing to call. */
const toolFree = (config: RunConfig): RunConfig => ({
  ...config,
  rollout: { ...config.rollout, agent: "direct" },
  instruction: {
    ...config.instruction,
    seed: "Answer the question. Put the final answer between <answer> and </answer>."
  }
})

/** Maximum likelihood of what was rewarded, with nothing to hold the policy where it is. */
const likelihood = (config: RunConfig, demonstrations: RunConfig["train"]["demonstrations"]): RunConfig => ({
  ...config,
  train: { ...config.train, advantage: "reward", klCoefficient: 0, entropyCoefficient: 0, demonstrations }
})

const oneTrajectory = (config: RunConfig): RunConfig => ({ ...config, rollout: { ...config.rollout, groupSize: 1 } })
