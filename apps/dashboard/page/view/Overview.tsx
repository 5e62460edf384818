import { useMemo } from "react"
import { look } from "../../src/Curves.ts"
import { axis, capital, compact, duration, percent, plural, points, quantity } from "../../src/Format.ts"
import { gain, gains } from "../../src/Gains.ts"
import { mean, movingMean, movingSteps } from "../../src/Means.ts"
import { cellOf, finalCells, type OverviewView } from "../../src/view/OverviewView.ts"
import { type ResultRow, resultRows } from "../../src/view/ResultRows.ts"
import type { RunView } from "../../src/view/RunView.ts"
import { sourceLabel, sourceMetrics, trainingTitle } from "../../src/view/Titles.ts"
import { LineChart, type LineChartProps } from "../chart/LineChart.tsx"
import { makeQuery } from "../Client.ts"
import { versionOf } from "../LiveRuns.ts"
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
  Tile
} from "../part/Parts.tsx"
import { type Column, Table } from "../part/Table.tsx"
import { href } from "../Route.ts"

const useOverview = makeQuery((client, run: string) => client.overview({ params: { run } }))

/** The progress and the results of the run. */
export const Overview = ({ run }: { readonly run: RunView }) => {
  const { data, problem } = useOverview(run.id, versionOf(run))
  if (data === null) return <Pending problem={problem} />
  return (
    <Names value={data.names}>
      <h1 className="hidden">Overview of {run.name}</h1>
      {problem !== null && <Problem>{problem}</Problem>}
      {data.degraded.map((line) => (
        <Problem key={line}>{`Degraded: ${line}`}</Problem>
      ))}
      <Tiles run={run} overview={data} />
      {data.steps.length === 0 ? (
        <Empty title="No step yet">
          The first curve appears after the first policy update. The population starts with{" "}
          {plural(run.born, "instruction")}.
        </Empty>
      ) : (
        <Curves overview={data} />
      )}
      <div className="columns">
        <Result overview={data} />
        <BestInstruction run={run} overview={data} />
      </div>
      <Settings settings={data.settings} />
    </Names>
  )
}

const Tiles = ({ overview, run }: { readonly run: RunView; readonly overview: OverviewView }) => {
  const { baseline, cells, series, trained, wallSeconds } = overview
  const rewards = (series["reward/mean"] ?? []).filter((value) => value !== null)
  const early = mean(rewards.slice(0, movingSteps))
  const late = mean(rewards.slice(-movingSteps))
  const best = cellOf(cells, "after", "best") ?? cellOf(cells, "after", "seed")
  return (
    <div className="tiles">
      <Tile
        label={`Training ${trained.measure}`}
        note={
          early === null || late === null
            ? "no step yet"
            : `${points(late - early)} points since the start · mean of ${movingSteps} steps`
        }
      >
        {percent(late)}
      </Tile>
      <Tile
        label={`${capital(trained.measure)} on test questions`}
        note={
          best === undefined
            ? run.status === "finished"
              ? "not evaluated"
              : "after the last step"
            : [...gains(finalCells(cells)).map((gain) => gain.join(" ")), `n = ${best.n}`].map((line) => (
                <span key={line}>{line}</span>
              ))
        }
      >
        {percent(best?.mean)}
      </Tile>
      {baseline !== null && (
        <Tile
          label="Static baseline"
          note={
            best === undefined
              ? "same budget, only the seed"
              : `co-evolved ${gain(best, { mean: baseline.em, ...baseline })}`
          }
        >
          {percent(baseline.em)}
        </Tile>
      )}
      <Tile label="Instructions" note={`${run.born} in total`}>
        {run.alive} <small>alive</small>
      </Tile>
      <Tile label="Rollouts" note={`${compact(run.tokens)} tokens`}>
        {compact(run.rollouts)}
      </Tile>
      <Tile label="Time" note={`seed ${run.seed ?? "–"}`}>
        {wallSeconds === null ? "–" : duration(wallSeconds)}
      </Tile>
    </div>
  )
}

