import { description, FailureMode } from "@inspo/reflection/FailureMode"
import { type RefObject, useEffect, useRef, useState } from "react"
import type { RunView } from "../../src/view/RunView.ts"
import {
  Outcome,
  Purpose,
  type TrajectoryLine,
  type TrajectoryPage,
  type TrajectoryQuery
} from "../../src/view/TrajectoryView.ts"
import { count, percent, plural } from "../../src/Format.ts"
import { versionOf } from "../Live.ts"
import { Card, Empty, InstructionName, Loading, Problem } from "../part/Parts.tsx"
import { TrajectoryDetail } from "../part/TrajectoryDetail.tsx"
import { useKeys } from "../part/useKeys.ts"
import { useScrollInto } from "../part/useScrollInto.ts"
import { back, go, type Route, withQuery } from "../Route.ts"
import { makeView } from "../View.ts"

const useTrajectories = makeView((client, { query, run }: { readonly run: string; readonly query: TrajectoryQuery }) =>
  client.trajectories({ params: { run }, query })
)

/** What the policy wrote: a filtered, paged list and one trajectory in full. */
export const Trajectories = ({ route, run }: { readonly run: RunView; readonly route: Route }) => {
  const query = queryOf(route)
  const { page, problem } = usePage(run, query)
  const search = useRef<HTMLInputElement>(null)
  const selected = route.query.get("id") ?? page?.rows[0]?.id ?? null
  const change = (changes: Readonly<Record<string, string>>, how?: "replace") =>
    go(withQuery(route, { id: "", offset: "", ...changes }), how)
  const turn = (by: number) => {
    if (page === null) return
    const offset = page.offset + by * pageSize
    if (offset >= 0 && offset < page.total) change({ offset: String(offset) })
  }
  const move = (by: number) => {
    const rows = page?.rows ?? []
    const at = rows.findIndex(({ id }) => id === selected)
    const next = rows[Math.min(rows.length - 1, Math.max(0, at + by))]
    if (next !== undefined) go(withQuery(route, { id: next.id }), "replace")
  }
  useKeys({
    j: () => move(1),
    k: () => move(-1),
    "[": () => turn(-1),
    "]": () => turn(1),
    "/": () => search.current?.focus()
  })

  if (page === null) return problem === null ? <Loading /> : <Problem>{problem}</Problem>
  if (page.all === 0) return <Empty title="No trajectories yet">They appear with the rollouts of the first step.</Empty>
  return (
    <>
      <h1 className="hidden">Trajectories of {run.name}</h1>
      {problem !== null && <Problem>{problem}</Problem>}
      <Filters page={page} route={route} search={search} onChange={change} />
      <div className={`split trajectories ${route.query.has("id") ? "has-selection" : ""}`}>
        <PageOfLines page={page} route={route} selected={selected} onTurn={turn} />
        <Card
          className="detail-card"
          title={selected === null ? "No trajectory" : <span className="mono">{selected}</span>}
          actions={
            <button type="button" className="back" onClick={() => back(withQuery(route, { id: "" }))}>
              Back to the list
            </button>
          }
        >
          {selected === null ? (
            <Empty title="Choose a trajectory">Its turns are shown here.</Empty>
          ) : (
            <TrajectoryDetail key={selected} run={run} id={selected} />
          )}
        </Card>
      </div>
    </>
  )
}

const pageSize = 30

/** The page of a query, asked for again while failure modes are read. */
const usePage = (run: RunView, query: TrajectoryQuery) => {
  const [looks, setLooks] = useState(0)
  const { data, problem } = useTrajectories({ run: run.id, query }, `${versionOf(run)} ${looks}`)
  const last = useRef<TrajectoryPage>(null)
  if (data !== null) last.current = data
  // While another page is on its way, the one before stays.
  const page = data ?? last.current
  // Failure modes are read in the background, which is no news of the run.
  const done = data?.diagnosed.done ?? 0
  const isReading = data !== null && done < data.diagnosed.of
  useEffect(() => {
    if (!isReading) return
    const timer = window.setTimeout(() => setLooks((before) => before + 1), 2000)
    return () => window.clearTimeout(timer)
  }, [isReading, done, looks])
  return { page, problem }
}

