import { useMemo } from "react"
import type { ComparisonView, ComparedRunView } from "../../src/view/ComparisonView.ts"
import type { RunView } from "../../src/view/RunView.ts"
import { LineChart } from "../chart/LineChart.tsx"
import { look, mostCompared } from "../../src/Curves.ts"
import { compact, percent, points } from "../../src/Format.ts"
import { versionOf } from "../Live.ts"
import { CurveSwatch } from "../part/CurveSwatch.tsx"
import { Card, Empty, IntervalBar, Loading, Problem, Scroll, Status } from "../part/Parts.tsx"
import { go, type Route, withQuery } from "../Route.ts"
import { makeView } from "../View.ts"

const useComparison = makeView((client, runs: string) => client.compare({ query: { runs } }))

/** Runs side by side. */
export const Compare = ({
  route,
  run,
  runs
}: {
  readonly run: RunView
  readonly runs: ReadonlyArray<RunView>
  readonly route: Route
}) => {
  const readable = runs.filter(({ problem }) => problem === null)
  const others =
    route.query.get("with")?.split(",") ??
    readable
      .filter(({ id }) => id !== run.id)
      .slice(0, 3)
      .map(({ id }) => id)
  const chosen = [run.id, ...new Set(others.filter((id) => id !== run.id && readable.some((known) => known.id === id)))]
  const drawn = chosen.slice(0, mostCompared)
  const left = readable.filter(({ id }) => chosen.indexOf(id) >= mostCompared)
  const unknown = others.filter((id) => id !== "none" && id !== run.id && !readable.some((known) => known.id === id))
  const version = readable
    .filter(({ id }) => drawn.includes(id))
    .map(versionOf)
    .join()
  const { data, problem } = useComparison(drawn.join(","), version)
  const toggle = (id: string) => {
    const next = chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]
    go(withQuery(route, { with: next.filter((one) => one !== run.id).join(",") || "none" }))
  }
  return (
    <>
      <h1 className="hidden">Compare {run.name} with other runs</h1>
      <Card title="Runs to compare">
        {readable.length < 2 ? (
          <Empty title="There is only one run here">
            Start the dashboard on a directory with several, as in <code>inspo dashboard runs</code>.
          </Empty>
        ) : (
          <div className="choices">
            {readable.map(({ degraded, id, name, status }) => (
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
      {left.length > 0 && (
        <p role="status">
          {`Not drawn: ${left.map(({ name }) => name).join(", ")}. At most ${mostCompared} runs are compared at once; clear the boxes of others.`}
        </p>
      )}
      {unknown.length > 0 && (
        <p role="status">{`Not drawn, because no readable run has this id: ${unknown.join(", ")}.`}</p>
      )}
      {problem !== null && <Problem>{problem}</Problem>}
      {data === null ? <Loading /> : <Comparison comparison={data} />}
    </>
  )
}

const Comparison = ({ comparison }: { readonly comparison: ComparisonView }) => {
  const { runs } = comparison
  const { curves, steps } = useMemo(() => aligned(runs), [runs])
  return (
    <>
      <Card>
        <LineChart
          title="Training reward, mean of 5 steps"
          steps={steps}
          curves={curves}
          format={(value) => percent(value, 0)}
          range={zeroToOne}
          height={260}
        />
      </Card>
      <Card title="Test questions, after training, best instruction">
        <Scroll label="Test questions">
          <table className="table result">
            <thead>
              <tr>
                <th scope="col">Run</th>
                <th scope="col" className="num">
                  Mean reward
                </th>
                <th scope="col" className="wide-only">
                  95 % interval
                </th>
                <th scope="col" className="num wide-only">
                  n
                </th>
                <th scope="col" className="num">
                  Paired difference
                </th>
                <th scope="col" className="num">
                  Baseline
                </th>
                <th scope="col" className="num wide-only">
                  Rollouts
                </th>
                <th scope="col" className="num wide-only">
                  Tokens
                </th>
              </tr>
            </thead>
            <tbody>
              {runs.map((compared, index) => (
                <Row key={compared.run.id} compared={compared} index={index} />
              ))}
            </tbody>
          </table>
        </Scroll>
      </Card>
      {runs.length > 1 && <Differences comparison={comparison} />}
    </>
  )
}

const Differences = ({ comparison: { runs, settings } }: { readonly comparison: ComparisonView }) => (
  <Card title="Settings that differ">
    {settings.length === 0 ? (
      <p className="muted">All settings are equal.</p>
    ) : (
      <Scroll label="Settings that differ">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Setting</th>
              {runs.map(({ run }) => (
                <th key={run.id} scope="col" className="num">
                  {run.name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {settings.map(({ name, values }) => (
              <tr key={name}>
                <th scope="row" className="mono">
                  {name}
                </th>
                {values.map((value, index) => (
                  <td key={index} className="num" dir="auto">
                    {value ?? "–"}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    )}
  </Card>
)

const Row = ({ compared, index }: { readonly compared: ComparedRunView; readonly index: number }) => {
  const { baseline, cells, difference, run } = compared
  const after = cells.filter(({ policy }) => policy === "after")
  const cell = after.find(({ role }) => role === "best") ?? after[0]
  return (
    <tr>
      <th scope="row">
        <CurveSwatch {...look(index)} />
        {run.name}
      </th>
      <td className="num">
        <b>{percent(cell?.mean)}</b>
        {cell !== undefined && <div className="muted small">{run.measure}</div>}
      </td>
      <td className="wide-only">
        {cell === undefined ? (
          <span className="muted">not evaluated</span>
        ) : (
          <IntervalBar mean={cell.mean} ci95={cell.ci95} />
        )}
      </td>
      <td className="num wide-only">{cell?.n ?? "–"}</td>
      <td className="num">
        {difference === null
          ? index === 0
            ? "–"
            : "other questions"
          : `${points(difference.mean)} [${points(difference.ci95[0])}, ${points(difference.ci95[1])}]`}
      </td>
      <td className="num">{percent(baseline?.em)}</td>
      <td className="num wide-only">{compact(run.rollouts)}</td>
      <td className="num wide-only">{compact(run.tokens)}</td>
    </tr>
  )
}

const zeroToOne = { fromZero: true, most: 1 }

/** Curves of runs of different lengths over the steps of all of them. */
const aligned = (runs: ReadonlyArray<ComparedRunView>) => {
  const steps = [...new Set(runs.flatMap((one) => one.steps))].sort((a, b) => a - b)
  return {
    steps,
    curves: runs.map(({ reward, run, steps: own }, index) => {
      const at = new Map(own.map((step, position) => [step, position]))
      return {
        label: `${run.name} (${run.measure ?? ""})`,
        ...look(index),
        values: steps.map((step) => {
          const position = at.get(step)
          if (position === undefined) return null
          const near = reward.slice(Math.max(0, position - 4), position + 1).filter((value) => value !== null)
          return near.length === 0 ? null : near.reduce((sum, value) => sum + value, 0) / near.length
        })
      }
    })
  }
}
