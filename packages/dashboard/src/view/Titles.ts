/** Titles of curves of training: the reward, the questions, and the number of answers. */
import { count } from "@inspo/report"
import type { TrainedView } from "./OverviewView.ts"

export const trainingTitle = ({ measure, perStep }: TrainedView): string =>
  `Training ${measure}, n = ${count(perStep)} a step`

/** The names of the metrics that are the reward of one data source, sorted. */
export const sourceMetrics = (metrics: ReadonlyArray<string>): ReadonlyArray<string> =>
  metrics.filter((name) => name.startsWith(prefix) && name !== "reward/mean").sort()

/** The data source of such a metric, with the number of its answers. */
export const sourceLabel = ({ answers }: TrainedView, metric: string): string => {
  const source = metric.slice(prefix.length)
  return `${source} (n = ${count(answers[source] ?? 0)})`
}

const prefix = "reward/"
