import { useMemo } from "react"
import type { PopulationView } from "../../src/view/PopulationView.ts"
import { ticks as axisTicks } from "../../src/Axis.ts"
import { percent } from "../../src/Format.ts"
import { instructionStyle } from "../Colour.ts"
import { ticks } from "./Ticks.ts"
import { useWidth } from "./useWidth.ts"

/** The value of every instruction while it lived. */
export const ValueLines = ({
  onPick,
  picked,
  population
}: {
  readonly population: PopulationView
  readonly picked: string | null
  readonly onPick: (id: string | null) => void
}) => {
  const [host, width, scale] = useWidth()
  const { lives, steps } = population
  const frame = { left: 46 * scale, right: 8, top: 14 * scale, bottom: 24 * scale, height: 320 * scale }
  const inner = Math.max(1, width - frame.left - frame.right)
  const highest = useMemo(
    () => Math.max(0.1, ...lives.flatMap(({ values }) => values.flatMap((value) => (value === null ? [] : [value])))),
    [lives]
  )
  const top = Math.min(1, Math.ceil(highest * 10) / 10)
  const x = (index: number) => frame.left + (inner * (index + 0.5)) / Math.max(1, steps.length)
  const y = (value: number) => frame.top + (frame.height - frame.top - frame.bottom) * (1 - value / top)
  return (
    <figure className="chart">
      <figcaption>
        <span className="chart-title">Value: mean reward over the window</span>
      </figcaption>
      <div ref={host}>
        {width > 0 && (
          <svg
            width={width}
            height={frame.height}
            role="img"
            aria-label={`Values of ${lives.length} instructions over ${steps.length} steps; the table below holds the last of each`}
          >
            {axisTicks(0, top).map((value) => (
              <g key={value}>
                <line className="grid" x1={frame.left} x2={width - frame.right} y1={y(value)} y2={y(value)} />
                <text className="tick" x={frame.left - 8} y={y(value) + 4} textAnchor="end">
                  {percent(value, 0)}
                </text>
              </g>
            ))}
            {lives.map(({ from, id, values }) => {
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
            })}
            {ticks(steps, Math.floor(inner / (56 * scale))).map((index) => (
              <text key={index} className="tick" x={x(index)} y={frame.height - 6 * scale} textAnchor="middle">
                {steps[index]}
              </text>
            ))}
          </svg>
        )}
      </div>
    </figure>
  )
}
