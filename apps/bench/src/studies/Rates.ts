import { Presets } from "@inspo/coevolution"
import type { Arm } from "../Arm.ts"

/** An arm of the preset `quick` at a learning rate, under another name; it needs arms that are named in the same way. */
export const withRate = (
  { description, name, needs, stages }: Arm,
  named: (arm: string) => string,
  learningRate: number
): Arm => ({
  name: named(name),
  description: `${description}; learning rate ${learningRate.toExponential()}`,
  preset: "quick",
  needs: needs.map(named),
  stages: stages.map((configure) => ({ results, ...context }) => {
    const config = configure({ ...context, results: (arm) => results(named(arm)) })
    return { ...config, train: { ...config.train, learningRate } }
  })
})

/** The learning rate at which each arm did best in the study `tuning`, whose record is `docs/evidence/tuning.json`. */
export const best: Readonly<Record<string, number>> = {
  evolved: 3e-4,
  static: 3e-4,
  sft: 3e-4,
  grpo: 3e-4,
  "sft-tool": 1e-3,
  "rejection-sampling": 3e-4
}

const usual = Presets.quick.train.learningRate

/** The best rate of an arm, where the record knows one that is not the preset's own. */
const other = (arm: string): number | null => {
  const rate = best[arm] ?? usual
  return rate === usual ? null : rate
}

/** The name of an arm at its own best: its own where that is the rate of the preset `quick`, or not known. */
export const nameAtBest = (arm: string): string => (other(arm) === null ? arm : `${arm}-tuned`)

/** Those of some arms whose best rate is another than the preset's, at that, within the budget of what they need at its best. */
export const tuned = (arms: ReadonlyArray<Arm>): ReadonlyArray<Arm> =>
  arms.flatMap((arm) => {
    const rate = other(arm.name)
    return rate === null ? [] : [withRate(arm, nameAtBest, rate)]
  })

/** Both arms of a comparison at their own best; nothing, where they are at it anyway. */
export const atTheirBest = (left: string, right: string): ReadonlyArray<readonly [left: string, right: string]> =>
  other(left) === null && other(right) === null ? [] : [[nameAtBest(left), nameAtBest(right)]]
