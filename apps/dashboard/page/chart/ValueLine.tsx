import { instructionStyle } from "../../src/Colour.ts"
import { useLabels } from "../part/Names.tsx"

/** The line of an instruction in a chart over steps: a dot where it has one point. */
export const ValueLine = ({
  id,
  onPick,
  picked,
  points
}: {
  readonly id: string
  readonly points: ReadonlyArray<{ readonly x: number; readonly y: number }>
  readonly picked: string | null
  readonly onPick: (id: string | null) => void
}) => {
  const [only] = points
  const label = useLabels()
  return (
    <g
      className={`value-line ink ${picked === null ? "" : picked === id ? "picked" : "dimmed"}`}
      style={instructionStyle(id)}
      onPointerEnter={() => onPick(id)}
      onPointerLeave={() => onPick(null)}
    >
      <title>{label(id)}</title>
      {points.length === 1 && only !== undefined ? (
        <circle cx={only.x} cy={only.y} r={3} />
      ) : (
        <polyline points={points.map(({ x, y }) => `${x},${y}`).join(" ")} />
      )}
    </g>
  )
}