const PageOfLines = ({
  onTurn,
  page,
  route,
  selected
}: {
  readonly page: TrajectoryPage
  readonly route: Route
  readonly selected: string | null
  readonly onTurn: (by: number) => void
}) => (
  <Card
    className="list-card scroll-list"
    title={`${count(page.total)} of ${count(page.all)}`}
    actions={
      <span className="pager">
        <button type="button" onClick={() => onTurn(-1)} disabled={page.offset === 0} aria-label="Previous page">
          ‹
        </button>
        <span className="muted num">
          {page.total === 0 ? 0 : count(page.offset + 1)} – {count(Math.min(page.total, page.offset + pageSize))}
        </span>
        <button
          type="button"
          onClick={() => onTurn(1)}
          disabled={page.offset + pageSize >= page.total}
          aria-label="Next page"
        >
          ›
        </button>
      </span>
    }
  >
    {page.rows.length === 0 ? (
      <Empty title="Nothing matches">
        <button type="button" className="link" onClick={() => go(withQuery({ ...route, query: new Map() }, {}))}>
          Clear the filters
        </button>
      </Empty>
    ) : (
      <ul className="lines">
        {page.rows.map((row) => (
          <Line
            key={row.id}
            row={row}
            isSelected={row.id === selected}
            onSelect={(id) => go(withQuery(route, { id }))}
          />
        ))}
      </ul>
    )}
  </Card>
)

const Line = ({
  isSelected,
  onSelect,
  row
}: {
  readonly row: TrajectoryLine
  readonly isSelected: boolean
  readonly onSelect: (id: string) => void
}) => {
  const button = useScrollInto<HTMLButtonElement>(isSelected)
  return (
    <li>
      <button
        ref={button}
        type="button"
        className={`line ${isSelected ? "selected" : ""}`}
        aria-pressed={isSelected}
        onClick={() => onSelect(row.id)}
      >
        <span className={`outcome outcome-${row.outcome}`}>
          {row.outcome === "failed" ? "failed" : percent(row.reward, 0)}
        </span>
        <span className="line-question" dir="auto">
          {row.text ?? row.question ?? row.id}
        </span>
        <span className="line-note">
          {row.instruction !== null && <InstructionName id={row.instruction} />}
          <span>
            {purposeWords[row.purpose]}, step {row.step}
          </span>
          <span>
            {row.toolCalls !== null && `${plural(row.toolCalls, "call")}, `}
            {row.responseTokens !== null && plural(row.responseTokens, "token")}
          </span>
          {(row.modes ?? []).slice(0, 2).map((mode) => (
            <span key={mode} className="badge mode">
              {mode.replaceAll("-", " ")}
            </span>
          ))}
        </span>
      </button>
    </li>
  )
}

const Filters = ({
  onChange,
  page,
  route,
  search
}: {
  readonly page: TrajectoryPage
  readonly route: Route
  readonly search: RefObject<HTMLInputElement | null>
  readonly onChange: (changes: Readonly<Record<string, string>>, how?: "replace") => void
}) => {
  const counts = new Map(page.modes.map(({ count, mode }) => [mode, count]))
  return (
    <form
      className="filters"
      role="search"
      aria-label="Filter trajectories"
      onSubmit={(event) => event.preventDefault()}
    >
      <SearchField
        search={search}
        text={route.query.get("text") ?? ""}
        onChange={(text) => onChange({ text }, "replace")}
      />
      <Choice
        name="Outcome"
        field="outcome"
        route={route}
        onChange={onChange}
        options={Outcome.literals.map((value) => [value, value])}
      />
      <Choice
        name="Instruction"
        field="instruction"
        route={route}
        onChange={onChange}
        options={page.instructions.map((id) => [id, id])}
      />
      <Choice
        name="Failure mode"
        field="mode"
        route={route}
        onChange={onChange}
        options={FailureMode.literals.map((mode) => [
          mode,
          `${description[mode]}${counts.has(mode) ? ` (${count(counts.get(mode) ?? 0)})` : ""}`
        ])}
      />
      <Choice
        name="Purpose"
        field="purpose"
        route={route}
        onChange={onChange}
        options={Purpose.literals.map((value) => [value, purposeWords[value]])}
      />
      {page.sources.length > 1 && (
        <Choice
          name="Source"
          field="source"
          route={route}
          onChange={onChange}
          options={page.sources.map((source) => [source, source])}
        />
      )}
      <Choice
        name="Order"
        field="order"
        route={route}
        onChange={onChange}
        empty="newest first"
        options={[
          ["oldest", "oldest first"],
          ["longest", "longest first"],
          ["calls", "most tool calls first"]
        ]}
      />
      <Diagnosed diagnosed={page.diagnosed} />
    </form>
  )
}

