import type * as Evolve from "@inspo/evolve/SearchView"
import { Struct } from "effect"
import type { SearchDetail, SearchRow } from "../view/SearchRow.ts"
import { quietAfter } from "../view/RunView.ts"

/** Whether a search is done, or gave a sign of life lately; times are in milliseconds since 1970. */
export const statusOf = (
  { phase }: Pick<Evolve.SearchView, "phase">,
  at: number | null,
  now: number
): Exclude<SearchRow["status"], "unreadable"> =>
  phase === "done" ? "finished" : at !== null && now - at <= quietAfter ? "running" : "quiet"

interface Named {
  readonly id: string
  readonly name: string
}

/** A search of which only the name is known. */
export const unread = ({ id, name }: Named, problem: string): SearchRow => ({
  id,
  name,
  kind: "search",
  status: "unreadable",
  problem,
  summary: null,
  lastWritten: null
})

export const view = ({ id, name }: Named, search: Evolve.SearchView, at: number | null, now: number): SearchRow => {
  const { rejected, tried } = search
  return {
    id,
    name,
    kind: "search",
    status: statusOf(search, at, now),
    problem: null,
    summary: {
      ...Struct.pick(search, ["phase", "verdict", "calls", "budget", "usd", "budgetUsd"]),
      tried: tried.length,
      rejected: rejected.length,
      gain: search.test?.gain ?? gainOfLeader(search)
    },
    lastWritten: at
  }
}

const gainOfLeader = ({ leader, tried }: Evolve.SearchView) => tried.find(({ id }) => id === leader)?.gain ?? null

/** The view of a search with the worst of its failing cases only, whose texts are not longer than a page can show. */
export const detail = (search: Evolve.SearchView): SearchDetail => ({
  ...search,
  failingCount: search.failing.length,
  failing: search.failing
    .toSorted((one, other) => one.score - other.score)
    .slice(0, mostFailing)
    .map(({ case: one, feedback, output, score }) => ({
      case: clippedText(one),
      output: clippedText(output),
      feedback: feedback === null ? null : clipped(feedback),
      score
    }))
})

/** A case or an output as text, not longer than a page can show. */
export const clippedText = (value: unknown): string => clipped(textOf(value))

const textOf = (value: unknown): string =>
  typeof value === "string"
    ? value
    : typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.entries(value)
          .map(([name, part]) => `${name}: ${typeof part === "string" ? part : JSON.stringify(part)}`)
          .join("\n")
      : JSON.stringify(value)

const clipped = (text: string): string => (text.length <= longest ? text : `${text.slice(0, longest)} …`)

const mostFailing = 100
const longest = 4000
