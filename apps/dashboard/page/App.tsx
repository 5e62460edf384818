import type { RunView } from "../src/view/RunView.ts"
import { useEffect, useState } from "react"
import { ago } from "./Ago.ts"
import { useLiveRuns } from "./LiveRuns.ts"
import { Help } from "./part/Help.tsx"
import { Empty, Loading, Problem, Status } from "./part/Parts.tsx"
import { Shell } from "./part/Shell.tsx"
import { href, type Route, routes } from "./Route.ts"
import { go } from "./Routing.ts"
import { Compare } from "./view/Compare.tsx"
import { Cost } from "./view/Cost.tsx"
import { Lineage } from "./view/Lineage.tsx"
import { Overview } from "./view/Overview.tsx"
import { Population } from "./view/Population.tsx"
import { RunList } from "./view/RunList.tsx"
import { Trajectories } from "./view/Trajectories.tsx"

export const App = () => {
  const route = routes.useRoute()
  const { connected, runs } = useLiveRuns()
  const [isHelpOpen, setHelpOpen] = useState(false)
  const only = runs?.length === 1 ? runs[0] : undefined
  const run = runs?.find(({ id }) => id === route.name)

  useEffect(() => {
    if (route.name === null && only !== undefined) go(href(only.id), "replace")
  }, [route.name, only])

  return (
    <>
      <Shell
        kind="run"
        routes={routes}
        route={route}
        items={runs ?? []}
        state={run !== undefined && <RunState run={run} />}
        connected={connected}
        onHelp={() => setHelpOpen(true)}
      >
        {runs === null ? (
          <Loading />
        ) : route.name === null ? (
          <RunList runs={runs} />
        ) : run === undefined ? (
          <Empty title={`There is no run ${route.name}`}>
            It was moved or removed. <a href={href(null)}>All runs</a>
          </Empty>
        ) : run.problem !== null ? (
          <Problem>{run.problem}</Problem>
        ) : (
          <View run={run} runs={runs} route={route} />
        )}
      </Shell>
      {isHelpOpen && <Help onClose={() => setHelpOpen(false)} />}
    </>
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
      return <Overview run={run} />
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
  <span className="run-state">
    <Status status={status} degraded={degraded} />
    {status === "running" && steps !== null && (
      <span
        className="progress"
        role="progressbar"
        aria-label="Completed steps"
        aria-valuemin={0}
        aria-valuemax={steps}
        aria-valuenow={step}
      >
        <i style={{ width: `${(100 * step) / steps}%` }} />
      </span>
    )}
    <span className="muted">
      step {step}
      {steps === null ? "" : ` of ${steps}`}
      {lastWritten === null ? "" : ` · last event ${ago(lastWritten)}`}
    </span>
  </span>
)
