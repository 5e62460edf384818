import { FailureMode } from "@inspo/reflection"
import { count, percent, plural } from "@inspo/report"
import { type ReactNode, type RefObject, useEffect, useRef, useState } from "react"
import type { RunView } from "../../src/view/RunView.ts"
import {
  Order,
  Outcome,
  Purpose,
  type TrajectoryLine,
  type TrajectoryPage,
  type TrajectoryQuery
} from "../../src/view/TrajectoryView.ts"
import { makeQuery } from "../source/RunClient.ts"
import { versionOf } from "../source/LiveRuns.ts"
import { Names, useLabels } from "../part/Names.tsx"
import { Card, Empty, InstructionName, Pending, Problem } from "../part/Parts.tsx"
import { TrajectoryDetail } from "../part/TrajectoryDetail.tsx"
import { useKeys } from "../part/useKeys.ts"
import { useScrollInto } from "../part/useScrollInto.ts"
import type { Route } from "../Route.ts"
import { back, go, wholeOf, withQuery } from "../Routing.ts"
import { Button, Choice, Field, NumberField } from "../part/Form.tsx"

const useTrajectories = makeQuery((client, { query, run }: { readonly run: string; readonly query: TrajectoryQuery }) =>
  client.trajectories({ params: { run }, query })
)

/** The trajectories of the run: a list with filters and pages, and one trajectory in full. */
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

  if (page === null) return <Pending problem={problem} />
  if (page.all === 0)
    return (
      <Empty isPage title="No trajectories yet">
        They appear with the rollouts of the first step.
      </Empty>
    )
  return (
    <Names value={page.names}>
      <h1 className="hidden">Trajectories of {run.name}</h1>
      {problem !== null && <Problem>{problem}</Problem>}
      <Filters page={page} route={route} search={search} onChange={change} />
      <div className={`split trajectories ${route.query.has("id") ? "has-selection" : ""}`}>
        <PageOfLines page={page} route={route} selected={selected} onTurn={turn} />
        <Card
          className="detail-card"
          title={selected === null ? "No trajectory" : <span className="mono">{selected}</span>}
          actions={
            <button type="button" className="link back" onClick={() => back(withQuery(route, { id: "" }))}>
              Back to the list
            </button>
          }
        >
          {selected === null ? (
            <Empty title="Select a trajectory">Its turns appear here.</Empty>
          ) : (
            <TrajectoryDetail key={selected} run={run} id={selected} />
          )}
        </Card>
      </div>
    </Names>
  )
}

const pageSize = 30

/** The page of a query, loaded again while failure modes are diagnosed. */
const usePage = (run: RunView, query: TrajectoryQuery) => {
  const [loads, setLoads] = useState(0)
  const { data, problem } = useTrajectories({ run: run.id, query }, `${versionOf(run)} ${loads}`)
  const last = useRef<TrajectoryPage>(null)
  if (data !== null) last.current = data
  // The previous page stays until the next one is loaded.
  const page = data ?? last.current
  // The server diagnoses failure modes in the background, without new events of the run.
  const done = data?.diagnosed.done ?? 0
  const isDiagnosing = data !== null && done < data.diagnosed.of
  useEffect(() => {
    if (!isDiagnosing) return
    const timer = window.setTimeout(() => setLoads((before) => before + 1), 2000)
    return () => window.clearTimeout(timer)
  }, [isDiagnosing, done, loads])
  return { page, problem }
}

interface PageOfLinesProps {
  readonly page: TrajectoryPage
  readonly route: Route
  readonly selected: string | null
  readonly onTurn: (by: number) => void
}

