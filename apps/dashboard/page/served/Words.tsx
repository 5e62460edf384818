/** Small things that the views of populations show. */
import type { Wording as WordingType } from "@inspo/serve/wire/Instruction"
import type { Estimate, Member } from "@inspo/serve/wire/Member"
import type { Population, PopulationSummary } from "@inspo/serve/wire/Population"
import { axis, percent } from "../../src/Format.ts"
import { Diff } from "../part/Diff.tsx"
import { IntervalBar } from "../part/Parts.tsx"

/** How a population stands, with the dot of a run's state. */
export const Standing = ({ state }: Pick<PopulationSummary, "state">) => (
  <span className={`status status-${statusOf[state]}`}>
    <i aria-hidden="true" />
    {state.replace("-", " ")}
  </span>
)

const statusOf = {
  learning: "running",
  "cannot-decide": "unreadable",
  frozen: "quiet",
  degraded: "unreadable"
} as const

const tones: Readonly<Record<Member["standing"], string>> = {
  waiting: "mode",
  trial: "fate-replaced",
  member: "fate-alive",
  pruned: "fate-pruned",
  rejected: "fate-rejected",
  retired: "fate-replaced"
}

export const StandingBadge = ({ standing }: Pick<Member, "standing">) => (
  <span className={`badge ${tones[standing]}`}>{standing === "waiting" ? "waits for approval" : standing}</span>
)

/** A mean reward with its interval; a dash before the first report. */
export const Value = ({
  estimate,
  range: [low, high],
  tone = "plain"
}: {
  readonly estimate: Pick<Estimate, "high" | "low" | "mean">
  readonly range: Population["settings"]["rewardRange"]
  readonly tone?: "accent" | "plain"
}) => {
  const place = (value: number) => Math.min(1, Math.max(0, (value - low) / (high - low)))
  if (estimate.mean === null) return <span className="muted">nothing reported</span>
  return (
    <span className="value">
      <b className="num">{axis(estimate.mean)}</b>
      {estimate.low !== null && estimate.high !== null && (
        <IntervalBar
          mean={place(estimate.mean)}
          ci95={[place(estimate.low), place(estimate.high)]}
          show={(at) => axis(low + at * (high - low))}
          tone={tone}
        />
      )}
    </span>
  )
}

/** `[0.41, 0.63]`; empty where there is none. */
export const interval = ({ high, low }: Pick<Estimate, "high" | "low">): string =>
  low === null || high === null ? "" : `[${axis(low)}, ${axis(high)}]`

export const Share = ({ probability }: Pick<Member, "probability">) => (
  <span className="with-share">
    <span className="bar-track" aria-hidden="true">
      <i className="bar-fill accent" style={{ width: `${100 * probability}%` }} />
    </span>
    <span className="num">{percent(probability)}</span>
  </span>
)

/** The texts of an instruction by their names; one text has the name of none. */
export const textsOf = (wording: WordingType): ReadonlyArray<readonly [name: string | null, text: string]> =>
  typeof wording === "string" ? [[null, wording]] : Object.entries(wording)

/** What an instruction says; beside another one, word by word. */
export const Wording = ({ from, to }: { readonly from?: WordingType | undefined; readonly to: WordingType }) => {
  const earlier = new Map(from === undefined ? [] : textsOf(from))
  return textsOf(to).map(([name, text]) => (
    <div key={name ?? ""} className="wording">
      {name !== null && (
        <h3 dir="auto" className="mono">
          {name}
        </h3>
      )}
      {from === undefined ? (
        <p className="prose" dir="auto">
          {text}
        </p>
      ) : (
        <Diff from={earlier.get(name) ?? ""} to={text} />
      )}
    </div>
  ))
}

/** When a time comes or came, in words. */
export const due = (iso: string): string => {
  const seconds = Math.round((Date.parse(iso) - Date.now()) / 1000)
  const size = Math.abs(seconds)
  const words =
    size < 90
      ? `${size} s`
      : size < 5400
        ? `${Math.round(size / 60)} min`
        : size < 129_600
          ? `${Math.round(size / 3600)} h`
          : `${Math.round(size / 86_400)} days`
  return seconds >= 0 ? `in ${words}` : `${words} ago`
}
