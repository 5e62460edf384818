import { type ReactNode, useEffect } from "react"
import { capital } from "@inspo/report"
import { go, type Route, type Routes } from "../Routing.ts"
import { toggleTheme, useTheme } from "../Theme.ts"
import { useKeys } from "./useKeys.ts"

/** What a page shows. */
const plurals = { run: "runs", population: "populations", search: "searches" } as const

interface Item {
  readonly id: string
  readonly name: string
}

/** The frame of a page: the selection of a run or population, its state, the tabs of its views, and the content. */
export const Shell = <View extends string>({
  actions,
  children,
  connected,
  items,
  kind,
  onHelp,
  route,
  routes: { href, views },
  state
}: {
  readonly kind: keyof typeof plurals
  readonly routes: Routes<View>
  readonly route: Route<View>
  readonly items: ReadonlyArray<Item>
  /** The state of the selected item. */
  readonly state: ReactNode
  readonly connected: boolean
  readonly actions?: ReactNode
  readonly onHelp?: (() => void) | undefined
  readonly children: ReactNode
}) => {
  const selected = items.find(({ id }) => id === route.name)

  const title = selected === undefined ? "inspo" : `${selected.name} · ${route.view} · inspo`
  useEffect(() => {
    document.title = title
  }, [title])
  useKeys({ ...viewKeys(route, { href, views }), "0": () => go(href(null)), t: toggleTheme, "?": () => onHelp?.() })

  return (
    <>
      <a className="skip" href="#main" onClick={focusMain}>
        Skip to the content
      </a>
      <header className="top">
        <div className="top-line">
          <a className="brand inline" href={href(null)} aria-label={`inspo, all ${plurals[kind]}`}>
            <img src="./icon.svg" alt="" width="24" height="24" />
            <span className="brand-name">inspo</span>
          </a>
          {items.length > 0 && (
            <select
              aria-label={capital(kind)}
              className="run-select"
              value={selected?.id ?? ""}
              onChange={({ target }) => go(href(target.value === "" ? null : target.value, route.view))}
            >
              <option value="">All {plurals[kind]}</option>
              {items.map(option)}
            </select>
          )}
          {state}
          <TopRight connected={connected} onHelp={onHelp}>
            {actions}
          </TopRight>
        </div>
        {selected !== undefined && (
          <nav aria-label="Views" className="tabs">
            {views.map((view, index) => (
              <a
                key={view}
                href={href(selected.id, view)}
                aria-current={route.view === view ? "page" : undefined}
                title={`${capital(view)} (${index + 1})`}
              >
                {capital(view)}
              </a>
            ))}
          </nav>
        )}
      </header>
      <main id="main" tabIndex={-1} className={`view-${route.name === null ? "list" : route.view}`}>
        {children}
      </main>
    </>
  )
}

/** The keys 1, 2, … go to the views. */
const viewKeys = <View extends string>(
  { name }: Route<View>,
  { href, views }: Pick<Routes<View>, "href" | "views">
): Readonly<Record<string, () => void>> =>
  Object.fromEntries(views.map((view, index) => [String(index + 1), () => name !== null && go(href(name, view))]))

const option = ({ id, name }: Item) => (
  <option key={id} value={id}>
    {name}
  </option>
)

interface TopRightProps {
  readonly connected: boolean
  readonly onHelp: (() => void) | undefined
  readonly children: ReactNode
}

const TopRight = ({ children, connected, onHelp }: TopRightProps) => {
  const theme = useTheme()
  return (
    <span className="top-right inline">
      {!connected && (
        <span className="offline" role="status">
          Connection lost, retrying …
        </span>
      )}
      {children}
      <button type="button" onClick={toggleTheme} title="Light or dark (t)" aria-label="Switch between light and dark">
        {theme === "dark" ? "☀" : "☾"}
      </button>
      {onHelp !== undefined && (
        <button type="button" onClick={onHelp} title="Keys (?)" aria-label="Keyboard shortcuts">
          ?
        </button>
      )}
    </span>
  )
}

const focusMain = (event: { preventDefault: () => void }) => {
  event.preventDefault()
  document.getElementById("main")?.focus()
}
