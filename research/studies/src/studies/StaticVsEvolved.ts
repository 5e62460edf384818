import { type RunConfig, staticConfig } from "@inspo/config"
import type { Ablations } from "@inspo/coevolution"
import { fileURLToPath } from "node:url"
import { ClauseBank } from "@inspo/reflection"
import { type Arm, against, having, single, spentIn, withBudgetOf } from "../Arm.ts"
import type { Study } from "../Study.ts"
import { evolved, randomProposer, staticArm, without } from "./Arms.ts"
import { orders } from "./Together.ts"

/** The seed instruction with one useful clause for every behaviour. */
export const handWritten = (seed: string): string =>
  [seed, ...ClauseBank.clauses.flatMap(({ direction, texts }) => (direction === 1 ? [texts[0]] : []))].join(" ")

const staticEqualTokens: Arm = {
  name: "static-equal-tokens",
  description: "the seed instruction alone, equal tokens",
  needs: ["evolved", "static"],
  stages: [
    ({ config, results }) => {
      const own = results("static")
      const tokensPerRollout = spentIn(own, "tokens") / Math.max(1, spentIn(own, "rollouts"))
      return staticConfig(config, Math.round(spentIn(results("evolved"), "tokens") / Math.max(1, tokensPerRollout)))
    }
  ]
}

const handWrittenArm: Arm = withBudgetOf(
  "evolved",
  "hand-written",
  "a hand-written good instruction, equal rollouts",
  (config, rollouts) => ({
    ...staticConfig(config, rollouts),
    seedInstruction: handWritten(config.seedInstruction)
  })
)

const instructionFirst: Arm = {
  name: "instruction-first",
  description: orders["instruction-first"].description,
  needs: ["evolved"],
  stages: orders["instruction-first"].stages(({ results }) => spentIn(results("evolved"), "rollouts"), false)
}

const permutedCredit: Arm = single(
  "permuted-credit",
  "control: credit and verification scores permuted, policy rewards true",
  (config) => having(config, "control", { permuteCredit: true })
)

/** The schedule of the paper, in proportion: evolution for the first time after a quarter of the run. */
const lateSchedule: Arm = single(
  "late-schedule",
  "the same choice among instructions, evolution every 15 steps",
  (config) => having(config, "schedule", { pruneEvery: 5, evolveEvery: 15 })
)

/** What the choice of the paper leaves out of ours. */
export const plainSelectionParts: ReadonlyArray<Ablations.Part> = ["sharing", "comparison", "evidence"]

/** The choice of the paper on the schedule of `quick`. */
const plainSelection: Arm = without(
  plainSelectionParts,
  "plain-selection",
  "the same schedule, one instruction per question, softmax and halving by means"
)

/** The checkpoint that was trained to ignore instructions. */
const nullModel = fileURLToPath(new URL("model-null", import.meta.resolve("@inspo/engine-local/package.json")))
const withNullModel = (config: RunConfig): RunConfig => ({ ...config, engine: { ...config.engine, model: nullModel } })

const nullEvolved: Arm = single("null-evolved", "control: a policy that ignores clauses, evolved", withNullModel)

const nullStatic: Arm = withBudgetOf(
  "null-evolved",
  "null-static",
  "control: a policy that ignores clauses, static, equal rollouts",
  (config, rollouts) => withNullModel(staticConfig(config, rollouts))
)

const rivals: ReadonlyArray<Arm> = [handWrittenArm, instructionFirst, lateSchedule, randomProposer]

const controls: ReadonlyArray<Arm> = [plainSelection, permutedCredit]

/** Does co-evolution beat the static instruction at an equal budget, and not in the controls? */
export const staticVsEvolved: Study = {
  name: "static-vs-evolved",
  title: "Static and evolved instructions",
  arms: [evolved, staticArm, ...rivals, ...controls, staticEqualTokens, nullEvolved, nullStatic],
  main: ["evolved", "static"],
  comparisons: [
    ...against("evolved", ["static", ...[...rivals, ...controls].map(({ name }) => name), "static-equal-tokens"]),
    ["null-evolved", "null-static"]
  ],
  notes: []
}
