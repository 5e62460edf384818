import { points } from "@inspo/report"
import { ticks } from "../../src/Axis.ts"
import type { Life, SearchCourse } from "../../src/view/SearchCourse.ts"
import { instructionStyle } from "../../src/Colour.ts"
import { Dot } from "../part/Parts.tsx"
import { type Plot, StepChart } from "./StepChart.tsx"
import { ValueLine } from "./ValueLine.tsx"

/** The difference of every member to the prompt that was given, with the interval of one of them. */
export const GainChart = ({
  course: { lives, steps },
  leader,
  onPick,
  picked
}: {
  readonly course: SearchCourse
  readonly leader: string
  readonly picked: string | null
  readonly onPick: (id: string | null) => void
}) => {
  const others = lives.filter(({ gains }) => gains.some((gain) => gain !== null))
  const shown = others.find(({ id }) => id === (picked ?? leader))
  const ends = [...others.flatMap(({ gains }) => gains.flatMap((gain) => gain?.mean ?? [])), ...boundsOf(shown)]
  const most = Math.min(1, Math.ceil(10 * Math.max(0.1, ...ends)) / 10)
  const least = Math.max(-1, Math.floor(10 * Math.min(0, ...ends)) / 10)
  return (
    <StepChart
      caption={
        <>
          <span className="chart-title">Points to the given prompt</span>
          {shown !== undefined && (
            <span className="chart-values">
              <span>
                <Dot id={shown.id} />
                <span className="muted">{shown.id}, with its 95 % interval</span>
              </span>
            </span>
          )}
        </>
      }
      label={`Differences of ${others.length} prompts to the given one over ${steps.length} rounds; the table below has the last of each`}
      steps={steps}
      levels={ticks(least, most, 8)}
      least={least}
      most={most}
      format={(value) => (value === 0 ? "0" : points(value).replace(/\.0$/u, ""))}
    >
      {(plot) => (
        <>
          <line
            className="zero"
            x1={plot.x(0) - plot.half}
            x2={plot.x(0) - plot.half + plot.width}
            y1={plot.y(0)}
            y2={plot.y(0)}
          />
          {shown !== undefined && (
            <path className="band ink" style={instructionStyle(shown.id)} d={bandOf(shown, plot)} />
          )}
          {others.map(({ from, gains, id }) => (
            <ValueLine
              key={id}
              id={id}
              points={gains.flatMap((gain, offset) =>
                gain === null ? [] : [{ x: plot.x(from + offset), y: plot.y(gain.mean) }]
              )}
              picked={picked}
              onPick={onPick}
            />
          ))}
        </>
      )}
    </StepChart>
  )
}

const boundsOf = (life: Life | undefined): ReadonlyArray<number> =>
  (life?.gains ?? []).flatMap((gain) => (gain === null ? [] : [gain.lower, gain.upper]))

/** The outline of the interval: the upper ends, and back along the lower ones. */
const bandOf = ({ from, gains }: Life, { half, x, y }: Plot): string => {
  const known = gains.flatMap((gain, offset) => (gain === null ? [] : [{ at: x(from + offset), gain }]))
  const [only] = known
  if (only === undefined) return ""
  // One round is as wide as a step.
  const places =
    known.length > 1 ? known : [-1, 1].map((side) => ({ ...only, at: only.at + side * Math.min(half, 12) }))
  const upper = places.map(({ at, gain }) => `${at},${y(gain.upper)}`)
  const lower = places.map(({ at, gain }) => `${at},${y(gain.lower)}`).toReversed()
  return `M${[...upper, ...lower].join("L")}Z`
}
