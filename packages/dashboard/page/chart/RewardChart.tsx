import { useMemo, useState } from "react"
import { extentOf, type Stretch } from "../../src/Chart.ts"
import { rewardFigure } from "../../src/served/RewardFigure.ts"
import { ChartMenu, ZoomButtons } from "./Charts.tsx"
import { Chart } from "./Chart.tsx"
import { Card } from "../part/Parts.tsx"
import { usePopulationLog } from "../source/PopulationLog.ts"

interface RewardChartProps {
  readonly name: string
  readonly instructions: ReadonlyArray<string>
  readonly version: string
}

/** The rewards of the first instructions over cohorts; nothing before the first reward. */
export const RewardChart = ({ instructions, name, version }: RewardChartProps) => {
  const { data } = usePopulationLog(name, version)
  const [zoom, setZoom] = useState<Stretch | null>(null)
  const shown = instructions.join(" ")
  const figure = useMemo(() => (data === null ? null : rewardFigure(data, shown.split(" "))), [data, shown])
  if (figure === null) return null
  const extent = extentOf([{ x: figure.steps }])
  return (
    <Card title="Rewards over cohorts" actions={<ZoomButtons extent={extent} zoom={zoom} onZoom={setZoom} />}>
      <Chart figure={figure} zoom={zoom} onZoom={setZoom} menu={<ChartMenu figure={figure} />} />
    </Card>
  )
}
