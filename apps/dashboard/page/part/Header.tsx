import type { RunView } from "../../src/view/RunView.ts"
import { ago } from "../Ago.ts"
import { go, href, type Route, type View, views } from "../Route.ts"
import { Status } from "./Parts.tsx"
import { TopRight } from "./TopRight.tsx"

const titles: Readonly<Record<View, string>> = {
  overview: "Overview",
  population: "Population",
  lineage: "Lineage",
  trajectories: "Trajectories",
  cost: "Cost",
  compare: "Compare"
}

/** Where one is, how the run stands, and the way to everything else. */
export const Header = ({
  connected,
  onHelp,
  route,
  run,
  runs
}: {
  readonly runs: ReadonlyArray<RunView>
  readonly run: RunView | undefined
  readonly route: Route
  readonly connected: boolean
  readonly onHelp: () => void
}) => {
  return (
    <header className="top">
      <div className="top-line">
        <a className="brand" href={href(null)} aria-label="inspo, all runs">
          <img src="./icon.svg" alt="" width="24" height="24" />
          <span className="brand-name">inspo</span>
        </a>
        {runs.length > 0 && (
          <select
            aria-label="Run"
            className="run-select"
            value={run?.id ?? ""}
            onChange={({ target }) => go(href(target.value === "" ? null : target.value, route.view))}
          >
            <option value="">All runs</option>
            {runs.map(({ id, name }) => (
              <option key={id} value={id}>
                {name}
              </option>
            ))}
          </select>
        )}
        {run !== undefined && (
          <span className="run-state">
            <Status status={run.status} degraded={run.degraded} />
            {run.status === "running" && run.steps !== null && (
              <span
                className="progress"
                role="progressbar"
                aria-label="Steps done"
                aria-valuemin={0}
                aria-valuemax={run.steps}
                aria-valuenow={run.step}
              >
                <i style={{ width: `${(100 * run.step) / run.steps}%` }} />
              </span>
            )}
            <span className="muted">
              step {run.step}
              {run.steps === null ? "" : ` of ${run.steps}`}
              {run.lastWritten === null ? "" : ` · last event ${ago(run.lastWritten)}`}
            </span>
          </span>
        )}
        <TopRight connected={connected} onHelp={onHelp} />
      </div>
      {run !== undefined && (
        <nav aria-label="Views" className="tabs">
          {views.map((view, index) => (
            <a
              key={view}
              href={href(run.id, view)}
              aria-current={route.view === view ? "page" : undefined}
              title={`${titles[view]} (${index + 1})`}
            >
              {titles[view]}
            </a>
          ))}
        </nav>
      )}
    </header>
  )
}