const Diagnosed = ({ diagnosed: { done, of } }: Pick<TrajectoryPage, "diagnosed">) =>
  done < of && (
    <p className="muted small filter-note" role="status">
      Failure modes read from {count(done)} of {count(of)} wrong trajectories so far; the rest follows.
    </p>
  )

/** Typing waits a moment before it asks. */
const SearchField = ({
  onChange,
  search,
  text
}: {
  readonly text: string
  readonly search: RefObject<HTMLInputElement | null>
  readonly onChange: (text: string) => void
}) => {
  const [typed, setTyped] = useState(text)
  const latest = useRef(onChange)
  latest.current = onChange
  useEffect(() => setTyped(text), [text])
  useEffect(() => {
    if (typed === text) return
    const timer = window.setTimeout(() => latest.current(typed), 200)
    return () => window.clearTimeout(timer)
  }, [typed, text])
  return (
    <label className="field grow">
      <span>Question</span>
      <input
        ref={search}
        type="search"
        placeholder="words of the question"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        onKeyDown={({ currentTarget, key }) => key === "Escape" && currentTarget.blur()}
      />
    </label>
  )
}

const Choice = ({
  empty = "all",
  field,
  name,
  onChange,
  options,
  route
}: {
  readonly name: string
  readonly field: string
  readonly route: Route
  readonly options: ReadonlyArray<readonly [value: string, label: string]>
  readonly empty?: string
  readonly onChange: (changes: Readonly<Record<string, string>>) => void
}) => (
  <label className="field">
    <span>{name}</span>
    <select value={route.query.get(field) ?? ""} onChange={({ target }) => onChange({ [field]: target.value })}>
      <option value="">{empty}</option>
      {options.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  </label>
)

const purposeWords = {
  train: "training",
  verify: "verification",
  validate: "validation",
  evaluate: "evaluation"
} as const

const orders = ["newest", "oldest", "longest", "calls"] as const

/** The query of an address; what the server would not understand is left out. */
const queryOf = ({ query }: Route): TrajectoryQuery => {
  const one = <A extends string>(field: string, values: ReadonlyArray<A>): A | undefined =>
    values.find((value) => value === query.get(field))
  const outcome = one("outcome", Outcome.literals)
  const purpose = one("purpose", Purpose.literals)
  const mode = one("mode", FailureMode.literals)
  const order = one("order", orders)
  const instruction = query.get("instruction")
  const source = query.get("source")
  const text = query.get("text")
  const offset = Number.parseInt(query.get("offset") ?? "", 10)
  return {
    limit: pageSize,
    ...(outcome === undefined ? {} : { outcome }),
    ...(purpose === undefined ? {} : { purpose }),
    ...(mode === undefined ? {} : { mode }),
    ...(order === undefined ? {} : { order }),
    ...(instruction === undefined ? {} : { instruction }),
    ...(source === undefined ? {} : { source }),
    ...(text === undefined ? {} : { text }),
    ...(offset > 0 ? { offset } : {})
  }
}
