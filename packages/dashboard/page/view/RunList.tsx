import { Fragment } from "react"
import type { RunView } from "../../src/view/RunView.ts"
import type { SearchRow } from "../../src/view/SearchRow.ts"
import { count, dollars, interval, points } from "@inspo/report"
import { ago } from "../Ago.ts"
import { Empty, Status } from "../part/Parts.tsx"
import { type Column, Table } from "../part/Table.tsx"
import { type Route, searchRoutes } from "../Route.ts"
import { Runs } from "./Runs.tsx"
import { Verdict } from "./SearchParts.tsx"

interface RunListProps {
  readonly route: Route
  readonly runs: ReadonlyArray<RunView>
  readonly searches: ReadonlyArray<SearchRow>
}

export const RunList = ({ route, runs, searches }: RunListProps) => (
  <>
    {runs.length + searches.length === 0 && (
      <Empty isPage title="No runs yet">
        Start one with <code>inspo run</code>, a search for a better prompt with <code>inspo evolve</code>, or a
        comparison with <code>inspo compare</code>. It appears here after its first step.
      </Empty>
    )}
    {runs.length > 0 && <Runs runs={runs} route={route} />}
    {lists.map(([kind, title, name]) => {
      const rows = searches.filter((one) => one.kind === kind)
      return (
        rows.length > 0 && (
          <Fragment key={kind}>
            <h1>{title}</h1>
            <Table label={name} className="rows" columns={searchColumns} rows={rows} />
          </Fragment>
        )
      )
    })}
  </>
)

const lists = [
  ["search", "Searches for a better prompt", "Searches"],
  ["comparison", "Comparisons of prompts", "Comparisons"]
] as const

const searchColumns: ReadonlyArray<Column<SearchRow>> = [
  [
    "Name",
    "",
    ({ id, name, problem, status }) => (
      <>
        <a href={searchRoutes.href(id)}>{name}</a>
        <div className="narrow-only">
          <Status status={status} degraded={false} />
        </div>
        {problem !== null && <span className="problem-line bad small">{problem}</span>}
      </>
    )
  ],
  ["State", "wide-only", ({ status }) => <Status status={status} degraded={false} />],
  ["Verdict", "", ({ summary }) => <Verdict verdict={summary?.verdict ?? null} />],
  [
    "Gain, points",
    "num",
    ({ summary }) =>
      summary === null || summary.gain === null ? (
        "–"
      ) : (
        <>
          <b>{points(summary.gain.mean)}</b>{" "}
          <span className="muted small">{interval([summary.gain.lower, summary.gain.upper], points)}</span>
        </>
      )
  ],
  [
    "Calls",
    "num wide-only",
    ({ summary }) =>
      summary === null ? (
        "–"
      ) : (
        <>
          {count(summary.calls)}
          <span className="muted"> / {count(summary.budget)}</span>
        </>
      )
  ],
  ["Prompts", "num wide-only", ({ summary }) => summary?.tried ?? "–"],
  ["Spent", "num wide-only", ({ summary }) => (summary === null ? "–" : dollars(summary.usd))],
  [
    "Last event",
    "num wide-only",
    ({ lastWritten }) => <span className="muted">{lastWritten === null ? "–" : ago(lastWritten)}</span>
  ]
]
