import type { RunView } from "../../src/view/RunView.ts"
import type { SearchRow } from "../../src/view/SearchRow.ts"
import { useEffect, useState, useRef } from "react"
import { ago } from "../Ago.ts"
import { useLiveRuns } from "./LiveRuns.ts"
import { lazily } from "../part/Lazily.tsx"
import { Empty, Loading, Problem, Progress, Status } from "../part/Parts.tsx"
import { Shell } from "../part/Shell.tsx"
import { comparisonRoutes, href, type Route, routes, searchRoutes } from "../Route.ts"
import { go } from "../Routing.ts"
import { Overview } from "../view/Overview.tsx"
import { RunList } from "../view/RunList.tsx"
import { SearchState } from "../view/SearchParts.tsx"

/** The runs and searches of a server, and the views of one of them. */
export const Runs = () => {
  const route = routes.useRoute()
  const { connected, runs, searches } = useLiveRuns()
  const [isHelpOpen, setHelpOpen] = useState(false)
  const items = [...(runs ?? []), ...searches]
  const only = items.length === 1 ? items[0] : undefined
  const run = runs?.find(({ id }) => id === route.name)
  const search = searches.find(({ id }) => id === route.name)
  const frame = { items, connected, onHelp: () => setHelpOpen(true) }

  useEffect(() => {
    if (route.name === null && only !== undefined) go(href(only.id), "replace")
  }, [route.name, only])

  return (
    <>
      {search !== undefined ? (
        <Stored frame={{ ...frame, kind: runs?.length === 0 ? "search" : "run" }} search={search} />
      ) : (
        <Shell {...frame} kind="run" routes={routes} route={route} state={run !== undefined && <RunState run={run} />}>
          {runs === null ? (
            <Loading />
          ) : route.name === null ? (
            <RunList runs={runs} searches={searches} route={route} />
          ) : run === undefined ? (
            <Empty isPage title={`There is no run or search ${route.name}`}>
              It was moved or removed. <a href={href(null)}>All runs</a>
            </Empty>
          ) : run.problem !== null ? (
            <Problem>{run.problem}</Problem>
          ) : (
            <View run={run} runs={runs} route={route} />
          )}
        </Shell>
      )}
      {isHelpOpen && <Help onClose={() => setHelpOpen(false)} />}
    </>
  )
}

interface StoredProps {
  readonly search: SearchRow
  readonly frame: Pick<Parameters<typeof Shell>[0], "connected" | "items" | "kind" | "onHelp">
}

/** A search or a comparison from its file. */
const Stored = ({ frame, search }: StoredProps) => {
  const searchRoute = searchRoutes.useRoute()
  const comparisonRoute = comparisonRoutes.useRoute()
  const parts = { ...frame, state: <SearchState search={search} /> }
  const problem = search.problem !== null && <Problem>{search.problem}</Problem>
  return search.kind === "search" ? (
    <Shell {...parts} routes={searchRoutes} route={searchRoute}>
      {problem || <Search search={search} route={searchRoute} />}
    </Shell>
  ) : (
    <Shell {...parts} routes={comparisonRoutes} route={comparisonRoute}>
      {problem || <PromptComparison search={search} />}
    </Shell>
  )
}

interface ViewProps {
  readonly run: RunView
  readonly runs: ReadonlyArray<RunView>
  readonly route: Route
}

const View = ({ route, run, runs }: ViewProps) => {
  switch (route.view) {
    case "overview":
      return <Overview run={run} route={route} />
    case "population":
      return <Population run={run} />
    case "lineage":
      return <Lineage run={run} route={route} />
    case "trajectories":
      return <Trajectories run={run} route={route} />
    case "cost":
      return <Cost run={run} />
    case "compare":
      return <Compare run={run} runs={runs} route={route} />
  }
}

const RunState = ({ run: { degraded, lastWritten, status, step, steps } }: { readonly run: RunView }) => (
  <span className="run-state inline num">
    <Status status={status} degraded={degraded} />
    {status === "running" && steps !== null && <Progress label="Completed steps" done={step} all={steps} />}
    <span className="muted">
      step {step}
      {steps === null ? "" : ` of ${steps}`}
      {lastWritten === null ? "" : ` · last event ${ago(lastWritten)}`}
    </span>
  </span>
)

// Only the views that a page usually opens with are in its first script.
const Population = lazily(() => import("../view/Population.tsx").then(({ Population }) => Population))
const Lineage = lazily(() => import("../view/Lineage.tsx").then(({ Lineage }) => Lineage))
const Trajectories = lazily(() => import("../view/Trajectories.tsx").then(({ Trajectories }) => Trajectories))
const Cost = lazily(() => import("../view/Cost.tsx").then(({ Cost }) => Cost))
const Compare = lazily(() => import("../view/Compare.tsx").then(({ Compare }) => Compare))
const PromptComparison = lazily(() =>
  import("../view/PromptComparison.tsx").then(({ PromptComparison }) => PromptComparison)
)
const Search = lazily(() => import("../view/Search.tsx").then(({ Search }) => Search))

const keys: ReadonlyArray<readonly [key: string, what: string]> = [
  ["1 – 6", "Overview, population, lineage, trajectories, cost, compare"],
  ["0", "All runs"],
  ["j  k", "Next and previous trajectory or instruction"],
  ["[  ]", "Previous and next page of trajectories"],
  ["/", "Search questions"],
  ["t", "Light or dark"],
  ["?", "Keyboard shortcuts"],
  ["Esc", "Close"]
]

const Help = ({ onClose }: { readonly onClose: () => void }) => {
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog
      ref={dialog}
      onClose={onClose}
      onClick={({ target }) => target === dialog.current && dialog.current?.close()}
      aria-labelledby="help-title"
    >
      <h2 id="help-title">Keyboard shortcuts</h2>
      <dl className="keys">
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <button type="button" onClick={() => dialog.current?.close()}>
        Close
      </button>
    </dialog>
  )
}
