/** Which population and which view of it is shown, behind `#`. */
import { useHash } from "../Route.ts"

export const views = ["members", "lineage", "history"] as const
export type View = (typeof views)[number]

export interface Route {
  /** Null for the list of populations. */
  readonly population: string | null
  readonly view: View
  readonly instruction: string | null
}

export const href = (population: string | null, view: View = "members", instruction: string | null = null): string =>
  `#/${population === null ? "" : `${encodeURIComponent(population)}/${view}`}${instruction === null ? "" : `?instruction=${encodeURIComponent(instruction)}`}`

export const useRoute = (): Route => {
  const [path = "", search = ""] = useHash().replace(/^#\/?/u, "").split("?")
  const [population = "", name = ""] = path.split("/")
  return {
    population: population === "" ? null : population,
    view: views.find((view) => view === name) ?? "members",
    instruction: new URLSearchParams(search).get("instruction")
  }
}
