/** Small components that the views of searches use. */
import type * as EvolveSearchView from "@inspo/evolve/SearchView"
import { points } from "@inspo/report"
import type { SearchRow } from "../../src/view/SearchRow.ts"
import { ago } from "../Ago.ts"
import { Progress, Status } from "../part/Parts.tsx"

/** The state of a search in the head of the page. */
export const SearchState = ({ search: { lastWritten, status, summary } }: { readonly search: SearchRow }) => (
  <span className="run-state inline num">
    <Status status={status} degraded={false} />
    {status === "running" && summary !== null && (
      <Progress label="Calls of the agent" done={summary.calls} all={summary.budget} />
    )}
    <span className="muted">{lastWritten === null ? "" : `last event ${ago(lastWritten)}`}</span>
  </span>
)

/** A verdict, or that there is none yet. */
export const Verdict = ({ verdict }: { readonly verdict: string | null }) =>
  verdict === null ? (
    <span className="muted">none yet</span>
  ) : (
    <span className={`badge ${shown.has(verdict) ? "best" : ""}`}>{verdict}</span>
  )

/** What is shown in favour of a prompt. */
const shown: ReadonlySet<string> = new Set(["better", "no-worse", "shorter", "cheaper"])

/** A difference in points with its interval. */
export const Gain = ({ gain }: Pick<EvolveSearchView.Tried, "gain">) =>
  gain === null ? (
    <span className="muted">–</span>
  ) : (
    <>
      <b className="num">{points(gain.mean)}</b>
      <div className="muted small num">
        [{points(gain.lower)}, {points(gain.upper)}]
      </div>
    </>
  )
