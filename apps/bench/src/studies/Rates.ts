import { Option, Record } from "effect"
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
export const best = { evolved: 3e-4, static: 3e-4 } as const

/** Those of some arms that were tuned, each at its own best, within the budget of those it needs at theirs. */
export const tuned = (arms: ReadonlyArray<Arm>): ReadonlyArray<Arm> =>
  arms.flatMap((arm) =>
    Option.toArray(
      Option.map(Record.get<string, number>(best, arm.name), (rate) => withRate(arm, (name) => `${name}-tuned`, rate))
    )
  )
