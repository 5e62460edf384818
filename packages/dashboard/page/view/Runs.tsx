import { useMemo } from "react"
import { compact, count, percent, plural } from "@inspo/report"
import { differing, filtered, grouped, type Row, rows, sorted, unfolded } from "../../src/RunRows.ts"
import type { RunView } from "../../src/view/RunView.ts"
import { ago } from "../Ago.ts"
import { makeQuery } from "../source/RunClient.ts"
import { lazily } from "../part/Lazily.tsx"
import { Problem, Sparkline, Status } from "../part/Parts.tsx"
import { type Column, Table } from "../part/Table.tsx"
import { href, type Route } from "../Route.ts"
import { go, withQuery } from "../Routing.ts"
import { Button, Check } from "../part/Form.tsx"

const useSettings = makeQuery((client) => client.settings())

/** The runs as a table: filtered, sorted, with settings as columns, or grouped by seeds. All of it is in the address. */
export const Runs = ({ route, runs }: { readonly runs: ReadonlyArray<RunView>; readonly route: Route }) => {
  const known = runs.filter(({ measure }) => measure !== null).length
  const { data, problem } = useSettings(null, `${runs.length} ${known}`)
  const { query } = route
  const [filter, sort] = [query.get("filter") ?? "", query.get("sort") ?? ""]
  const all = useMemo(() => rows(runs, data), [runs, data])
  const withNested = query.get("nested") === "shown"
  const isGrouped = query.get("group") === "seeds"
  const open = isGrouped ? "" : (query.get("open") ?? "")
  const opened = useMemo(() => unfolded(all, withNested ? "all" : new Set(open.split(","))), [all, withNested, open])
  const nested = useMemo(() => all.filter(({ owner }) => owner !== null), [all])
  const settings = useMemo(() => differing(opened), [opened])
  const shown = shownSettings(query.get("columns"), settings)
  const found = useMemo(() => sorted(filtered(opened, filter), sort), [opened, filter, sort])
  const change = (changes: Readonly<Record<string, string>>) => go(withQuery(route, changes), "replace")
  const picked = (query.get("pick") ?? "").split(",").filter(Boolean)
  const compared = picked.length > 1 ? picked : found.slice(0, 4).map(({ run }) => run.id)
  return (
    <>
      <div className="row apart">
        <h1>Runs</h1>
        {runs.length > 1 && (
          <a className="button" href={href(compared[0] ?? null, "compare", { with: compared.slice(1).join(",") })}>
            {picked.length > 1 ? `Compare ${picked.length} runs` : "Compare"}
          </a>
        )}
      </div>
      {problem !== null && <Problem>{problem}</Problem>}
      {runs.length > 1 && (
        <Controls
          filter={filter}
          found={found.length}
          all={opened.length}
          nested={nested}
          withNested={withNested}
          isGrouped={isGrouped}
          settings={settings}
          shown={shown}
          change={change}
        />
      )}
      {isGrouped ? (
        <Groups groups={grouped(found, data?.quantiles ?? [])} route={route} />
      ) : (
        <RunTable
          rows={found}
          nested={nested}
          open={withNested ? null : open.split(",").filter(Boolean)}
          most={Number(query.get("rows") ?? firstRows)}
          shown={shown}
          sort={sort}
          picked={picked}
          isPicking={runs.length > 1}
          change={change}
        />
      )}
    </>
  )
}

const Groups = lazily(() => import("./Groups.tsx").then(({ Groups }) => Groups))

/** Rows that are drawn at first, and further ones at a time: the page stays fluid with thousands of runs. */
const firstRows = 100

/** The settings with a column of their own: those that were chosen, or else the first that people change. */
const shownSettings = (chosen: string | undefined, names: ReadonlyArray<string>): ReadonlyArray<string> =>
  chosen === undefined
    ? names
        .filter((name) => name !== "randomSeed" && !/^(?:data|engine|journal|keys|budget|policy)\./u.test(name))
        .slice(0, 2)
    : chosen.split(",").filter((name) => names.includes(name))

interface Change {
  readonly change: (changes: Readonly<Record<string, string>>) => void
}

interface ControlsProps extends Change {
  readonly filter: string
  readonly found: number
  readonly all: number
  /** The baselines, and whether all of them are listed. */
  readonly nested: ReadonlyArray<Row>
  readonly withNested: boolean
  readonly isGrouped: boolean
  readonly settings: ReadonlyArray<string>
  readonly shown: ReadonlyArray<string>
}

const Controls = ({ all, change, filter, found, isGrouped, nested, settings, shown, withNested }: ControlsProps) => (
  <div className="filters runs">
    <label>
      Filter{" "}
      <input
        type="search"
        value={filter}
        placeholder="name, state, setting=…"
        onChange={({ currentTarget }) => change({ filter: currentTarget.value, rows: "" })}
      />
    </label>
    <Check checked={isGrouped} onChange={(checked) => change({ group: checked ? "seeds" : "" })}>
      Group by seeds
    </Check>
    {nested.length > 0 && (
      <Check checked={withNested} onChange={(checked) => change({ nested: checked ? "shown" : "" })}>
        {nestedText(nested)}
      </Check>
    )}
    {settings.length > 0 && (
      <details className="settings-columns">
        <summary>Columns</summary>
        <div className="row">
          {settings.map((name) => (
            <label key={name} className="check mono">
              <input
                type="checkbox"
                checked={shown.includes(name)}
                onChange={({ currentTarget }) =>
                  change({
                    columns:
                      (currentTarget.checked ? [...shown, name] : shown.filter((one) => one !== name)).join(",") ||
                      "none"
                  })
                }
              />
              {name}
            </label>
          ))}
        </div>
      </details>
    )}
    <span className="muted" role="status">
      {found === all ? plural(all, "run") : `${count(found)} of ${plural(all, "run")}`}
    </span>
  </div>
)

