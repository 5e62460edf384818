import { useMemo } from "react"
import { capital, compact, count, duration, gain, gains, percent, plural, points, quantity } from "@inspo/report"
import { movingSteps } from "../../src/Means.ts"
import { metric, type Metric } from "../../src/Metrics.ts"
import { finalCells, lastCell, type OverviewView } from "../../src/view/OverviewView.ts"
import { type ResultRow, resultRows } from "../../src/view/ResultRows.ts"
import type { RunView } from "../../src/view/RunView.ts"
import { sourceLabel, sourceMetrics, trainingTitle } from "../../src/view/Titles.ts"
import { ChartControls, ChartGrid, useChartState } from "../chart/Charts.tsx"
import { type Drawable, useSeries } from "../chart/useSeries.ts"
import { makeQuery } from "../source/RunClient.ts"
import { versionOf } from "../source/LiveRuns.ts"
import { Diff } from "../part/Diff.tsx"
import { Names } from "../part/Names.tsx"
import {
  Card,
  Empty,
  Expander,
  InstructionName,
  IntervalBar,
  MarkLegend,
  Pending,
  Problem,
  Settings,
  Tiles
} from "../part/Parts.tsx"
import { type Column, Table } from "../part/Table.tsx"
import { href, type Route } from "../Route.ts"

const useOverview = makeQuery((client, run: string) => client.overview({ params: { run } }))

export const Overview = ({ route, run }: { readonly run: RunView; readonly route: Route }) => {
  const { data, problem } = useOverview(run.id, versionOf(run))
  if (data === null) return <Pending problem={problem} />
  return (
    <Names value={data.names}>
      <h1 className="hidden">Overview of {run.name}</h1>
      {problem !== null && <Problem>{problem}</Problem>}
      {data.degraded.map((line) => (
        <Problem key={line}>{`Degraded: ${line}`}</Problem>
      ))}
      <Figures run={run} overview={data} />
      {data.steps.length === 0 ? (
        <Empty title="No step yet">
          The first curve appears after the first policy update. The population starts with{" "}
          {plural(run.born, "instruction")}.
        </Empty>
      ) : (
        <Curves run={run} route={route} overview={data} />
      )}
      <div className="columns">
        <Result overview={data} />
        <BestInstruction run={run} overview={data} />
      </div>
      <Settings settings={data.settings} />
    </Names>
  )
}

const Figures = ({ overview, run }: { readonly run: RunView; readonly overview: OverviewView }) => {
  const { baseline, cells, trained, wallSeconds } = overview
  const { first, last } = trained
  const best = lastCell(cells)
  const change = first === null || last === null ? null : points(last - first)
  const lines = best && [...gains(finalCells(cells)).map((gain) => gain.join(" ")), `n = ${best.n}`]
  return (
    <Tiles
      of={[
        [
          `Training ${trained.measure}`,
          percent(last),
          change === null ? "no step yet" : `${change} points since the start · mean of ${movingSteps} steps`
        ],
        [
          `${capital(trained.measure)} on test questions`,
          percent(best?.mean),
          lines?.map((line) => <span key={line}>{line}</span>) ??
            (run.status === "finished" ? "not evaluated" : "after the last step")
        ],
        baseline !== null && [
          "Static baseline",
          percent(baseline.em),
          best === undefined
            ? "same budget, only the seed"
            : `co-evolved ${gain(best, { mean: baseline.em, ...baseline })}`
        ],
        ["Instructions", [run.alive, <small key="alive"> alive</small>], `${run.born} in total`],
        ["Rollouts", compact(run.rollouts), `${compact(run.tokens)} tokens`],
        ["Time", wallSeconds === null ? "–" : duration(wallSeconds), `seed ${run.seed ?? "–"}`]
      ]}
    />
  )
}

interface CurvesProps {
  readonly overview: OverviewView
  readonly run: RunView
  readonly route: Route
}

const Curves = ({ overview, route, run }: CurvesProps) => {
  const { marks, metrics, trained, validations } = overview
  const sources = sourceMetrics(metrics)
  const shown = useChartState(route, [
    ["reward/mean"],
    ...(sources.length === 0 ? [] : [sources]),
    ...(validations.length === 0 ? [] : [["val/reward/mean"]]),
    ["tool_calls/mean"],
    ["response_length/mean"],
    ["prompt_length/mean"]
  ])
  const updates = updateMetrics.filter((name) => metrics.includes(name)).map((name) => [name])
  const { data, problem } = useSeries(
    {
      labels: new Map([[run.id, run.name]]),
      metrics: [...shown.charts.flat(), ...updates.flat(), ...tableMetrics.map(([name]) => name)],
      x: shown.state.x
    },
    versionOf(run)
  )
  const naming = useMemo(() => namingOf(trained, validations[0]?.n ?? 0), [trained, validations])
  if (data === null) return <Pending problem={problem} />
  const charts = {
    data,
    marks,
    naming,
    shown,
    titleOf: (metrics: ReadonlyArray<string>) =>
      metrics.length > 1 && metrics.join() === sources.join() ? `Training ${trained.measure} by source` : undefined
  }
  return (
    <>
      {problem !== null && <Problem>{problem}</Problem>}
      <ChartControls data={data} shown={shown} />
      <MarkLegend>
        <span className="muted">
          {plural(marks.filter(({ kind }) => kind === "prune").length, "pruning")},{" "}
          {plural(marks.filter(({ kind }) => kind === "evolve").length, "evolution")}
        </span>
      </MarkLegend>
      <ChartGrid {...charts} className="figure-2" height={220} />
      <Expander summary="Policy update">
        <ChartGrid {...charts} fixed={updates} />
      </Expander>
      <Expander summary="Metrics as a table">
        <MetricsTable overview={overview} series={data.series[0]} />
      </Expander>
    </>
  )
}

