import { useMemo } from "react"
import type { LineageView, NodeView } from "../../src/view/LineageView.ts"
import { instructionStyle } from "../../src/Colour.ts"
import { ancestors, inTreeOrder, percent, plural } from "@inspo/report"
import { useLabels } from "../part/Names.tsx"
import { stepTicks } from "../../src/Axis.ts"
import { useWidth } from "./Chart.tsx"

interface LineageChartProps {
  readonly lineage: LineageView
  readonly steps: number
  readonly selected: string
  readonly onSelect: (key: string) => void
}

/** Every instruction as a line from its first to its last step, branching off its parent; small rings are rejected candidates. */
export const LineageChart = ({ lineage, onSelect, selected, steps }: LineageChartProps) => {
  const [host, width, scale] = useWidth()
  const rows = useMemo(() => inTreeOrder(lineage.nodes.filter(({ id }) => id !== null)), [lineage.nodes])
  const rowOf = useMemo(() => new Map(rows.map(({ id }, row) => [id, row])), [rows])
  const line = useMemo(
    () => new Set(ancestors(lineage.nodes, selected).map(({ key }) => key)),
    [lineage.nodes, selected]
  )
  const label = useLabels()
  const hasNames = width > 800 * scale
  const frame = {
    left: 14,
    right: (hasNames ? 280 : 54) * scale,
    top: 10,
    bottom: 24 * scale,
    row: (rows.length > 40 ? 15 : 20) * scale
  }
  const height = frame.top + frame.bottom + frame.row * rows.length
  const inner = Math.max(1, width - frame.left - frame.right)
  const x = (step: number) => frame.left + (inner * step) / Math.max(1, steps)
  const y = (row: number) => frame.top + frame.row * (row + 0.5)
  const all = useMemo(() => Array.from({ length: steps + 1 }, (_, step) => step), [steps])
  const rejected = useMemo(() => rejectedByParent(lineage.nodes), [lineage.nodes])
  return (
    <div ref={host} className="descent">
      {width > 0 && (
        <svg width={width} height={height} role="group" aria-label="Lineage of the instructions over steps">
          {stepTicks(all, Math.floor(inner / (60 * scale))).map((step) => (
            <g key={step}>
              <line className="grid" x1={x(step)} x2={x(step)} y1={frame.top} y2={height - frame.bottom} />
              <text className="tick" x={x(step)} y={height - 6} textAnchor="middle">
                {step}
              </text>
            </g>
          ))}
          {rows.map((node, row) => (
            <Life
              key={node.key}
              node={node}
              row={row}
              from={node.parent === null ? undefined : rowOf.get(node.parent)}
              hasNames={hasNames}
              label={label}
              end={node.leftAt ?? Math.max(lineage.step, node.step)}
              className={`${line.has(node.key) ? "on" : ""} ${node.key === selected ? "selected" : ""}`}
              place={{ x, y, rowHeight: frame.row }}
              onSelect={onSelect}
            />
          ))}
          {rejected.map(({ count, parent, step }) => {
            const row = rowOf.get(parent)
            return row === undefined ? null : (
              <g key={`${parent} ${step}`} className="rejected">
                <title>{`${plural(count, "candidate")} of ${label(parent)} rejected after step ${step}`}</title>
                <circle cx={x(step)} cy={y(row)} r={5} />
              </g>
            )
          })}
        </svg>
      )}
    </div>
  )
}

interface LifeProps {
  readonly node: NodeView
  readonly row: number
  /** The row of its parent. */
  readonly from: number | undefined
  readonly end: number
  /** Whether there is room for names beside ids. */
  readonly hasNames: boolean
  readonly label: (id: string) => string
  readonly className: string
  readonly place: {
    readonly x: (step: number) => number
    readonly y: (row: number) => number
    readonly rowHeight: number
  }
  readonly onSelect: (key: string) => void
}

const Life = ({
  className,
  end,
  from,
  hasNames,
  label,
  node,
  onSelect,
  place: { rowHeight, x, y },
  row
}: LifeProps) => (
  <g className={`life ink ${className}`} style={instructionStyle(node.id)} onClick={() => onSelect(node.key)}>
    <title>
      {`${label(node.id ?? "")}, generation ${node.generation}, ${node.fate}${node.mean === null ? "" : `, mean reward ${percent(node.mean)}`}`}
    </title>
    <rect
      className="hit"
      x={x(node.step) - 6}
      y={y(row) - rowHeight / 2}
      width={Math.max(12, x(end) - x(node.step) + 50)}
      height={rowHeight}
    />
    {from !== undefined && (
      <path
        className="branch"
        d={`M${x(node.step)},${y(from)}C${x(node.step)},${y(row)} ${x(node.step)},${y(row)} ${x(node.step) + 5},${y(row)}`}
      />
    )}
    <line
      className="stem"
      x1={x(node.step) + (from === undefined ? 0 : 5)}
      x2={Math.max(x(end), x(node.step) + 6)}
      y1={y(row)}
      y2={y(row)}
    />
    <circle cx={x(node.step)} cy={from === undefined ? y(row) : y(from)} r={from === undefined ? 4 : 2.5} />
    {node.leftAt !== null && <path className="end" d={`M${x(end) - 3},${y(row) - 3}l6,6m0,-6l-6,6`} />}
    <text className="tick name" x={Math.max(x(end), x(node.step) + 6) + 7} y={y(row) + 4}>
      {hasNames ? label(node.id ?? "") : node.id}
    </text>
  </g>
)

const rejectedByParent = (nodes: ReadonlyArray<NodeView>) =>
  [
    ...Map.groupBy(
      nodes.filter(({ id, parent }) => id === null && parent !== null),
      ({ parent, step }) => `${parent} ${step}`
    )
  ].flatMap(([, own]) => {
    const [first] = own
    return first === undefined || first.parent === null
      ? []
      : [{ parent: first.parent, step: first.step, count: own.length }]
  })
