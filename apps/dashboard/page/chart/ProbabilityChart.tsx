import { useMemo, useState } from "react"
import { percent } from "@inspo/report"
import type { LifeView, PopulationView } from "../../src/view/PopulationView.ts"
import { instructionStyle } from "../../src/Colour.ts"
import { useLabels } from "../part/Names.tsx"
import { InstructionName } from "../part/Parts.tsx"
import { type Plot, StepChart } from "./StepChart.tsx"

/** The probability of being drawn of all instructions, stacked to 100 %: a band for each. */
export const ProbabilityChart = ({
  onPick,
  picked,
  population: { lives, marks, steps },
  title = "Probability of being drawn",
  unit = "step"
}: {
  readonly population: Pick<PopulationView, "marks" | "steps"> & { readonly lives: ReadonlyArray<Life> }
  readonly title?: string
  /** A step in a word. */
  readonly unit?: string
  readonly picked: string | null
  readonly onPick: (id: string | null) => void
}) => {
  const [pointed, setPointed] = useState<number | null>(null)
  const label = useLabels()
  const bands = useMemo(() => stack(lives, steps.length), [lives, steps.length])
  const jumps = useMemo(() => changesAfter(lives, steps.length), [lives, steps.length])
  return (
    <StepChart
      caption={<Caption title={title} unit={unit} lives={lives} steps={steps} index={pointed ?? steps.length - 1} />}
      label={`${title} of ${lives.length} instructions over ${steps.length} ${unit}s; the table below lists the same instructions`}
      steps={steps}
      levels={levels}
      onPoint={setPointed}
    >
      {(plot) => (
        <>
          {bands.map(({ id, points }) => (
            <path
              key={id}
              className={`ribbon ink ${picked === null || picked === id ? "" : "dimmed"}`}
              style={instructionStyle(id)}
              d={outline(points, jumps, plot)}
              onPointerEnter={() => onPick(id)}
              onPointerLeave={() => onPick(null)}
            >
              <title>{label(id)}</title>
            </path>
          ))}
          {marks
            .filter(({ kind }) => kind === "evolve" || (kind === "prune" && plot.width / marks.length > 14))
            .map(({ kind, step }, index) => {
              const at = steps.indexOf(step)
              return at < 0 ? null : <MarkLine key={index} kind={kind} x={plot.x(at) + plot.half} plot={plot} />
            })}
          {pointed !== null && (
            <line className="cursor" x1={plot.x(pointed)} x2={plot.x(pointed)} y1={plot.top} y2={plot.bottom} />
          )}
        </>
      )}
    </StepChart>
  )
}

/** An instruction with its probability at each step from the position `from` on. */
type Life = Pick<LifeView, "from" | "probabilities"> & { readonly id: string }

const levels = [0, 0.25, 0.5, 0.75, 1]

const Caption = ({
  index,
  lives,
  steps,
  title,
  unit
}: {
  readonly title: string
  readonly unit: string
  readonly lives: ReadonlyArray<Life>
  readonly steps: ReadonlyArray<number>
  readonly index: number
}) => (
  <>
    <span className="chart-title">{title}</span>
    <span className="chart-values">
      <span className="muted">
        {unit} {steps[index] ?? "–"}
      </span>
      {atStep(lives, index)
        .slice(0, 5)
        .map(({ id, probability }) => (
          <span key={id}>
            <InstructionName id={id} />
            <b>{percent(probability, 0)}</b>
          </span>
        ))}
    </span>
  </>
)

/** A pruning or an evolution. */
const MarkLine = ({
  kind,
  plot: { bottom, scale, top },
  x
}: {
  readonly kind: PopulationView["marks"][number]["kind"]
  readonly x: number
  readonly plot: Plot
}) => {
  const size = 4.5 * scale
  return (
    <g>
      <line className={`mark mark-line-${kind}`} x1={x} x2={x} y1={top} y2={bottom} />
      {kind === "evolve" ? (
        <circle className="mark-head-evolve" cx={x} cy={top - size} r={size} />
      ) : (
        <path className="mark-head-prune" d={`M${x - size},${top - 2 * size}h${2 * size}L${x},${top}Z`} />
      )}
    </g>
  )
}

interface Band {
  readonly id: string
  readonly points: ReadonlyArray<{ readonly index: number; readonly low: number; readonly high: number }>
}

/** The lower and upper edge of every life at every step, in order of birth from the bottom. */
const stack = (lives: ReadonlyArray<Life>, length: number): ReadonlyArray<Band> => {
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

/** For each step, whether the population changed before the next one. */
const changesAfter = (lives: ReadonlyArray<Life>, length: number): ReadonlyArray<boolean> =>
  Array.from({ length }, (_, index) =>
    lives.some(({ from, probabilities }) => {
      const now = probabilities[index - from] ?? null
      const next = probabilities[index + 1 - from] ?? null
      return (now === null) !== (next === null)
    })
  )

/** Level over most of a step, then a short slope to the next; an edge where the population changed. */
const outline = (points: Band["points"], jumps: ReadonlyArray<boolean>, { half, x, y }: Plot): string => {
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

const atStep = (lives: ReadonlyArray<Life>, index: number) =>
  lives
    .flatMap(({ from, id, probabilities }) => {
      const probability = probabilities[index - from] ?? null
      return probability === null ? [] : [{ id, probability }]
    })
    .sort((a, b) => b.probability - a.probability)
