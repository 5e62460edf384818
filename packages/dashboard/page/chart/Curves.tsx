import type { ReactNode } from "react"
import type { ChartState } from "../../src/Chart.ts"
import { Pending, Problem } from "../part/Parts.tsx"
import type { Route } from "../Route.ts"
import { ChartControls, ChartGrid, useChartState } from "./Charts.tsx"
import { useSeries, type Wanted } from "./useSeries.ts"

/** The charts of several runs or groups, each a curve with its label; the mean reward until other metrics are chosen. */
export const Curves = ({
  children,
  labels,
  refine,
  route,
  version
}: Pick<Wanted, "labels"> & {
  readonly route: Route
  readonly version: string
  /** What else to ask for, by the state of the charts. */
  readonly refine?: (state: ChartState) => Omit<Wanted, "labels" | "metrics" | "x">
  /** What a curve is, between the controls and the charts. */
  readonly children?: ReactNode
}) => {
  const shown = useChartState(route, usualCharts)
  const { charts, state } = shown
  const { data, problem } = useSeries({ ...refine?.(state), labels, metrics: charts.flat(), x: state.x }, version)
  if (data === null) return <Pending problem={problem} />
  return (
    <>
      {problem !== null && <Problem>{problem}</Problem>}
      <ChartControls data={data} shown={shown} />
      {children}
      <ChartGrid data={data} shown={shown} height={260} />
    </>
  )
}

const usualCharts = [["reward/mean"]]
