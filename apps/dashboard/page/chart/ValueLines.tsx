import { useMemo } from "react"
import type { PopulationView } from "../../src/view/PopulationView.ts"
import { ticks } from "../../src/Axis.ts"
import { instructionStyle } from "../Colour.ts"
import { StepChart } from "./StepChart.tsx"

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
      caption={<span className="chart-title">Value: mean reward over the window</span>}
      label={`Values of ${lives.length} instructions over ${steps.length} steps; the table below has the last value of each`}
      steps={steps}
      levels={ticks(0, most)}
      most={most}
    >
      {({ x, y }) =>
        lives.map(({ from, id, values }) => {
          const points = values.flatMap((value, offset) =>
            value === null ? [] : [{ x: x(from + offset), y: y(value) }]
          )
          const [only] = points
          return (
            <g
              key={id}
              className={`value-line ink ${picked === null ? "" : picked === id ? "picked" : "dimmed"}`}
              style={instructionStyle(id)}
              onPointerEnter={() => onPick(id)}
              onPointerLeave={() => onPick(null)}
            >
              <title>{id}</title>
              {points.length === 1 && only !== undefined ? (
                <circle cx={only.x} cy={only.y} r={3} />
              ) : (
                <polyline points={points.map((point) => `${point.x},${point.y}`).join(" ")} />
              )}
            </g>
          )
        })
      }
    </StepChart>
  )
}
