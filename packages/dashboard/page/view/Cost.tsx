import { useMemo } from "react"
import { compact, count, dollars, duration, percent, plural } from "@inspo/report"
import type { Figure } from "../../src/Figure.ts"
import type { Amounts, CostView, PhaseView } from "../../src/view/CostView.ts"
import type { RunView } from "../../src/view/RunView.ts"
import { ChartMenu } from "../chart/Charts.tsx"
import { Chart } from "../chart/Chart.tsx"
import { makeQuery } from "../source/RunClient.ts"
import { versionOf } from "../source/LiveRuns.ts"
import { Card, Empty, Pending, Tiles } from "../part/Parts.tsx"
import { type Column, Table } from "../part/Table.tsx"

const useCost = makeQuery((client, run: string) => client.cost({ params: { run } }))

export const Cost = ({ run }: { readonly run: RunView }) => {
  const { data, problem } = useCost(run.id, versionOf(run))
  const figure = useMemo(
    (): Figure => ({
      title: "Tokens so far",
      vertical: "Tokens",
      steps: data?.steps ?? [],
      curves: [
        { label: "training", values: data?.course.train ?? [], tone: "c0" },
        { label: "verification", values: data?.course.verification ?? [], tone: "c1" }
      ],
      format: compact,
      fromZero: true
    }),
    [data]
  )
  if (data === null) return <Pending problem={problem} />
  const { failed, ledger, rollouts, tokens, wallSeconds } = data
  const all = sum(ledger.map(({ total }) => total))
  return (
    <>
      <h1 className="hidden">Cost of {run.name}</h1>
      <Tiles
        of={[
          ["Rollouts", compact(run.rollouts), capNote(data, "rollouts", run.rollouts)],
          ["Tokens", compact(run.tokens), capNote(data, "tokens", run.tokens)],
          ["Proposer calls", compact(all.calls), all.calls === 0 && "the proposer works offline"],
          ["Money", dollars(all.usd), capNote(data, "usd", all.usd)],
          wallSeconds === null
            ? ["Time", "–"]
            : ["Time", duration(wallSeconds), capNote(data, "minutes", wallSeconds / 60)]
        ]}
      />
      <div className="columns">
        <Card title="By purpose">
          <Shares title="Rollouts" amounts={rollouts} />
          <Shares title="Tokens" amounts={tokens} />
          {Object.values(failed).some((count) => count > 0) && (
            <p className="muted small">
              Failed in the environment: {count(failed.train)} in training, {count(failed.verification)} in
              verification, {count(failed.evaluation)} in evaluation.
            </p>
          )}
        </Card>
        <Card>
          <Chart figure={figure} height={220} menu={<ChartMenu figure={figure} />} />
        </Card>
      </div>
      <Card title="Ledger">
        {ledger.length === 0 ? (
          <Empty title="No ledger">This run has no ledger. The sums above are computed from its events.</Empty>
        ) : (
          <Table label="Ledger" columns={columns(ledger)} rows={ledger} foot={[sumPhase(ledger)]} />
        )}
      </Card>
    </>
  )
}

const columns = (ledger: CostView["ledger"]): ReadonlyArray<Column<PhaseView>> => [
  ["Phase", "", ({ phase }) => phase],
  ["Rollouts", "num", ({ total }) => count(total.rollouts)],
  ["Tokens", "num", ({ total }) => count(total.tokens)],
  ["Calls", "num", ({ total }) => count(total.calls)],
  ["USD", "num", ({ total }) => dollars(total.usd)],
  ["Time", "num", ({ total }) => duration(total.seconds)],
  ...(
    [
      ["redone", "Redone after a crash"],
      ["open", "In flight or lost"]
    ] as const
  ).map(([kind, title]): Column<PhaseView> => {
    const isEmpty = ({ calls, rollouts }: Amounts) => rollouts + calls === 0
    return [
      title,
      ledger.every((phase) => isEmpty(phase[kind])) ? "num wide-only" : "num",
      (phase) => <span className="muted">{isEmpty(phase[kind]) ? "–" : plural(phase[kind].rollouts, "rollout")}</span>
    ]
  })
]

const sum = (all: ReadonlyArray<Amounts>): Amounts => {
  const of = (name: keyof Amounts) => all.reduce((total, amounts) => total + amounts[name], 0)
  return { rollouts: of("rollouts"), tokens: of("tokens"), calls: of("calls"), usd: of("usd"), seconds: of("seconds") }
}

const sumPhase = (ledger: CostView["ledger"]): PhaseView => ({
  phase: "All",
  total: sum(ledger.map(({ total }) => total)),
  redone: sum(ledger.map(({ redone }) => redone)),
  open: sum(ledger.map(({ open }) => open))
})

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
      <dl className="row">
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
  return cap === undefined ? "no limit" : `${percent(spent / cap, 0)} of the limit of ${compact(cap)}`
}
