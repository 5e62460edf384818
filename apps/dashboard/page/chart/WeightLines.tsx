import { useMemo } from "react"
import type { PopulationView } from "../../src/view/PopulationView.ts"
import { ticks } from "../../src/Axis.ts"
import { instructionStyle } from "../Colour.ts"
import { StepChart } from "./StepChart.tsx"

/** The weight of every instruction while it was in the population. */
export const WeightLines = ({
  onPick,
  picked,
  population: { lives, steps }
}: {
  readonly population: PopulationView
  readonly picked: string | null
  readonly onPick: (id: string | null) => void
}) => {
  const highest = useMemo(
    () => Math.max(0.1, ...lives.flatMap(({ weights }) => weights.filter((weight) => weight !== null))),
    [lives]
  )
  const most = Math.min(1, Math.ceil(highest * 10) / 10)
  return (
    <StepChart
      caption={<span className="chart-title">Weight: mean reward over the window</span>}
      label={`Weights of ${lives.length} instructions over ${steps.length} steps; the table below has the last weight of each`}
      steps={steps}
      levels={ticks(0, most)}
      most={most}
    >
      {({ x, y }) =>
        lives.map(({ from, id, weights }) => {
          const points = weights.flatMap((weight, offset) =>
            weight === null ? [] : [{ x: x(from + offset), y: y(weight) }]
          )
          const [only] = points
          return (
            <g
              key={id}
              className={`weight ink ${picked === null ? "" : picked === id ? "picked" : "dimmed"}`}
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
