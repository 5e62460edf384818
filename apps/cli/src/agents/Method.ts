import { Schema } from "effect"
import type { Override } from "../config/Resolve.ts"

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

/** What a method changes of a preset; a config file and `--set` come after it. */
export const override = (method: Method): Override => {
  switch (method) {
    case "inspo":
      return {}
    case "grpo-static":
      return oneInstruction
    case "grpo":
      return { ...oneInstruction, ...toolFree }
    case "rejection-sampling":
      return { ...oneInstruction, train: likelihood }
    case "sft":
      return {
        ...oneInstruction,
        ...toolFree,
        rollout: { ...toolFree.rollout, groupSize: 1 },
        train: { ...likelihood, demonstrations: "answers" }
      }
    case "sft-tool":
      return { ...oneInstruction, rollout: { groupSize: 1 }, train: { ...likelihood, demonstrations: "searches" } }
  }
}

const oneInstruction: Override = {
  population: { size: 1, parents: 1, initial: null },
  schedule: { pruneEvery: 0, evolveEvery: 0 }
}

/** For a policy that has nothing to call. */
const toolFree = {
  rollout: { agent: "direct" },
  instruction: { seed: "Answer the question. Put the final answer between <answer> and </answer>." }
} as const

/** Maximum likelihood of what was rewarded, with nothing to hold the policy where it is. */
const likelihood = { advantage: "reward", klCoefficient: 0, entropyCoefficient: 0 } as const
