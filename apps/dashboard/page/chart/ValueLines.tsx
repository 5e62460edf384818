import { useMemo } from "react"
import type { PopulationView } from "../../src/view/PopulationView.ts"
import { ticks } from "../../src/Axis.ts"
import { StepChart } from "./StepChart.tsx"
import { ValueLine } from "./ValueLine.tsx"

/** The value of every instruction while it was in the population. */
export const ValueLines = ({
  onPick,
  picked,
  population: { lives, steps }
}: {
  readonly population: PopulationView
  readonly picked: string | null
  readonly onPick: (id: string | null) => void
}) => {
  const highest = useMemo(
    () => Math.max(0.1, ...lives.flatMap(({ values }) => values.filter((value) => value !== null))),
    [lives]
  )
  const most = Math.min(1, Math.ceil(highest * 10) / 10)
  return (
    <StepChart
      caption={<span className="chart-title">Value: expected reward</span>}
      label={`Values of ${lives.length} instructions over ${steps.length} steps; the table below has the last value of each`}
      steps={steps}
      levels={ticks(0, most)}
      most={most}
    >
      {({ x, y }) =>
        lives.map(({ from, id, values }) => (
          <ValueLine
            key={id}
            id={id}
            points={values.flatMap((value, offset) => (value === null ? [] : [{ x: x(from + offset), y: y(value) }]))}
            picked={picked}
            onPick={onPick}
          />
        ))
      }
    </StepChart>
  )
}
