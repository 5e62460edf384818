import { Schema } from "effect"
import type { Override } from "../config/Resolve.ts"

/**
 * How a policy is trained.
 *
 * - `inspo`: policy and instruction evolve together
 * - `grpo-static`: GRPO with tools under the seed instruction, as Search-R1 trains
 * - `grpo`: GRPO without tools: the policy answers at once
 */
export const Method = Schema.Literals(["inspo", "grpo-static", "grpo"])
export type Method = typeof Method.Type

/** What a method changes of a preset; a config file and `--set` come after it. */
export const override = (method: Method): Override => {
  switch (method) {
    case "inspo":
      return {}
    case "grpo-static":
      return oneInstruction
    case "grpo":
      return { ...oneInstruction, rollout: { agent: "direct" }, instruction: { seed: withoutTools } }
  }
}

const oneInstruction: Override = {
  population: { size: 1, parents: 1, initial: null },
  schedule: { pruneEvery: 0, evolveEvery: 0 }
}

/** The seed instruction for a policy that has nothing to call. */
const withoutTools = "Answer the question. Put the final answer between <answer> and </answer>."