interface MetricsTableProps {
  readonly overview: OverviewView
  readonly series: Drawable["series"][number] | undefined
}

const MetricsTable = ({ overview: { marks, steps }, series }: MetricsTableProps) => {
  const places = new Map(series?.steps.map((step, place) => [step, place]))
  const valueAt = (name: string, step: number) => series?.values[name]?.[places.get(step) ?? -1] ?? null
  return (
    <Table
      label="Metrics by step"
      columns={[
        ["step", "num", (step) => step],
        ...tableMetrics.map(([name, title, show]): Column<number> => [
          title,
          "num",
          (step) => show(valueAt(name, step))
        ]),
        ["decision", "", (step) => marks.flatMap((mark) => (mark.step === step ? [mark.text] : [])).join("; ")]
      ]}
      rows={steps}
    />
  )
}

/** Names of the rewards of a run, with the number of answers or questions. */
const namingOf =
  (trained: OverviewView["trained"], questions: number) =>
  (name: string): Metric => {
    const known = metric(name)
    if (name === "reward/mean") return { ...known, title: trainingTitle(trained) }
    if (name === "val/reward/mean")
      return { ...known, title: `Validation ${trained.measure} with 95 % interval, n = ${count(questions)}` }
    return name.startsWith("reward/") ? { ...known, title: sourceLabel(trained, name) } : known
  }

const Result = ({ overview }: { readonly overview: OverviewView }) => {
  const { cells, trained } = overview
  if (cells.length === 0)
    return (
      <Card title="Held-out questions">
        <Empty title="Not evaluated yet">
          After the last step, the policies before and after training answer the test questions with the seed and with
          the best instruction.
        </Empty>
      </Card>
    )
  return (
    <Card title={`Held-out questions, n = ${cells[0]?.n ?? 0}`}>
      <Table
        label="Held-out questions"
        className="result"
        columns={resultColumns(capital(trained.measure))}
        rows={resultRows(overview)}
        rowProps={({ isHeadline }) => ({ className: isHeadline ? "headline" : "" })}
      />
    </Card>
  )
}

const resultColumns = (measure: string): ReadonlyArray<Column<ResultRow>> => [
  ["Policy", "", ({ policy }) => policy],
  [
    "Instruction",
    "",
    ({ id, note, role }) => (
      <>
        {id === null ? role : <InstructionName id={id} />} <span className="muted">{note}</span>
      </>
    )
  ],
  [measure, "num", ({ mean }) => <b>{percent(mean)}</b>],
  [
    "95 % interval",
    "",
    ({ ci95, isHeadline, mean }) => <IntervalBar mean={mean} ci95={ci95} tone={isHeadline ? "accent" : "plain"} />
  ],
  ["Tool calls", "num", ({ toolCalls }) => toolCalls]
]

const BestInstruction = ({ overview, run }: { readonly overview: OverviewView; readonly run: RunView }) => {
  const { best, seed } = overview
  if (best === null || seed === null) return null
  return (
    <Card
      title={
        <>
          {run.status === "finished" ? "Best instruction" : "Leading instruction"} <InstructionName id={best.id} />
        </>
      }
      actions={<a href={href(run.id, "lineage", { instruction: best.id })}>Lineage</a>}
    >
      <p className="muted small">
        generation {best.generation}
        {best.value === null
          ? " · no rewards in recent steps"
          : ` · mean reward in recent steps ${percent(best.value)}`}
        {best.id === seed.id ? " · identical to the seed" : " · differences from the seed are marked"}
      </p>
      <Diff from={seed.text} to={best.text} />
    </Card>
  )
}

const whole = (value: number | null): string => (value === null ? "–" : value.toFixed(0))

const updateMetrics = ["kl", "clipfrac", "grad_norm", "loss", "lr", "groups/mixed"]

const tableMetrics: ReadonlyArray<readonly [name: string, title: string, show: (value: number | null) => string]> = [
  ["reward/mean", "training reward", percent],
  ["tool_calls/mean", "tool calls", quantity],
  ["response_length/mean", "response tokens", quantity],
  ["prompt_length/mean", "prompt tokens", quantity],
  ["kl", "KL", quantity],
  ["clipfrac", "clipped", percent],
  ["inspo/population", "population", whole]
]
