import type { RunView } from "../src/view/RunView.ts"
import { useEffect, useRef, useState } from "react"
import { Header } from "./part/Header.tsx"
import { Help } from "./part/Help.tsx"
import { Empty, Loading, Problem } from "./part/Parts.tsx"
import { useLive } from "./Live.ts"
import { go, href, useRoute, views } from "./Route.ts"
import { toggleTheme } from "./Theme.ts"
import { Compare } from "./view/Compare.tsx"
import { Cost } from "./view/Cost.tsx"
import { Lineage } from "./view/Lineage.tsx"
import { Overview } from "./view/Overview.tsx"
import { Population } from "./view/Population.tsx"
import { RunList } from "./view/RunList.tsx"
import { Trajectories } from "./view/Trajectories.tsx"

export const App = () => {
  const route = useRoute()
  const { connected, runs } = useLive()
  const [helping, setHelping] = useState(false)
  const only = runs?.length === 1 ? runs[0] : undefined
  const run = runs?.find(({ id }) => id === route.run)

  useEffect(() => {
    if (route.run === null && only !== undefined) go(href(only.id), "replace")
  }, [route.run, only])

  const latest = useRef(route)
  latest.current = route
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
      const view = views[Number(event.key) - 1]
      if (view !== undefined && latest.current.run !== null) go(href(latest.current.run, view))
      else if (event.key === "0") go(href(null))
      else if (event.key === "t") toggleTheme()
      else if (event.key === "?") setHelping(true)
    }
    window.addEventListener("keydown", onKey)
    return () => window.removeEventListener("keydown", onKey)
  }, [])

  useEffect(() => {
    document.title = run === undefined ? "inspo" : `${run.name} · ${route.view} · inspo`
  }, [run?.name, route.view])

  const shown = (run: RunView) => {
    switch (route.view) {
      case "overview":
        return <Overview run={run} />
      case "population":
        return <Population run={run} route={route} />
      case "lineage":
        return <Lineage run={run} route={route} />
      case "trajectories":
        return <Trajectories run={run} route={route} />
      case "cost":
        return <Cost run={run} />
      case "compare":
        return <Compare run={run} runs={runs ?? []} route={route} />
    }
  }

  return (
    <>
      <a className="skip" href="#main" onClick={focusMain}>
        To the content
      </a>
      <Header runs={runs ?? []} run={run} route={route} connected={connected} onHelp={() => setHelping(true)} />
      <main id="main" tabIndex={-1} className={`view-${route.run === null ? "runs" : route.view}`}>
        {runs === null ? (
          <Loading />
        ) : route.run === null ? (
          <RunList runs={runs} />
        ) : run === undefined ? (
          <Empty title={`There is no run ${route.run} here`}>
            It may have been moved or removed. <a href={href(null)}>All runs</a>
          </Empty>
        ) : run.problem !== null ? (
          <Problem>{run.problem}</Problem>
        ) : (
          shown(run)
        )}
      </main>
      {helping && <Help onClose={() => setHelping(false)} />}
    </>
  )
}

const focusMain = (event: { preventDefault: () => void }) => {
  event.preventDefault()
  document.getElementById("main")?.focus()
}

const isTyping = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement &&
  (target.isContentEditable || ["INPUT", "SELECT", "TEXTAREA"].includes(target.tagName))
