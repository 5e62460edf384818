import { Method } from "@inspo/coevolution"
import { type RunConfig, staticConfig, withAlgorithm } from "@inspo/config"
import { type Arm, against, having, inBatchesOf, single, withBudgetOf, withRate } from "../Arm.ts"
import type { Study } from "../Study.ts"
import { evolved, staticArm } from "./Arms.ts"

/** The initial policy as an agent, without training: a run has at least one step, so it answers one training question. */
const untrained = (name: string, description: string, config: (config: RunConfig) => RunConfig): Arm =>
  single(name, description, (base) => {
    const alone = having(inBatchesOf(config(base), 1), "population", { size: 1, parents: 1 })
    const once = having(alone, "schedule", { steps: 1, pruneEvery: 0, evolveEvery: 0 })
    return having(having(once, "rollout", { groupSize: 1 }), "train", { fromStep: null })
  })

const withAgent = (name: "ircot" | "rag" | "search-o1") => (config: RunConfig) =>
  having(config, "rollout", { agent: { name } })

const bent = (config: RunConfig, method: Method.Method): RunConfig => withAlgorithm(config, Method.bend(config, method))

const trained = (method: Method.Method, name: string, description: string): Arm =>
  withBudgetOf("evolved", name, description, (config, rollouts) => staticConfig(bent(config, method), rollouts))

/** Supervised learning uses one demonstration instead of a group of rollouts: as many updates, fewer trajectories. */
const supervised = (method: Method.Method, name: string, description: string): Arm =>
  withBudgetOf("evolved", name, description, (config, rollouts) =>
    staticConfig(bent(config, method), Math.ceil(rollouts / config.rollout.groupSize))
  )

const sft = supervised("sft", "sft", "supervised on golden answers, without tools")

const grpo = trained("grpo", "grpo", "GRPO without tools, equal rollouts")

const sftTool = supervised(
  "sft-tool",
  "sft-tool",
  "supervised on demonstrations that search for every supporting passage"
)

const rejectionSampling = trained(
  "rejection-sampling",
  "rejection-sampling",
  "the policy learns its own rewarded rollouts, equal rollouts"
)

/** The methods of the paper's Table 1. */
export const table1: Study = {
  name: "table1",
  title: "The methods of the paper's Table 1",
  arms: [
    evolved,
    staticArm,
    untrained("direct", "the initial policy answers without search", (config) => bent(config, "grpo")),
    sft,
    grpo,
    untrained("rag", "the initial policy with the results of a search for the question", withAgent("rag")),
    untrained("ircot", "the initial policy with a search for every sentence of its reasoning", withAgent("ircot")),
    untrained("search-o1", "the initial policy with its own summary of search results", withAgent("search-o1")),
    sftTool,
    rejectionSampling,
    // Its best rate is another than that of the preset, which all others have.
    withRate(sftTool, (name) => (name === "sft-tool" ? "sft-tool-tuned" : name), 1e-3)
  ],
  main: ["evolved", "static"],
  comparisons: [
    ...against("evolved", ["sft-tool-tuned", "static", "sft-tool", "rejection-sampling", "grpo"]),
    ["static", "grpo"]
  ],
  notes: [
    "`evolved` is INSPO, `static` is GRPO with tools under one instruction, as Search-R1 trains. The demonstrations of " +
      "`sft-tool` contain the supporting passages of every training question, which the others have to find."
  ]
}
