import type { PopulationSummary } from "@inspo/serve/wire/Population"
import { useEffect } from "react"
import { Empty, Loading, Problem } from "../part/Parts.tsx"
import { TopRight } from "../part/TopRight.tsx"
import { useKeys } from "../part/useKeys.ts"
import { go } from "../Route.ts"
import { toggleTheme } from "../Theme.ts"
import * as Access from "./Access.ts"
import { makeView } from "./Client.ts"
import { KeyForm } from "./KeyForm.tsx"
import { useNews } from "./News.ts"
import { href, type Route, useRoute, views } from "./Route.ts"
import { Standing } from "./Words.tsx"
import { PopulationList } from "./view/PopulationList.tsx"
import { PopulationPage } from "./view/PopulationPage.tsx"

const usePopulations = makeView<null, ReadonlyArray<PopulationSummary>, unknown>((client) => client.populations.list())

export const App = () => {
  const route = useRoute()
  const access = Access.useAccess()
  const news = useNews()
  const { data, problem } = usePopulations(null, `${news} ${access.version}`)
  const population = data?.find(({ name }) => name === route.population)

  useKeys({
    ...Object.fromEntries(
      views.map((view, index) => [
        String(index + 1),
        () => route.population !== null && go(href(route.population, view))
      ])
    ),
    "0": () => go(href(null)),
    t: toggleTheme
  })

  useEffect(() => {
    document.title = route.population === null ? "inspo" : `${route.population} · ${route.view} · inspo`
  }, [route.population, route.view])

  return (
    <>
      <a className="skip" href="#main" onClick={focusMain}>
        To the content
      </a>
      <header className="top">
        <div className="top-line">
          <a className="brand" href={href(null)} aria-label="inspo, all populations">
            <img src="./icon.svg" alt="" width="24" height="24" />
            <span className="brand-name">inspo</span>
          </a>
          {data !== null && data.length > 0 && (
            <PopulationSelect populations={data} route={route} selected={population?.name ?? ""} />
          )}
          {population !== undefined && <Standing state={population.state} />}
          <TopRight connected={access.connected}>
            {Access.key() !== null && (
              <button type="button" onClick={() => Access.giveKey(null)}>
                Forget the key
              </button>
            )}
          </TopRight>
        </div>
        {population !== undefined && <Tabs route={route} name={population.name} />}
      </header>
      <main id="main" tabIndex={-1} className={`view-${route.population === null ? "runs" : route.view}`}>
        {access.locked ? (
          <KeyForm refused={access.refused} />
        ) : data === null ? (
          problem === null ? (
            <Loading />
          ) : (
            <Problem>{problem}</Problem>
          )
        ) : route.population === null ? (
          <PopulationList populations={data} />
        ) : population === undefined ? (
          <Empty title={`There is no population ${route.population} here`}>
            It may have been removed. <a href={href(null)}>All populations</a>
          </Empty>
        ) : (
          <PopulationPage key={population.name} route={route} name={population.name} />
        )}
      </main>
    </>
  )
}

const PopulationSelect = ({
  populations,
  route,
  selected
}: {
  readonly populations: ReadonlyArray<PopulationSummary>
  readonly route: Route
  readonly selected: string
}) => (
  <select
    aria-label="Population"
    className="run-select"
    value={selected}
    onChange={({ target }) => go(href(target.value === "" ? null : target.value, route.view))}
  >
    <option value="">All populations</option>
    {populations.map(({ name }) => (
      <option key={name} value={name}>
        {name}
      </option>
    ))}
  </select>
)

const titles = { members: "Members", lineage: "Lineage", history: "History" } as const

const Tabs = ({ name, route }: { readonly route: Route; readonly name: string }) => (
  <nav aria-label="Views" className="tabs">
    {views.map((view, index) => (
      <a
        key={view}
        href={href(name, view)}
        aria-current={route.view === view ? "page" : undefined}
        title={`${titles[view]} (${index + 1})`}
      >
        {titles[view]}
      </a>
    ))}
  </nav>
)

const focusMain = (event: { preventDefault: () => void }) => {
  event.preventDefault()
  document.querySelector<HTMLElement>("#main")?.focus()
}
