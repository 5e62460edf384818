/** The view that is shown, in the part of the address after `#`: it survives a reload and can be shared. */
import { useSyncExternalStore } from "react"

export interface Route<View extends string> {
  /** A run or a population; null for the list of them. */
  readonly name: string | null
  readonly view: View
  readonly query: ReadonlyMap<string, string>
}

/** The addresses of a page with these views, the default one first. */
export const makeRoutes = <const View extends string>(views: readonly [View, ...ReadonlyArray<View>]) => {
  const parse = (hash: string): Route<View> => {
    const [path = "", search = ""] = hash.replace(/^#\/?/u, "").split("?")
    const [name = "", shown = ""] = path.split("/").map((part) => safeDecode(part))
    return {
      name: name === "" ? null : name,
      view: views.find((view) => view === shown) ?? views[0],
      query: new Map(new URLSearchParams(search))
    }
  }
  return {
    views,
    href: (name: string | null, view: View = views[0], query: Readonly<Record<string, string>> = {}): string =>
      format({ name, view, query: new Map(Object.entries(query)) }),
    useRoute: (): Route<View> => parse(useSyncExternalStore(subscribe, () => window.location.hash))
  }
}

export type Routes<View extends string> = ReturnType<typeof makeRoutes<View>>

/** Goes to an address; `replace` adds no step to the history, as for a filter that is being typed. */
export const go = (address: string, how: "push" | "replace" = "push"): void => {
  if (how === "push") history.pushState({ isOurs: true }, "", address)
  else history.replaceState(history.state, "", address)
  window.dispatchEvent(new HashChangeEvent("hashchange"))
}

/** Undoes the last {@link go}; if there was none, as after a link, goes to an address. */
export const back = (address: string): void => {
  if (history.state?.isOurs === true) history.back()
  else go(address, "replace")
}

/** The present address with changes to its query; an empty value is left out. */
export const withQuery = (route: Route<string>, changes: Readonly<Record<string, string>>): string =>
  format({ ...route, query: new Map([...route.query, ...Object.entries(changes)]) })

/** A whole number in the query; undefined if there is none. */
export const wholeOf = ({ query }: Route<string>, name: string): number | undefined => {
  const number = Number.parseInt(query.get(name) ?? "", 10)
  return Number.isSafeInteger(number) ? number : undefined
}

const format = ({ name, query, view }: Route<string>): string => {
  const search = new URLSearchParams([...query].filter(([, value]) => value !== "")).toString()
  return `#/${name === null ? "" : `${encodeURIComponent(name)}/${view}`}${search === "" ? "" : `?${search}`}`
}

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
