/** The arms that several studies share. */
import * as Ablations from "@inspo/coevolution/Ablations"
import { staticConfig } from "../../run/Baseline.ts"
import { type Arm, single, withBudgetOf } from "../Arm.ts"

export const evolved: Arm = single("evolved", "policy and instruction evolve together", (config) => config)

export const staticArm: Arm = withBudgetOf(
  "evolved",
  "static",
  "the seed instruction alone, equal rollouts",
  staticConfig
)

export const randomProposer: Arm = ablation(
  "ablation-proposer-random",
  "random-proposer",
  "proposer: random clauses of the same bank"
)

export const paraphraseProposer: Arm = ablation(
  "ablation-proposer-paraphrase",
  "paraphrase-proposer",
  "proposer: sees the parent alone"
)

export const historyProposer: Arm = ablation(
  "ablation-proposer-history",
  "history-proposer",
  "proposer: sees the scores of earlier instructions"
)

/** An ablation preset as an arm. */
export function ablation(preset: keyof ReturnType<typeof Ablations.of>, name: string, description: string): Arm {
  return single(name, description, (config) => Ablations.of(config)[preset])
}
