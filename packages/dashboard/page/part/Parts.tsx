/** Small components that several views use. */
import { type ReactNode, useState } from "react"
import type { Interval } from "@inspo/statistics"
import { percent } from "@inspo/report"
import { colourOf } from "../../src/Curves.ts"
import type { Line } from "../../src/Figure.ts"
import type { Fate } from "../../src/view/PopulationView.ts"
import type { RunStatus } from "../../src/view/RunView.ts"
import { instructionStyle } from "../../src/Colour.ts"
import { useName } from "./Names.tsx"

interface CardProps {
  readonly title?: ReactNode
  readonly actions?: ReactNode
  readonly className?: string
  readonly children: ReactNode
}

export const Card = ({ actions, children, className = "", title }: CardProps) => (
  <section className={`card ${className}`}>
    {(title !== undefined || actions !== undefined) && (
      <header className="card-head row">
        {title !== undefined && <h2>{title}</h2>}
        {actions}
      </header>
    )}
    {children}
  </section>
)

interface ExpanderProps {
  readonly summary: string
  readonly className?: string
  readonly children: ReactNode
}

/** A card that opens; its content is made when it is first opened. */
export const Expander = ({ children, className = "card", summary }: ExpanderProps) => {
  const [opened, setOpened] = useState(false)
  return (
    <details className={className} onToggle={({ currentTarget }) => currentTarget.open && setOpened(true)}>
      <summary>{summary}</summary>
      {opened && children}
    </details>
  )
}

export const Settings = ({ settings }: { readonly settings: Readonly<Record<string, unknown>> }) => (
  <Expander summary="Settings">
    <dl className="settings">
      {Object.entries(settings).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd dir="auto">{typeof value === "string" ? value : JSON.stringify(value)}</dd>
        </div>
      ))}
    </dl>
  </Expander>
)

type Named = readonly [name: string, value: ReactNode, note?: ReactNode]

/** Important figures, each with its name and a note. */
export const Tiles = ({ of }: { readonly of: ReadonlyArray<Named | false> }) => (
  <div className="tiles">
    {of.map(
      (one) =>
        one !== false && (
          <div key={one[0]} className="tile">
            <span className="tile-label muted small">{one[0]}</span>
            <span className="tile-value">{one[1]}</span>
            <span className="tile-note muted small num">{one[2]}</span>
          </div>
        )
    )}
  </div>
)

/** Names with their values, in a row. */
export const Facts = ({ of }: { readonly of: ReadonlyArray<Named | false> }) => (
  <dl className="facts row">
    {of.map(
      (one) =>
        one !== false && (
          <div key={one[0]}>
            <dt dir="auto">{one[0]}</dt>
            <dd dir="auto">{one[1]}</dd>
          </div>
        )
    )}
  </dl>
)

/** A value with a note behind it. */
export const withMuted = (value: ReactNode, note: string) => (
  <>
    {value} <span className="muted">{note}</span>
  </>
)

interface EmptyProps {
  readonly title: string
  readonly children?: ReactNode
  readonly isPage?: boolean
}

/** A part of a page with nothing to show, or with `isPage` a whole page. */
export const Empty = ({ children, isPage = false, title }: EmptyProps) => (
  <div className="empty">
    {isPage ? <h1>{title}</h1> : <strong>{title}</strong>}
    <p>{children}</p>
  </div>
)

export const Loading = () => (
  <div className="loading" role="status">
    Loading …
  </div>
)

export const Problem = ({ children }: { readonly children: string }) => (
  <p className="problem" role="alert">
    {children}
  </p>
)

/** What a view shows without data: the error, or that it is loading. */
export const Pending = ({ problem }: { readonly problem: string | null }) =>
  problem === null ? <Loading /> : <Problem>{problem}</Problem>

const statusWords: Readonly<Record<RunStatus, string>> = {
  loading: "loading",
  waiting: "starting",
  running: "running",
  quiet: "not finished",
  finished: "finished",
  unreadable: "unreadable"
}

export const Status = ({ degraded, status }: { readonly status: RunStatus; readonly degraded: boolean }) => (
  <span className={`status inline status-${status}`}>
    <i aria-hidden="true" />
    {statusWords[status]}
    {degraded && ", degraded"}
  </span>
)

interface ProgressProps {
  readonly label: string
  readonly done: number
  readonly all: number
}

/** How far a run or a search is: `done` of `all`. */
export const Progress = ({ all, done, label }: ProgressProps) => (
  <span
    className="progress"
    role="progressbar"
    aria-label={label}
    aria-valuemin={0}
    aria-valuemax={all}
    aria-valuenow={done}
  >
    <i style={{ width: `${(100 * done) / all}%` }} />
  </span>
)

export const Dot = ({ id }: { readonly id: string }) => (
  <i className="dot ink" style={instructionStyle(id)} aria-hidden="true" />
)

/** An instruction by its colour, its id, and its name where it has one. */
export const InstructionName = ({ id }: { readonly id: string }) => {
  const name = useName(id)
  return (
    <span className="instruction-name">
      <Dot id={id} />
      {id}
      {name !== undefined && (
        <bdi className="name" title={name}>
          {name}
        </bdi>
      )}
    </span>
  )
}

/** An instruction that leads to an address, such as its place in a lineage. */
export const InstructionLink = ({ href, id }: { readonly href: string; readonly id: string }) => (
  <a href={href}>
    <InstructionName id={id} />
  </a>
)

export const FateBadge = ({ fate }: { readonly fate: Fate }) => <span className={`badge fate-${fate}`}>{fate}</span>

/** The signs of prunings and evolutions in charts. */
export const MarkLegend = ({ children }: { readonly children?: ReactNode }) => (
  <p className="row small">
    <span className="inline">
      <i className="mark-prune" aria-hidden="true" /> pruned
    </span>
    <span className="inline">
      <i className="mark-evolve" aria-hidden="true" /> evolved
    </span>
    {children}
  </p>
)

export const Bar = ({ share, tone = "accent" }: { readonly share: number; readonly tone?: string }) => (
  <span className="bar-track" aria-hidden="true">
    <i className={`bar-fill ${tone}`} style={{ width: `${100 * share}%` }} />
  </span>
)

export const Share = ({ share }: { readonly share: number }) => (
  <span className="with-share">
    <Bar share={share} />
    <span className="num">{percent(share)}</span>
  </span>
)

interface IntervalBarProps {
  readonly mean: number
  readonly ci95: Interval.Interval
  readonly show?: (position: number) => string
  readonly tone?: "accent" | "plain"
}

/** A position on a scale from 0 to 1 with its interval; `show` formats positions, as percentages by default. */
export const IntervalBar = ({ ci95: [low, high], mean, show = percent, tone = "accent" }: IntervalBarProps) => (
  <span
    className={`interval interval-${tone}`}
    role="img"
    aria-label={`${show(mean)}, between ${show(low)} and ${show(high)}`}
  >
    <i className="interval-range" style={{ left: `${100 * low}%`, width: `${100 * (high - low)}%` }} />
    <i className="interval-mean" style={{ left: `${100 * mean}%` }} />
  </span>
)

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

/** A piece of a curve, drawn as in its chart. */
export const CurveSwatch = ({ dash = [], ...curve }: Pick<Line, "dash" | "instruction" | "tone">) => (
  <svg className="curve-swatch" width="28" height="8" aria-hidden="true">
    <line x1="0" x2="28" y1="4" y2="4" stroke={colourOf(curve)} strokeWidth="3" strokeDasharray={dash.join(" ")} />
  </svg>
)
