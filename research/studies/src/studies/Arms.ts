import { Ablations } from "@inspo/coevolution"
import { algorithmOf, type RunConfig, staticConfig, withAlgorithm } from "@inspo/config"
import { type Arm, having, single, withBudgetOf } from "../Arm.ts"

export const evolved: Arm = single("evolved", "policy and instruction evolve together", (config) => config)

export const staticArm: Arm = withBudgetOf(
  "evolved",
  "static",
  "the seed instruction alone, equal rollouts",
  staticConfig
)

export const randomProposer: Arm = without(
  ["reflection"],
  "random-proposer",
  "proposer: random clauses of the same bank"
)

export const paraphraseProposer: Arm = without(["failures"], "paraphrase-proposer", "proposer: sees the parent alone")

export const historyProposer: Arm = single(
  "history-proposer",
  "proposer: sees the scores of earlier instructions",
  (config) => ({ ...config, proposer: { ...config.proposer, kind: { name: "history", prompt: null } } })
)

/** A run without some parts of co-evolution. */
export function without(parts: ReadonlyArray<Ablations.Part>, name: string, description: string): Arm {
  return single(name, description, (config) => withAlgorithm(config, Ablations.without(config, parts)))
}

/** The seed instruction and variants of it, with equal shares to the end. */
export const constant = (config: RunConfig, variants: ReadonlyArray<string>): RunConfig => {
  const own = { ...having(config, "population", { size: 1 + variants.length }), variants }
  const kept = withAlgorithm(own, Ablations.without(algorithmOf(own), ["pruning", "expansion", "comparison"]))
  return having(kept, "selection", { temperature: 1e6 })
}