const nestedText = (nested: ReadonlyArray<Row>): string => plural(nested.length, "baseline")

interface RunTableProps extends Change {
  readonly rows: ReadonlyArray<Row>
  /** The baselines. */
  readonly nested: ReadonlyArray<Row>
  /** The runs whose baselines are listed; null if all are. */
  readonly open: ReadonlyArray<string> | null
  readonly most: number
  readonly shown: ReadonlyArray<string>
  readonly sort: string
  readonly picked: ReadonlyArray<string>
  readonly isPicking: boolean
}

const RunTable = ({ change, isPicking, most, nested, open, picked, rows, shown, sort }: RunTableProps) => {
  const owned = useMemo(() => Map.groupBy(nested, ({ owner }) => owner), [nested])
  const pick = (id: string) =>
    change({ pick: (picked.includes(id) ? picked.filter((one) => one !== id) : [...picked, id]).join(",") })
  const [name, ...others] = columns
  const settings = shown.map((setting): Column<Row> => [
    setting.slice(setting.lastIndexOf(".") + 1),
    "num wide-only",
    ({ settings }) => <span title={setting}>{settings.get(setting) ?? "–"}</span>,
    setting
  ])
  const first: Column<Row> = [
    name[0],
    name[1],
    (row, index) => (
      <span className="pick">
        {isPicking && (
          <input
            type="checkbox"
            aria-label={`Compare ${row.run.name}`}
            checked={picked.includes(row.run.id)}
            onChange={() => pick(row.run.id)}
          />
        )}
        <span>
          {name[2](row, index)}
          {open !== null && <Fold row={row} owned={owned.get(row.run.id) ?? []} open={open} change={change} />}
        </span>
      </span>
    ),
    name[3]
  ]
  return (
    <>
      <Table
        label="Runs"
        className="rows"
        columns={[first, ...others.slice(0, 1), ...settings, ...others.slice(1)]}
        rows={rows.slice(0, most)}
        sorting={{ by: sort, onSort: (by) => change({ sort: by }) }}
      />
      {rows.length > most && (
        <p>
          <Button onClick={() => change({ rows: String(most + firstRows) })}>
            {`Show ${Math.min(firstRows, rows.length - most)} more of ${count(rows.length)}`}
          </Button>
        </p>
      )}
    </>
  )
}

/** Lists the baselines of a run, or hides them again. */
const Fold = ({
  change,
  open,
  owned,
  row: { run }
}: Change & { readonly row: Row; readonly owned: ReadonlyArray<Row>; readonly open: ReadonlyArray<string> }) => {
  if (owned.length === 0) return null
  const isOpen = open.includes(run.id)
  return (
    <button
      type="button"
      className="link small"
      aria-expanded={isOpen}
      onClick={() => change({ open: (isOpen ? open.filter((id) => id !== run.id) : [...open, run.id]).join(",") })}
    >
      {nestedText(owned)}
    </button>
  )
}

const columns: readonly [Column<Row>, ...ReadonlyArray<Column<Row>>] = [
  [
    "Run",
    "",
    ({ run: { degraded, id, name, problem, status } }) => (
      <>
        <a href={href(id)}>{name}</a>
        <div className="narrow-only">
          <Status status={status} degraded={degraded} />
        </div>
        {problem !== null && <span className="problem-line bad small">{problem}</span>}
      </>
    ),
    "name"
  ],
  ["State", "wide-only", ({ run }) => <Status status={run.status} degraded={run.degraded} />, "state"],
  [
    "Step",
    "num wide-only",
    ({ run }) => (
      <>
        {run.step}
        <span className="muted"> / {run.steps ?? "–"}</span>
      </>
    ),
    "step"
  ],
  [
    "Training reward",
    "",
    ({ run: { course, name, reward } }) => (
      <span className="with-spark inline">
        <Sparkline values={course} label={`Training reward of ${name}, now ${percent(reward)}`} />
        <span className="num">{percent(reward)}</span>
      </span>
    ),
    "reward"
  ],
  [
    "Test questions",
    "num",
    ({ run: { measure, tested } }) => (
      <>
        <b>{percent(tested)}</b>
        {tested !== null && <div className="muted small">{measure}</div>}
      </>
    ),
    "tested"
  ],
  ["Rollouts", "num wide-only", ({ run }) => compact(run.rollouts), "rollouts"],
  [
    "Last event",
    "num wide-only",
    ({ run: { lastWritten } }) => <span className="muted">{lastWritten === null ? "–" : ago(lastWritten)}</span>,
    "last"
  ]
]
