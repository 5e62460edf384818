import { useMemo } from "react"
import type { Amounts, CostView } from "../../src/view/CostView.ts"
import type { RunView } from "../../src/view/RunView.ts"
import { LineChart } from "../chart/LineChart.tsx"
import { compact, count, dollars, duration, percent } from "../../src/Format.ts"
import { versionOf } from "../Live.ts"
import { Card, Empty, Loading, Problem, Scroll, Tile } from "../part/Parts.tsx"
import { makeView } from "../View.ts"

const useCost = makeView((client, run: string) => client.cost({ params: { run } }))

/** What the run spent, on what. */
export const Cost = ({ run }: { readonly run: RunView }) => {
  const { data, problem } = useCost(run.id, versionOf(run))
  const curves = useMemo(
    () => [
      { label: "training", values: data?.course.train ?? [], colour: "var(--curve-0)" },
      { label: "verification", values: data?.course.verification ?? [], colour: "var(--curve-1)" }
    ],
    [data]
  )
  if (data === null) return problem === null ? <Loading /> : <Problem>{problem}</Problem>
  const usd = data.ledger.reduce((sum, { total }) => sum + total.usd, 0)
  const calls = data.ledger.reduce((sum, { total }) => sum + total.calls, 0)
  return (
    <>
      <h1 className="hidden">Cost of {run.name}</h1>
      <div className="tiles">
        <Tile label="Rollouts" note={capNote(data, "rollouts", run.rollouts)}>
          {compact(run.rollouts)}
        </Tile>
        <Tile label="Tokens" note={capNote(data, "tokens", run.tokens)}>
          {compact(run.tokens)}
        </Tile>
        <Tile label="Proposer calls" note={calls === 0 ? "the proposer works offline" : ""}>
          {compact(calls)}
        </Tile>
        <Tile label="Money" note={capNote(data, "usd", usd)}>
          {dollars(usd)}
        </Tile>
        <Tile label="Time" note={data.wallSeconds === null ? "" : capNote(data, "minutes", data.wallSeconds / 60)}>
          {data.wallSeconds === null ? "–" : duration(data.wallSeconds)}
        </Tile>
      </div>
      <div className="columns">
        <Card title="What for">
          <Shares title="Rollouts" amounts={data.rollouts} />
          <Shares title="Tokens" amounts={data.tokens} />
          {Object.values(data.failed).some((failed) => failed > 0) && (
            <p className="muted small">
              Failed by their environment: {count(data.failed.train)} in training, {count(data.failed.verification)} in
              verification, {count(data.failed.evaluation)} in evaluation.
            </p>
          )}
        </Card>
        <Card>
          <LineChart
            title="Tokens so far"
            steps={data.steps}
            curves={curves}
            format={(value) => (value === null ? "–" : compact(value))}
            range={fromNothing}
            height={220}
          />
        </Card>
      </div>
      <Card title="Ledger">
        {data.ledger.length === 0 ? (
          <Empty title="Nothing is booked">This run keeps no ledger; the sums above are drawn from its events.</Empty>
        ) : (
          <LedgerTable cost={data} />
        )}
      </Card>
    </>
  )
}

const LedgerTable = ({ cost: { ledger } }: { readonly cost: CostView }) => {
  const sum = ledger.reduce(
    (all, { total }) => ({
      rollouts: all.rollouts + total.rollouts,
      tokens: all.tokens + total.tokens,
      calls: all.calls + total.calls,
      usd: all.usd + total.usd,
      seconds: all.seconds + total.seconds
    }),
    { rollouts: 0, tokens: 0, calls: 0, usd: 0, seconds: 0 }
  )
  const wasRedone = ledger.some(({ redone }) => redone.rollouts + redone.calls > 0)
  const isOpen = ledger.some(({ open }) => open.rollouts + open.calls > 0)
  return (
    <Scroll label="Ledger">
      <table className="table">
        <thead>
          <tr>
            <th scope="col">Phase</th>
            {columns.map(([title]) => (
              <th key={title} scope="col" className="num">
                {title}
              </th>
            ))}
            <th scope="col" className={`num ${wasRedone ? "" : "wide-only"}`}>
              Redone after a crash
            </th>
            <th scope="col" className={`num ${isOpen ? "" : "wide-only"}`}>
              In flight or lost
            </th>
          </tr>
        </thead>
        <tbody>
          {ledger.map(({ open, phase, redone, total }) => (
            <tr key={phase}>
              <th scope="row">{phase}</th>
              {columns.map(([title, show]) => (
                <td key={title} className="num">
                  {show(total)}
                </td>
              ))}
              <td className={`num muted ${wasRedone ? "" : "wide-only"}`}>
                {redone.rollouts + redone.calls === 0 ? "–" : `${count(redone.rollouts)} rollouts`}
              </td>
              <td className={`num muted ${isOpen ? "" : "wide-only"}`}>
                {open.rollouts + open.calls === 0 ? "–" : `${count(open.rollouts)} rollouts`}
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">All</th>
            {columns.map(([title, show]) => (
              <td key={title} className="num strong">
                {show(sum)}
              </td>
            ))}
            <td className={wasRedone ? "" : "wide-only"} />
            <td className={isOpen ? "" : "wide-only"} />
          </tr>
        </tfoot>
      </table>
    </Scroll>
  )
}

const columns: ReadonlyArray<readonly [title: string, show: (amounts: Amounts) => string]> = [
  ["Rollouts", ({ rollouts }) => count(rollouts)],
  ["Tokens", ({ tokens }) => count(tokens)],
  ["Calls", ({ calls }) => count(calls)],
  ["USD", ({ usd }) => dollars(usd)],
  ["Time", ({ seconds }) => duration(seconds)]
]

const fromNothing = { fromZero: true }

const purposes = ["train", "verification", "evaluation"] as const

const Shares = ({ amounts, title }: { readonly title: string; readonly amounts: CostView["tokens"] }) => {
  const all = purposes.reduce((sum, purpose) => sum + amounts[purpose], 0)
  return (
    <div className="shares">
      <h3>{title}</h3>
      <div className="share-bar" aria-hidden="true">
        {purposes.map((purpose, index) => (
          <i key={purpose} style={{ flexGrow: amounts[purpose], background: `var(--curve-${index})` }} />
        ))}
      </div>
      <dl>
        {purposes.map((purpose, index) => (
          <div key={purpose}>
            <dt>
              <i className="swatch" style={{ background: `var(--curve-${index})` }} aria-hidden="true" />
              {purpose === "train" ? "training" : purpose}
            </dt>
            <dd className="num">
              {count(amounts[purpose])}{" "}
              <span className="muted">{all === 0 ? "" : percent(amounts[purpose] / all, 0)}</span>
            </dd>
          </div>
        ))}
      </dl>
    </div>
  )
}

const capNote = ({ caps }: CostView, name: string, spent: number): string => {
  const cap = caps[name]
  return cap === undefined ? "no cap" : `${percent(spent / cap, 0)} of the cap of ${compact(cap)}`
}
