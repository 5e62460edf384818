import type { PointerEvent, ReactNode } from "react"
import { percent } from "@inspo/report"
import { stepTicks } from "../../src/Axis.ts"
import { useWidth } from "./useWidth.ts"

/** The places of a chart in pixels. */
export interface Plot {
  /** The middle of the step at an index. */
  readonly x: (index: number) => number
  readonly y: (value: number) => number
  /** Half the width of a step. */
  readonly half: number
  /** The ends of the vertical axis. */
  readonly top: number
  readonly bottom: number
  /** The width between the axes. */
  readonly width: number
  /** How large text is, as a factor of 16 pixels. */
  readonly scale: number
}

/** A chart of shares or their differences over steps, with its axes. */
export const StepChart = ({
  caption,
  children,
  format = (value) => percent(value, 0),
  label,
  least = 0,
  levels,
  most = 1,
  onPoint,
  steps
}: {
  readonly caption: ReactNode
  /** A description for screen readers. */
  readonly label: string
  readonly steps: ReadonlyArray<number>
  /** Values that have a line. */
  readonly levels: ReadonlyArray<number>
  /** The values at the bottom and at the top. */
  readonly least?: number
  readonly most?: number
  readonly format?: (value: number) => string
  /** Called with the index of the step under the pointer. */
  readonly onPoint?: (index: number | null) => void
  readonly children: (plot: Plot) => ReactNode
}) => {
  const [host, full, scale] = useWidth()
  const frame = { left: 46 * scale, right: 8, top: 14 * scale, height: 320 * scale }
  const bottom = frame.height - 24 * scale
  const width = Math.max(1, full - frame.left - frame.right)
  const half = width / Math.max(1, steps.length) / 2
  const x = (index: number) => frame.left + half * (2 * index + 1)
  const y = (value: number) => bottom - ((bottom - frame.top) * (value - least)) / (most - least)
  const onMove = ({ clientX, currentTarget }: PointerEvent<SVGSVGElement>) => {
    const left = clientX - currentTarget.getBoundingClientRect().left - frame.left
    const index = Math.floor((left / width) * steps.length)
    onPoint?.(index >= 0 && index < steps.length ? index : null)
  }
  return (
    <figure className="chart">
      <figcaption>{caption}</figcaption>
      <div ref={host}>
        {full > 0 && (
          <svg
            width={full}
            height={frame.height}
            role="img"
            aria-label={label}
            onPointerMove={onMove}
            onPointerLeave={() => onPoint?.(null)}
          >
            {levels.map((value) => (
              <g key={value}>
                <line className="grid" x1={frame.left} x2={full - frame.right} y1={y(value)} y2={y(value)} />
                <text className="tick" x={frame.left - 8} y={y(value) + 4} textAnchor="end">
                  {format(value)}
                </text>
              </g>
            ))}
            {children({ x, y, half, top: frame.top, bottom, width, scale })}
            {stepTicks(steps, Math.floor(width / (56 * scale))).map((index) => (
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
