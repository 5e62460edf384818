/** Which view is shown: part of the address behind `#`, so that it survives a reload and can be sent to others. */
import { useSyncExternalStore } from "react"

export const views = ["overview", "population", "lineage", "trajectories", "cost", "compare"] as const
export type View = (typeof views)[number]

export interface Route {
  /** Null for the list of runs. */
  readonly run: string | null
  readonly view: View
  readonly query: ReadonlyMap<string, string>
}

export const parse = (hash: string): Route => {
  const [path = "", search = ""] = hash.replace(/^#\/?/u, "").split("?")
  const [run = "", name = ""] = path.split("/").map((part) => safeDecode(part))
  return {
    run: run === "" ? null : run,
    view: views.find((view) => view === name) ?? "overview",
    query: new Map(new URLSearchParams(search))
  }
}

export const format = ({ query, run, view }: Route): string => {
  const search = new URLSearchParams([...query].filter(([, value]) => value !== "")).toString()
  return `#/${run === null ? "" : `${encodeURIComponent(run)}/${view}`}${search === "" ? "" : `?${search}`}`
}

export const href = (
  run: string | null,
  view: View = "overview",
  query: Readonly<Record<string, string>> = {}
): string => format({ run, view, query: new Map(Object.entries(query)) })

export const useRoute = (): Route => parse(useHash())

/** What stands behind `#`. */
export const useHash = (): string => useSyncExternalStore(subscribe, () => window.location.hash)

/** Goes to an address; `replace` leaves no step to go back to, as for a filter that is being typed. */
export const go = (address: string, how: "push" | "replace" = "push"): void => {
  if (how === "push") history.pushState({ isOurs: true }, "", address)
  else history.replaceState(history.state, "", address)
  window.dispatchEvent(new HashChangeEvent("hashchange"))
}

/** Takes the step back that the last {@link go} can be undone by; where there was none, as after a link, goes to an address. */
export const back = (address: string): void => {
  if (history.state?.isOurs === true) history.back()
  else go(address, "replace")
}

/** The present address with some of its query changed; an empty value is left out. */
export const withQuery = (route: Route, changes: Readonly<Record<string, string>>): string =>
  format({ ...route, query: new Map([...route.query, ...Object.entries(changes)]) })

const safeDecode = (part: string): string => {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

const subscribe = (listener: () => void) => {
  window.addEventListener("hashchange", listener)
  window.addEventListener("popstate", listener)
  return () => {
    window.removeEventListener("hashchange", listener)
    window.removeEventListener("popstate", listener)
  }
}
