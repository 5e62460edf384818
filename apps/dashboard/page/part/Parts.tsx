/** Small things that several views show. */
import type { ReactNode } from "react"
import type { Interval } from "@inspo/statistics/Interval"
import type { Fate } from "../../src/view/PopulationView.ts"
import type { RunStatus } from "../../src/view/RunView.ts"
import { instructionStyle } from "../Colour.ts"
import { percent } from "../../src/Format.ts"

export const Card = ({
  actions,
  children,
  className = "",
  title
}: {
  readonly title?: ReactNode
  readonly actions?: ReactNode
  readonly className?: string
  readonly children: ReactNode
}) => (
  <section className={`card ${className}`}>
    {(title !== undefined || actions !== undefined) && (
      <header className="card-head">
        {title !== undefined && <h2>{title}</h2>}
        {actions}
      </header>
    )}
    {children}
  </section>
)

/** One figure that matters. */
export const Tile = ({
  children,
  label,
  note
}: {
  readonly label: string
  readonly children: ReactNode
  readonly note?: ReactNode
}) => (
  <div className="tile">
    <span className="tile-label">{label}</span>
    <span className="tile-value">{children}</span>
    <span className="tile-note">{note}</span>
  </div>
)

/** A name and what goes by it, in a list of facts. */
export const Fact = ({ children, name }: { readonly name: string; readonly children: ReactNode }) => (
  <div>
    <dt dir="auto">{name}</dt>
    <dd>{children}</dd>
  </div>
)

/** Why a proposer wrote a text, where it said so. */
export const Rationale = ({ text }: { readonly text: string | null | undefined }) =>
  text === null || text === undefined || text === "" ? null : (
    <p className="rationale" dir="auto">
      <span className="muted">Reason given: </span>
      {text}
    </p>
  )

/** Whether a text is shown whole or as what it changes in its parent. */
export const TextChoice = ({
  onChoose,
  parent,
  whole
}: {
  readonly parent: string | null
  readonly whole: boolean
  readonly onChoose: (whole: boolean) => void
}) => (
  <div className="segmented" role="group" aria-label="How to show the text">
    <button type="button" aria-pressed={!whole} onClick={() => onChoose(false)}>
      Changes to {parent}
    </button>
    <button type="button" aria-pressed={whole} onClick={() => onChoose(true)}>
      Text alone
    </button>
  </div>
)

/** What may be wider than its place, to be scrolled by keys too. */
export const Scroll = ({ children, label }: { readonly label: string; readonly children: ReactNode }) => (
  <div className="scroll" role="region" aria-label={label} tabIndex={0}>
    {children}
  </div>
)

export const Empty = ({ children, title }: { readonly title: string; readonly children?: ReactNode }) => (
  <div className="empty">
    <strong>{title}</strong>
    <p>{children}</p>
  </div>
)

export const Loading = () => (
  <div className="loading" role="status">
    Reading …
  </div>
)

export const Problem = ({ children }: { readonly children: string }) => (
  <p className="problem" role="alert">
    {children}
  </p>
)

const statusWords: Readonly<Record<RunStatus, string>> = {
  loading: "reading",
  waiting: "starting",
  running: "running",
  quiet: "not finished",
  finished: "finished",
  unreadable: "unreadable"
}

export const Status = ({ degraded, status }: { readonly status: RunStatus; readonly degraded: boolean }) => (
  <span className={`status status-${status}`}>
    <i aria-hidden="true" />
    {statusWords[status]}
    {degraded && ", degraded"}
  </span>
)

/** An instruction by its id and colour. */
export const InstructionName = ({ id }: { readonly id: string }) => (
  <span className="instruction-name">
    <i className="dot ink" style={instructionStyle(id)} aria-hidden="true" />
    {id}
  </span>
)

const fateWords: Readonly<Record<Fate, string>> = {
  alive: "alive",
  pruned: "pruned",
  replaced: "replaced",
  rejected: "rejected",
  malformed: "malformed"
}

export const FateBadge = ({ fate }: { readonly fate: Fate }) => (
  <span className={`badge fate-${fate}`}>{fateWords[fate]}</span>
)

/** A place on a scale from 0 to 1 with its interval; a share where `show` does not say otherwise. */
export const IntervalBar = ({
  ci95,
  mean,
  show = percent,
  tone = "accent"
}: {
  readonly mean: number
  readonly ci95: Interval
  readonly show?: (place: number) => string
  readonly tone?: "accent" | "plain"
}) => {
  const [low, high] = ci95
  return (
    <span
      className={`interval interval-${tone}`}
      role="img"
      aria-label={`${show(mean)}, between ${show(low)} and ${show(high)}`}
    >
      <i className="interval-range" style={{ left: `${100 * low}%`, width: `${100 * (high - low)}%` }} />
      <i className="interval-mean" style={{ left: `${100 * mean}%` }} />
    </span>
  )
}

/** A curve without axes, in a line of text. */
export const Sparkline = ({ label, values }: { readonly values: ReadonlyArray<number>; readonly label: string }) => {
  if (values.length < 2) return <span className="muted">–</span>
  const highest = Math.max(...values, 0.05)
  const points = values.map((value, index) => `${(100 * index) / (values.length - 1)},${24 - (22 * value) / highest}`)
  return (
    <svg className="sparkline" viewBox="0 0 100 26" preserveAspectRatio="none" role="img" aria-label={label}>
      <polyline points={points.join(" ")} vectorEffect="non-scaling-stroke" />
    </svg>
  )
}
