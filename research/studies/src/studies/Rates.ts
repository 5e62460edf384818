import { Presets } from "@inspo/coevolution"
import type { Arm } from "../Arm.ts"

/** An arm of the preset `quick` with another learning rate and name; the arms it needs are renamed in the same way. */
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

/** The best learning rate of each arm in the study `tuning`, recorded in `research/docs/evidence/tuning.json`. */
export const best: Readonly<Record<string, number>> = {
  evolved: 3e-4,
  static: 3e-4,
  "hand-written": 3e-4,
  "instruction-first": 3e-4,
  "late-schedule": 3e-4,
  "random-proposer": 3e-4,
  sft: 3e-4,
  grpo: 3e-4,
  "sft-tool": 1e-3,
  "rejection-sampling": 3e-4
}

const usual = Presets.quick.train.learningRate

/** The best rate of an arm if it differs from the preset's; else null. */
const other = (arm: string): number | null => {
  const rate = best[arm] ?? usual
  return rate === usual ? null : rate
}

/** The name of an arm at its best rate; unchanged if that is the rate of the preset `quick`, or not known. */
export const nameAtBest = (arm: string): string => (other(arm) === null ? arm : `${arm}-tuned`)

/** The arms whose best rate differs from the preset's, at that rate; the arms they need are at their best rates too. */
export const tuned = (arms: ReadonlyArray<Arm>): ReadonlyArray<Arm> =>
  arms.flatMap((arm) => {
    const rate = other(arm.name)
    return rate === null ? [] : [withRate(arm, nameAtBest, rate)]
  })

/** A comparison of both arms at their best rates; none if these are the rates of the preset. */
export const atTheirBest = (left: string, right: string): ReadonlyArray<readonly [left: string, right: string]> =>
  other(left) === null && other(right) === null ? [] : [[nameAtBest(left), nameAtBest(right)]]