const Curves = ({ overview }: { readonly overview: OverviewView }) => {
  const { marks, series, steps, trained, validations } = overview
  const metric = (name: string) => series[name] ?? []
  const curves = useMemo(
    () => ({
      reward: [
        { label: "each step", values: metric("reward/mean"), colour: "var(--faint)", width: 1.5 },
        {
          label: `mean of ${movingSteps}`,
          values: movingMean(metric("reward/mean")),
          colour: "var(--accent)",
          width: 2.5
        }
      ],
      sources: sourceMetrics(series).map((name, index) => ({
        label: sourceLabel(trained, name),
        values: movingMean(metric(name)),
        ...look(index)
      }))
    }),
    [series, trained]
  )
  const shared = { marks, steps, format: axisPercent, range: zeroUp }
  return (
    <>
      <MarkLegend>
        <span className="muted">
          {plural(marks.filter(({ kind }) => kind === "prune").length, "pruning")},{" "}
          {plural(marks.filter(({ kind }) => kind === "evolve").length, "evolution")}
        </span>
      </MarkLegend>
      <div className="charts figure-2">
        <FramedChart {...shared} title={trainingTitle(trained)} height={220} curves={curves.reward} />
        {curves.sources.length > 0 && (
          <FramedChart
            {...shared}
            title={`Training ${trained.measure} by source, mean of ${movingSteps} steps`}
            height={220}
            curves={curves.sources}
          />
        )}
        {validations.length > 0 && <Validations overview={overview} />}
        {trajectoryMetrics.map(({ name, ...chart }) => (
          <FramedChart key={name} {...chart} steps={steps} curves={single(series, name)} marks={marks} />
        ))}
      </div>
      <Expander summary="Policy update">
        <div className="charts">
          {updateMetrics
            .filter(({ name }) => metric(name).some((value) => value !== null))
            .map(({ name, ...chart }) => (
              <LineChart key={name} {...chart} steps={steps} curves={single(series, name)} marks={marks} />
            ))}
        </div>
      </Expander>
      <Expander summary="Metrics as a table">
        <Table
          label="Metrics by step"
          columns={[
            ["step", "num", (index) => steps[index]],
            ...tableMetrics.map(([name, title, show]): Column<number> => [
              title,
              "num",
              (index) => show(metric(name)[index] ?? null)
            ]),
            [
              "decision",
              "",
              (index) => marks.flatMap(({ step, text }) => (step === steps[index] ? [text] : [])).join("; ")
            ]
          ]}
          rows={steps.map((_, index) => index)}
        />
      </Expander>
    </>
  )
}

const Validations = ({ overview: { marks, trained, validations } }: { readonly overview: OverviewView }) => {
  const steps = useMemo(() => validations.map(({ step }) => step), [validations])
  const curves = useMemo(
    () => [
      { label: trained.measure, values: validations.map(({ mean }) => mean), colour: "var(--accent)", width: 2.5 },
      ...(["low", "high"] as const).map((label, end) => ({
        label,
        values: validations.map(({ ci95 }) => ci95[end] ?? null),
        colour: "var(--faint)",
        dash: [4, 4],
        width: 1,
        quiet: true
      }))
    ],
    [trained.measure, validations]
  )
  return (
    <FramedChart
      title={`Validation ${trained.measure} with 95 % interval, n = ${validations[0]?.n ?? 0}`}
      steps={steps}
      curves={curves}
      format={axisPercent}
      marks={marks}
      range={zeroUp}
    />
  )
}

const FramedChart = (props: LineChartProps) => (
  <div className="card chart-card">
    <LineChart {...props} />
  </div>
)

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

const axisPercent = (value: number | null): string =>
  percent(value, value !== null && Math.abs(value) < 0.01 && value !== 0 ? 2 : 0)

const zeroUp = { fromZero: true, most: 1 }

const trajectoryMetrics = [
  { name: "tool_calls/mean", title: "Tool calls per trajectory", format: quantity, axisFormat: axis },
  { name: "response_length/mean", title: "Response length, tokens", format: whole },
  { name: "prompt_length/mean", title: "Prompt length, tokens", format: whole }
]

const anySize = { format: quantity, axisFormat: axis }
const share = { format: axisPercent, range: { most: 1 } }

const updateMetrics = [
  { name: "kl", title: "KL to the reference", ...anySize },
  { name: "clipfrac", title: "Clipped share of tokens", ...share },
  { name: "grad_norm", title: "Gradient norm", ...anySize },
  { name: "loss", title: "Loss", ...anySize },
  { name: "lr", title: "Learning rate", ...anySize },
  { name: "groups/mixed", title: "Groups with mixed rewards", ...share }
]

const tableMetrics: ReadonlyArray<readonly [name: string, title: string, show: (value: number | null) => string]> = [
  ["reward/mean", "training reward", percent],
  ["tool_calls/mean", "tool calls", quantity],
  ["response_length/mean", "response tokens", quantity],
  ["prompt_length/mean", "prompt tokens", quantity],
  ["kl", "KL", quantity],
  ["clipfrac", "clipped", percent],
  ["inspo/population", "population", whole]
]

const single = (series: OverviewView["series"], name: string) => [
  { label: name, values: series[name] ?? [], colour: "var(--accent)" }
]
