import { type PointerEvent, useMemo, useState } from "react"
import type { LifeView, PopulationView } from "../../src/view/PopulationView.ts"
import { instructionStyle } from "../Colour.ts"
import { percent } from "../../src/Format.ts"
import { ticks } from "./Ticks.ts"
import { useWidth } from "./useWidth.ts"

/** Probabilities of all instructions stacked to one, step by step: a ribbon for each life. */
export const Ribbons = ({
  onPick,
  picked,
  population
}: {
  readonly population: PopulationView
  readonly picked: string | null
  readonly onPick: (id: string | null) => void
}) => {
  const [host, width, scale] = useWidth()
  const [pointed, setPointed] = useState<number | null>(null)
  const { lives, marks, steps } = population
  const frame = { left: 46 * scale, right: 8, top: 14 * scale, bottom: 24 * scale, height: 320 * scale }
  const inner = Math.max(1, width - frame.left - frame.right)
  const x = (index: number) => frame.left + (inner * (index + 0.5)) / Math.max(1, steps.length)
  const y = (share: number) => frame.top + (frame.height - frame.top - frame.bottom) * (1 - share)
  const bands = useMemo(() => stack(lives, steps.length), [lives, steps.length])
  const jumps = useMemo(() => changesAfter(lives, steps.length), [lives, steps.length])
  const half = inner / Math.max(1, steps.length) / 2
  const head = 4.5 * scale
  const floor = frame.height - frame.bottom

  const onMove = ({ clientX, currentTarget }: PointerEvent<SVGSVGElement>) => {
    const at = Math.floor(((clientX - currentTarget.getBoundingClientRect().left - frame.left) / inner) * steps.length)
    setPointed(at >= 0 && at < steps.length ? at : null)
  }
  const told = pointed ?? steps.length - 1
  return (
    <figure className="chart">
      <Caption lives={lives} index={told} step={steps[told]} />
      <div ref={host}>
        {width > 0 && (
          <svg
            width={width}
            height={frame.height}
            role="img"
            aria-label={`Probabilities of ${lives.length} instructions over ${steps.length} steps; the table below holds the same lives`}
            onPointerMove={onMove}
            onPointerLeave={() => setPointed(null)}
          >
            <Levels left={frame.left} right={width - frame.right} y={y} />
            {bands.map(({ id, points }) => (
              <path
                key={id}
                className={`ribbon ink ${picked === null || picked === id ? "" : "dimmed"}`}
                style={instructionStyle(id)}
                d={ribbon(points, jumps, x, y, half)}
                onPointerEnter={() => onPick(id)}
                onPointerLeave={() => onPick(null)}
              >
                <title>{id}</title>
              </path>
            ))}
            {marks
              .filter(({ kind }) => kind === "evolve" || (kind === "prune" && inner / marks.length > 14))
              .map(({ kind, step }, index) => {
                const at = steps.indexOf(step)
                return at < 0 ? null : (
                  <MarkLine key={index} kind={kind} place={x(at) + half} head={head} top={frame.top} bottom={floor} />
                )
              })}
            {ticks(steps, Math.floor(inner / (56 * scale))).map((index) => (
              <text key={index} className="tick" x={x(index)} y={frame.height - 6 * scale} textAnchor="middle">
                {steps[index]}
              </text>
            ))}
            {pointed !== null && <line className="cursor" x1={x(pointed)} x2={x(pointed)} y1={frame.top} y2={floor} />}
          </svg>
        )}
      </div>
    </figure>
  )
}

const Caption = ({
  index,
  lives,
  step
}: {
  readonly lives: ReadonlyArray<LifeView>
  readonly index: number
  readonly step: number | undefined
}) => (
  <figcaption>
    <span className="chart-title">Probability of being drawn</span>
    <span className="chart-values">
      <span className="muted">step {step ?? "–"}</span>
      {atStep(lives, index)
        .slice(0, 5)
        .map(({ id, probability }) => (
          <span key={id}>
            <i className="dot ink" style={instructionStyle(id)} aria-hidden="true" />
            <span className="muted">{id} </span>
            <b>{percent(probability, 0)}</b>
          </span>
        ))}
    </span>
  </figcaption>
)

const Levels = ({
  left,
  right,
  y
}: {
  readonly left: number
  readonly right: number
  readonly y: (share: number) => number
}) =>
  [0, 0.25, 0.5, 0.75, 1].map((share) => (
    <g key={share}>
      <line className="grid" x1={left} x2={right} y1={y(share)} y2={y(share)} />
      <text className="tick" x={left - 8} y={y(share) + 4} textAnchor="end">
        {100 * share} %
      </text>
    </g>
  ))

/** Where the population was pruned or renewed. */
const MarkLine = ({
  bottom,
  head,
  kind,
  place,
  top
}: {
  readonly kind: PopulationView["marks"][number]["kind"]
  readonly place: number
  readonly head: number
  readonly top: number
  readonly bottom: number
}) => (
  <g>
    <line className={`mark mark-line-${kind}`} x1={place} x2={place} y1={top} y2={bottom} />
    {kind === "evolve" ? (
      <circle className="mark-head-evolve" cx={place} cy={top - head} r={head} />
    ) : (
      <path className="mark-head-prune" d={`M${place - head},${top - 2 * head}h${2 * head}L${place},${top}Z`} />
    )}
  </g>
)

interface Band {
  readonly id: string
  readonly points: ReadonlyArray<{ readonly index: number; readonly low: number; readonly high: number }>
}

/** The lower and upper edge of every life at every step, in order of birth from the bottom. */
const stack = (lives: ReadonlyArray<LifeView>, length: number): ReadonlyArray<Band> => {
  const base = Array.from({ length }, () => 0)
  return lives.map(({ from, id, probabilities }) => ({
    id,
    points: probabilities.flatMap((probability, offset) => {
      const index = from + offset
      const low = base[index] ?? 0
      if (probability === null) return []
      base[index] = low + probability
      return [{ index, low, high: low + probability }]
    })
  }))
}

/** Whether the population was another one at the next step. */
const changesAfter = (lives: ReadonlyArray<LifeView>, length: number): ReadonlyArray<boolean> =>
  Array.from({ length }, (_, index) =>
    lives.some(({ from, probabilities }) => {
      const now = probabilities[index - from] ?? null
      const next = probabilities[index + 1 - from] ?? null
      return (now === null) !== (next === null)
    })
  )

/** Level over most of a step, then a short slope to the next; an edge where the population changed. */
const ribbon = (
  points: Band["points"],
  jumps: ReadonlyArray<boolean>,
  x: (index: number) => number,
  y: (share: number) => number,
  half: number
): string => {
  if (points.length === 0) return ""
  const flat = half * 0.6
  const [first] = points
  const last = points.at(-1)
  const edge = (of: "low" | "high", list: Band["points"], backwards: boolean) =>
    list
      .flatMap((point) => {
        const left = x(point.index) - (point === first || jumps[point.index - 1] === true ? half : flat)
        const right = x(point.index) + (point === last || jumps[point.index] === true ? half : flat)
        const level = y(point[of])
        return backwards ? [`${right},${level}`, `${left},${level}`] : [`${left},${level}`, `${right},${level}`]
      })
      .join("L")
  return `M${edge("high", points, false)}L${edge("low", points.toReversed(), true)}Z`
}

const atStep = (lives: ReadonlyArray<LifeView>, index: number) =>
  lives
    .flatMap(({ from, id, probabilities }) => {
      const probability = probabilities[index - from] ?? null
      return probability === null ? [] : [{ id, probability }]
    })
    .sort((a, b) => b.probability - a.probability)
