import { look, mostCompared } from "../../src/Curves.ts"
import { compact, interval, percent, points } from "@inspo/report"
import type { ComparedRunView, ComparisonView } from "../../src/view/ComparisonView.ts"
import type { RunView } from "../../src/view/RunView.ts"
import { Curves } from "../chart/Curves.tsx"
import { makeQuery } from "../source/RunClient.ts"
import { versionOf } from "../source/LiveRuns.ts"
import { Card, CurveSwatch, Empty, IntervalBar, Loading, Problem, Status } from "../part/Parts.tsx"
import { type Column, Table } from "../part/Table.tsx"
import type { Route } from "../Route.ts"
import { go, withQuery } from "../Routing.ts"

const useComparison = makeQuery((client, runs: string) => client.compare({ query: { runs } }))

interface CompareProps {
  readonly run: RunView
  readonly runs: ReadonlyArray<RunView>
  readonly route: Route
}

export const Compare = ({ route, run, runs }: CompareProps) => {
  const readable = new Map(runs.flatMap((one) => (one.problem === null ? [[one.id, one] as const] : [])))
  const others = (
    route.query.get("with")?.split(",") ?? [...readable.keys()].filter((id) => id !== run.id).slice(0, 3)
  ).filter((id) => id !== run.id && id !== "none")
  const chosen = [run.id, ...new Set(others.filter((id) => readable.has(id)))]
  const drawn = chosen.slice(0, mostCompared)
  const excess = chosen.slice(mostCompared).flatMap((id) => readable.get(id)?.name ?? [])
  const unknown = others.filter((id) => !readable.has(id))
  const shown = drawn.flatMap((id) => readable.get(id) ?? [])
  const version = shown.map(versionOf).join()
  const { data, problem } = useComparison(drawn.join(","), version)
  const toggle = (id: string) => {
    const next = chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]
    go(withQuery(route, { with: next.filter((one) => one !== run.id).join(",") || "none" }))
  }
  return (
    <>
      <h1 className="hidden">Compare {run.name} with other runs</h1>
      <Card title="Runs to compare">
        {readable.size < 2 ? (
          <Empty title="There is only one run">
            Start the dashboard on a directory with several runs: <code>inspo dashboard runs</code>.
          </Empty>
        ) : (
          <div className="row">
            {Array.from(readable.values(), ({ degraded, id, name, status }) => (
              <label key={id} className="check">
                <input
                  type="checkbox"
                  checked={chosen.includes(id)}
                  disabled={id === run.id}
                  onChange={() => toggle(id)}
                />
                {drawn.includes(id) && <CurveSwatch {...look(drawn.indexOf(id))} />}
                {name} <Status status={status} degraded={degraded} />
              </label>
            ))}
          </div>
        )}
      </Card>
      {excess.length > 0 && (
        <p role="status">
          {`Not shown: ${excess.join(", ")}. The page compares at most ${mostCompared} runs; clear the boxes of others.`}
        </p>
      )}
      {unknown.length > 0 && (
        <p role="status">{`Not shown, because no readable run has this id: ${unknown.join(", ")}.`}</p>
      )}
      {problem !== null && <Problem>{problem}</Problem>}
      <Curves
        labels={new Map(shown.map(({ id, measure, name }) => [id, `${name} (${measure ?? ""})`]))}
        route={route}
        version={version}
      />
      {data === null ? <Loading /> : <Comparison comparison={data} />}
    </>
  )
}

const Comparison = ({ comparison: { runs, settings } }: { readonly comparison: ComparisonView }) => (
  <>
    <Card title="Test questions after training, best instruction">
      <Table label="Test questions" className="result" columns={columns} rows={runs} />
    </Card>
    {runs.length > 1 && (
      <Card title="Settings that differ">
        {settings.length === 0 ? (
          <p className="muted">All settings are equal.</p>
        ) : (
          <Table label="Settings that differ" columns={settingColumns(runs)} rows={settings} />
        )}
      </Card>
    )}
  </>
)

const bestCell = ({ cells }: ComparedRunView) => {
  const after = cells.filter(({ policy }) => policy === "after")
  return after.find(({ role }) => role === "best") ?? after[0]
}

const columns: ReadonlyArray<Column<ComparedRunView>> = [
  [
    "Run",
    "",
    ({ run }, index) => (
      <>
        <CurveSwatch {...look(index)} />
        {run.name}
      </>
    )
  ],
  [
    "Mean reward",
    "num",
    (compared) => {
      const cell = bestCell(compared)
      return (
        <>
          <b>{percent(cell?.mean)}</b>
          {cell !== undefined && <div className="muted small">{compared.run.measure}</div>}
        </>
      )
    }
  ],
  [
    "95 % interval",
    "wide-only",
    (compared) => {
      const cell = bestCell(compared)
      return cell === undefined ? (
        <span className="muted">not evaluated</span>
      ) : (
        <IntervalBar mean={cell.mean} ci95={cell.ci95} />
      )
    }
  ],
  ["n", "num wide-only", (compared) => bestCell(compared)?.n ?? "–"],
  [
    "Paired difference, points",
    "num",
    ({ difference }, index) =>
      difference === null
        ? index === 0
          ? "–"
          : "other questions"
        : `${points(difference.mean)} ${interval(difference.ci95, points)}`
  ],
  ["Baseline", "num", ({ baseline }) => percent(baseline?.em)],
  ["Rollouts", "num wide-only", ({ run }) => compact(run.rollouts)],
  ["Tokens", "num wide-only", ({ run }) => compact(run.tokens)]
]

const settingColumns = (
  runs: ReadonlyArray<ComparedRunView>
): ReadonlyArray<Column<ComparisonView["settings"][number]>> => [
  ["Setting", "", ({ name }) => <span className="mono">{name}</span>],
  ...runs.map(({ run }, index): Column<ComparisonView["settings"][number]> => [
    run.name,
    "num",
    ({ values }) => <span dir="auto">{values[index] ?? "–"}</span>
  ])
]
