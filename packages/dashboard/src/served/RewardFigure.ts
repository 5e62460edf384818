import { Settings } from "@inspo/cohorts"
import { axis, labels, plural } from "@inspo/report"
import { look } from "../Curves.ts"
import type { Figure } from "../Figure.ts"
import type { PopulationLog } from "./PopulationLog.ts"
import { series } from "./Rewards.ts"

/** The rewards of instructions over cohorts, on the scale of the population; null before the first reward of any of them. */
export const rewardFigure = (log: PopulationLog, instructions: ReadonlyArray<string>): Figure | null => {
  const { cohorts, of, width } = series(log.rewards, mostPoints)
  const rewarded = instructions.filter((id) => of.has(id))
  if (rewarded.length === 0) return null
  const drawn = rewarded.slice(0, mostDrawn)
  const label = labels(log.naming.names)
  const scaled = (value: number) => Settings.onScale(log.scale, value)
  return {
    title: "Mean reward",
    steps: cohorts,
    curves: drawn.map((id, index) => {
      const points = of.get(id) ?? []
      return {
        label: label(id),
        values: points.map((point) => (point === null ? null : scaled(point.mean))),
        band: points.map((point) =>
          point === null ? null : ([scaled(point.ci95[0]), scaled(point.ci95[1])] as const)
        ),
        ...look(index),
        instruction: id
      }
    }),
    marks: log.rewards.marks,
    most: log.scale.rewardRange[1],
    format: axis,
    horizontal: { title: "closed cohorts", format: (cohort) => `${cohort}` },
    vertical: "mean reward",
    note: [
      "With 95 % intervals.",
      ...(width === 1 ? [] : [`Each point is the mean of ${plural(width, "cohort")}.`]),
      ...(drawn.length === rewarded.length
        ? []
        : [`${plural(rewarded.length - drawn.length, "more instruction")} not drawn.`])
    ].join(" ")
  }
}

const mostPoints = 200
/** As many as the colours distinguish. */
const mostDrawn = 8
