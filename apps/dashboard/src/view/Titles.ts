/** What curves of training are called: which reward, on which questions, of how many answers. */
import { count } from "../Format.ts"
import type { TrainedView } from "./OverviewView.ts"

export const trainingTitle = ({ measure, perStep }: TrainedView): string =>
  `Training ${measure}, n = ${count(perStep)} a step`

export const sourceLabel = ({ answers }: TrainedView, source: string): string =>
  `${source} (n = ${count(answers[source] ?? 0)})`