const PageOfLines = ({ onTurn, page, route, selected }: PageOfLinesProps) => (
  <Card
    className="list-card scroll-list"
    title={`${count(page.total)} of ${count(page.all)}`}
    actions={
      <span className="pager inline">
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
        <Button className="link" onClick={() => go(withQuery({ ...route, query: new Map() }, {}))}>
          Clear the filters
        </Button>
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

interface LineProps {
  readonly row: TrajectoryLine
  readonly isSelected: boolean
  readonly onSelect: (id: string) => void
}

const Line = ({ isSelected, onSelect, row }: LineProps) => {
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
        <span className="line-note row muted small num">
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

interface FiltersProps {
  readonly page: TrajectoryPage
  readonly route: Route
  readonly search: RefObject<HTMLInputElement | null>
  readonly onChange: (changes: Readonly<Record<string, string>>, how?: "replace") => void
}

const Filters = ({ onChange, page, route, search }: FiltersProps) => {
  const label = useLabels()
  const counts = new Map(page.modes.map(({ count, mode }) => [mode, ` (${count})`]))
  const choice = (
    name: string,
    field: string,
    options: ReadonlyArray<readonly [value: string, label: string]>,
    empty = "all"
  ): ReactNode => (
    <Choice
      name={name}
      value={route.query.get(field) ?? ""}
      options={[["", empty], ...options]}
      onChange={(value) => onChange({ [field]: value })}
    />
  )
  const step = (name: string, field: string): ReactNode => (
    <NumberField
      name={name}
      min={0}
      value={route.query.get(field) ?? ""}
      onChange={(value) => onChange({ [field]: value }, "replace")}
    />
  )
  const same = (value: string) => [value, value] as const
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
      {choice("Outcome", "outcome", Outcome.literals.map(same))}
      {choice(
        "Instruction",
        "instruction",
        page.instructions.map((id) => [id, label(id)])
      )}
      {choice(
        "Failure mode",
        "mode",
        FailureMode.FailureMode.literals.map((mode) => [
          mode,
          `${FailureMode.description[mode]}${counts.get(mode) ?? ""}`
        ])
      )}
      {choice(
        "Purpose",
        "purpose",
        Purpose.literals.map((value) => [value, purposeWords[value]])
      )}
      {page.sources.length > 1 && choice("Source", "source", page.sources.map(same))}
      {step("From step", "fromStep")}
      {step("To step", "toStep")}
      {choice("Order", "order", orders, "newest first")}
      <Diagnosed diagnosed={page.diagnosed} />
    </form>
  )
}

const Diagnosed = ({ diagnosed: { done, of } }: Pick<TrajectoryPage, "diagnosed">) =>
  done < of && (
    <p className="muted small filter-note" role="status">
      Failure modes of {count(done)} of {count(of)} wrong trajectories are diagnosed so far.
    </p>
  )

interface SearchFieldProps {
  readonly text: string
  readonly search: RefObject<HTMLInputElement | null>
  readonly onChange: (text: string) => void
}

/** Sends the text shortly after the last key. */
const SearchField = ({ onChange, search, text }: SearchFieldProps) => {
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
    <Field name="Question" className="grow">
      <input
        ref={search}
        type="search"
        placeholder="words in the question"
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        onKeyDown={({ currentTarget, key }) => key === "Escape" && currentTarget.blur()}
      />
    </Field>
  )
}

const purposeWords = {
  train: "training",
  verify: "verification",
  validate: "validation",
  evaluate: "evaluation"
} as const

const orders = [
  ["oldest", "oldest first"],
  ["longest", "longest first"],
  ["calls", "most tool calls first"]
] as const

/** The query of an address, without values that the server does not know. */
const queryOf = (route: Route): TrajectoryQuery => {
  const text = (field: string) => route.query.get(field)
  const one = <A extends string>(field: string, values: ReadonlyArray<A>) =>
    values.find((value) => value === text(field))
  return {
    limit: pageSize,
    offset: Math.max(0, wholeOf(route, "offset") ?? 0),
    fromStep: wholeOf(route, "fromStep"),
    toStep: wholeOf(route, "toStep"),
    outcome: one("outcome", Outcome.literals),
    purpose: one("purpose", Purpose.literals),
    mode: one("mode", FailureMode.FailureMode.literals),
    order: one("order", Order.literals),
    instruction: text("instruction"),
    source: text("source"),
    text: text("text")
  }
}
