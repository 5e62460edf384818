import { ofDifference } from "@inspo/statistics/Interval"
import { type ReactNode, useMemo, useState } from "react"
import type { CellView, OverviewView } from "../../src/view/OverviewView.ts"
import type { RunView } from "../../src/view/RunView.ts"
import { sourceLabel, trainingTitle } from "../../src/view/Titles.ts"
import { LineChart } from "../chart/LineChart.tsx"
import { look } from "../../src/Curves.ts"
import { axis, capital, compact, count, duration, percent, plural, points, quantity } from "../../src/Format.ts"
import { versionOf } from "../Live.ts"
import { Diff } from "../part/Diff.tsx"
import { Card, Empty, InstructionName, IntervalBar, Loading, Problem, Scroll, Tile } from "../part/Parts.tsx"
import { href } from "../Route.ts"
import { makeView } from "../View.ts"

const useOverview = makeView((client, run: string) => client.overview({ params: { run } }))

/** What the run does and what it comes to. */
export const Overview = ({ run }: { readonly run: RunView }) => {
  const { data, problem } = useOverview(run.id, versionOf(run))
  if (data === null) return problem === null ? <Loading /> : <Problem>{problem}</Problem>
  return (
    <>
      <h1 className="hidden">Overview of {run.name}</h1>
      {problem !== null && <Problem>{problem}</Problem>}
      {data.degraded.map((line) => (
        <Problem key={line}>{`Degraded: ${line}`}</Problem>
      ))}
      <Tiles run={run} overview={data} />
      {data.steps.length === 0 ? (
        <Empty title="No step yet">
          The first curve appears with the first policy update. The population begins with {run.born} instructions.
        </Empty>
      ) : (
        <Curves overview={data} />
      )}
      <div className="columns">
        <Result overview={data} />
        <BestInstruction run={run} overview={data} />
      </div>
      <details className="card">
        <summary>Settings</summary>
        <dl className="settings">
          {Object.entries(data.settings).map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd dir="auto">{value}</dd>
            </div>
          ))}
        </dl>
      </details>
    </>
  )
}

const Tiles = ({ overview, run }: { readonly run: RunView; readonly overview: OverviewView }) => {
  const rewards = (overview.series["reward/mean"] ?? []).filter((value) => value !== null)
  const early = meanOf(rewards.slice(0, stretch))
  const late = meanOf(rewards.slice(-stretch))
  const best = cell(overview, "after", "best") ?? cell(overview, "after", "seed")
  const { baseline } = overview
  return (
    <div className="tiles">
      <Tile
        label={`Training ${overview.trained.measure}`}
        note={
          early === null || late === null
            ? "no step yet"
            : `${points(late - early)} points since the start · mean of ${stretch} steps`
        }
      >
        {percent(late)}
      </Tile>
      <Tile
        label={`${capital(overview.trained.measure)} on test questions`}
        note={
          best === undefined
            ? run.status === "finished"
              ? "not evaluated"
              : "after the last step"
            : `${gains(overview, best)}n = ${best.n}`
        }
      >
        {percent(best?.mean)}
      </Tile>
      {baseline !== null && (
        <Tile
          label="Static baseline"
          note={
            best === undefined
              ? "same budget, seed alone"
              : `co-evolved ${against(best, { mean: baseline.em, ...baseline })}`
          }
        >
          {percent(baseline.em)}
        </Tile>
      )}
      <Tile label="Instructions" note={`${run.born} ever lived`}>
        {run.alive} <small>alive</small>
      </Tile>
      <Tile label="Rollouts" note={`${compact(run.tokens)} tokens`}>
        {compact(run.rollouts)}
      </Tile>
      <Tile label="Time" note={`seed ${run.seed ?? "–"}`}>
        {overview.wallSeconds === null ? "–" : duration(overview.wallSeconds)}
      </Tile>
    </div>
  )
}

const Curves = ({ overview }: { readonly overview: OverviewView }) => {
  const { marks, series, steps, trained, validations } = overview
  const sources = Object.keys(series)
    .filter((name) => name.startsWith("reward/") && name !== "reward/mean")
    .sort()
  const curves = useMemo(
    () => ({
      reward: [
        { label: "each step", values: series["reward/mean"] ?? [], colour: "var(--faint)", width: 1.5 },
        {
          label: `mean of ${stretch}`,
          values: smoothed(series["reward/mean"] ?? []),
          colour: "var(--accent)",
          width: 2.5
        }
      ],
      sources: sources.map((name, index) => ({
        label: sourceLabel(trained, name.slice("reward/".length)),
        values: smoothed(series[name] ?? []),
        ...look(index)
      }))
    }),
    [series, trained]
  )
  return (
    <>
      <Legend marks={marks} />
      <div className="charts figure-2">
        <Framed>
          <LineChart
            title={trainingTitle(trained)}
            steps={steps}
            height={220}
            curves={curves.reward}
            format={axisPercent}
            marks={marks}
            range={zeroUp}
          />
        </Framed>
        {sources.length > 0 && (
          <Framed>
            <LineChart
              title={`Training ${trained.measure} by source, mean of ${stretch} steps`}
              steps={steps}
              height={220}
              curves={curves.sources}
              format={axisPercent}
              marks={marks}
              range={zeroUp}
            />
          </Framed>
        )}
        {validations.length > 0 && <Validations overview={overview} />}
        {shapes.map(({ format, name, title, ...rest }) => (
          <Framed key={name}>
            <LineChart
              title={title}
              steps={steps}
              curves={single(series, name)}
              format={format}
              marks={marks}
              {...rest}
            />
          </Framed>
        ))}
      </div>
      <Updates overview={overview} />
      <MetricsTable overview={overview} />
    </>
  )
}

const Legend = ({ marks }: Pick<OverviewView, "marks">) => (
  <p className="legend">
    <span>
      <i className="mark-prune" aria-hidden="true" /> pruned
    </span>
    <span>
      <i className="mark-evolve" aria-hidden="true" /> evolved
    </span>
    <span className="muted">
      {plural(marks.filter(({ kind }) => kind === "prune").length, "pruning")},{" "}
      {plural(marks.filter(({ kind }) => kind === "evolve").length, "evolution")}
    </span>
  </p>
)

const Updates = ({ overview: { marks, series, steps } }: { readonly overview: OverviewView }) => {
  const updates = (
    [
      ["kl", "KL to the reference"],
      ["clipfrac", "Clipped share of tokens"],
      ["grad_norm", "Gradient norm"],
      ["loss", "Loss"],
      ["lr", "Learning rate"],
      ["groups/mixed", "Groups with mixed rewards"]
    ] as const
  ).filter(([name]) => series[name]?.some((value) => value !== null) === true)
  return (
    <Later summary="Policy update">
      <div className="charts">
        {updates.map(([name, title]) => (
          <LineChart
            key={name}
            title={title}
            steps={steps}
            curves={single(series, name)}
            format={name === "clipfrac" || name === "groups/mixed" ? axisPercent : quantity}
            axisFormat={name === "clipfrac" || name === "groups/mixed" ? axisPercent : axis}
            range={name === "clipfrac" || name === "groups/mixed" ? share : anySize}
            marks={marks}
          />
        ))}
      </div>
    </Later>
  )
}

const MetricsTable = ({ overview: { marks, series, steps } }: { readonly overview: OverviewView }) => (
  <Later summary="The same as a table">
    <Scroll label="Metrics by step">
      <table className="table">
        <thead>
          <tr>
            <th scope="col" className="num">
              step
            </th>
            {tableColumns.map(([, title]) => (
              <th key={title} scope="col" className="num">
                {title}
              </th>
            ))}
            <th scope="col">decision</th>
          </tr>
        </thead>
        <tbody>
          {steps.map((step, index) => (
            <tr key={step}>
              <th scope="row" className="num">
                {step}
              </th>
              {tableColumns.map(([name, title, show]) => (
                <td key={title} className="num">
                  {show(series[name]?.[index] ?? null)}
                </td>
              ))}
              <td>
                {marks
                  .filter((mark) => mark.step === step)
                  .map(({ text }) => text)
                  .join("; ")}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  </Later>
)

const Validations = ({ overview }: { readonly overview: OverviewView }) => {
  const { marks, trained, validations } = overview
  const curves = useMemo(
    () => [
      { label: trained.measure, values: validations.map(({ mean }) => mean), colour: "var(--accent)", width: 2.5 },
      {
        label: "low",
        values: validations.map(({ ci95 }) => ci95[0]),
        colour: "var(--faint)",
        dashed: true,
        width: 1,
        quiet: true
      },
      {
        label: "high",
        values: validations.map(({ ci95 }) => ci95[1]),
        colour: "var(--faint)",
        dashed: true,
        width: 1,
        quiet: true
      }
    ],
    [trained.measure, validations]
  )
  const steps = useMemo(() => validations.map(({ step }) => step), [validations])
  return (
    <Framed>
      <LineChart
        title={`Validation ${trained.measure} with 95 % interval, n = ${validations[0]?.n ?? 0}`}
        steps={steps}
        curves={curves}
        format={axisPercent}
        marks={marks}
        range={zeroUp}
      />
    </Framed>
  )
}

const Framed = ({ children }: { readonly children: ReactNode }) => <div className="card chart-card">{children}</div>

/** Content that is made only once it is asked for. */
const Later = ({ children, summary }: { readonly summary: string; readonly children: ReactNode }) => {
  const [opened, setOpened] = useState(false)
  return (
    <details className="card" onToggle={({ currentTarget }) => currentTarget.open && setOpened(true)}>
      <summary>{summary}</summary>
      {opened && children}
    </details>
  )
}

const Result = ({ overview }: { readonly overview: OverviewView }) => {
  const { baseline, cells } = overview
  if (cells.length === 0)
    return (
      <Card title="Held-out questions">
        <Empty title="Not evaluated yet">
          After the last step the policy before and after training answers test questions under the seed and the best
          instruction.
        </Empty>
      </Card>
    )
  return (
    <Card title={`Held-out questions, n = ${cells[0]?.n ?? 0}`}>
      <Scroll label="Held-out questions">
        <table className="table result">
          <thead>
            <tr>
              <th scope="col">Policy</th>
              <th scope="col">Instruction</th>
              <th scope="col" className="num">
                {capital(overview.trained.measure)}
              </th>
              <th scope="col">95 % interval</th>
              <th scope="col" className="num">
                Tool calls
              </th>
            </tr>
          </thead>
          <tbody>
            {cells.map((entry) => (
              <tr key={`${entry.policy} ${entry.instruction}`} className={isHeadline(entry) ? "headline" : ""}>
                <td>{entry.policy} training</td>
                <td>
                  {entry.role} <InstructionName id={entry.instruction} />
                </td>
                <td className="num strong">{percent(entry.mean)}</td>
                <td>
                  <IntervalBar mean={entry.mean} ci95={entry.ci95} tone={isHeadline(entry) ? "accent" : "plain"} />
                </td>
                <td className="num">{entry.toolCalls.toFixed(2)}</td>
              </tr>
            ))}
            {baseline !== null && (
              <tr>
                <td>static baseline</td>
                <td>
                  seed, <span className="muted">{count(baseline.rollouts)} rollouts</span>
                </td>
                <td className="num strong">{percent(baseline.em)}</td>
                <td>
                  <IntervalBar mean={baseline.em} ci95={baseline.ci95} tone="plain" />
                </td>
                <td className="num">–</td>
              </tr>
            )}
          </tbody>
        </table>
      </Scroll>
    </Card>
  )
}

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
      actions={<a href={href(run.id, "lineage", { instruction: best.id })}>Where it came from</a>}
    >
      <p className="muted small">
        generation {best.generation}
        {best.value === null ? " · no reward in recent steps" : ` · mean reward in recent steps ${percent(best.value)}`}
        {best.id === seed.id ? " · the seed itself" : " · marked where it differs from the seed"}
      </p>
      <Diff from={seed.text} to={best.text} />
    </Card>
  )
}

/** Steps that a mean is taken over. */
const stretch = 5

const whole = (value: number | null): string => (value === null ? "–" : value.toFixed(0))

/** What a trajectory is like, step by step. */
const shapes = [
  { name: "tool_calls/mean", title: "Tool calls per trajectory", format: quantity, axisFormat: axis },
  { name: "response_length/mean", title: "Response length, tokens", format: whole },
  { name: "prompt_length/mean", title: "Prompt length, tokens", format: whole }
] as const

const single = (series: OverviewView["series"], name: string) => [
  { label: name, values: series[name] ?? [], colour: "var(--accent)" }
]

const tableColumns: ReadonlyArray<readonly [name: string, title: string, show: (value: number | null) => string]> = [
  ["reward/mean", "training reward", (value) => percent(value)],
  ["tool_calls/mean", "tool calls", quantity],
  ["response_length/mean", "response tokens", quantity],
  ["prompt_length/mean", "prompt tokens", quantity],
  ["kl", "KL", quantity],
  ["clipfrac", "clipped", (value) => percent(value)],
  ["inspo/population", "population", (value) => (value === null ? "–" : String(value))]
]

const zeroUp = { fromZero: true, most: 1 }
const share = { most: 1 }
const anySize = {}

const axisPercent = (value: number | null): string =>
  percent(value, value !== null && Math.abs(value) < 0.01 && value !== 0 ? 2 : 0)

const cell = ({ cells }: OverviewView, policy: CellView["policy"], role: CellView["role"]) =>
  cells.find((entry) => entry.policy === policy && entry.role === role)

type Estimated = Pick<CellView, "mean" | "ci95">

/** A difference in points with its 95 % interval. */
const against = (one: Estimated, other: Estimated): string => {
  const [low, high] = ofDifference(one, other)
  return `${points(one.mean - other.mean)} points [${points(low)}, ${points(high)}]`
}

/** What training gave under the seed, and what the best instruction gave after it; together they are no fair comparison. */
const gains = (overview: OverviewView, best: CellView): string => {
  const before = cell(overview, "before", "seed")
  const after = cell(overview, "after", "seed")
  if (before === undefined || after === undefined) return ""
  const training = `training ${against(after, before)} · `
  return best === after ? training : `${training}instruction ${against(best, after)} · `
}

const isHeadline = ({ policy, role }: CellView): boolean => policy === "after" && role === "best"

const meanOf = (values: ReadonlyArray<number>): number | null =>
  values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length

/** The mean of each value and the `stretch - 1` before it. */
const smoothed = (values: ReadonlyArray<number | null>): ReadonlyArray<number | null> =>
  values.map((_, index) =>
    meanOf(values.slice(Math.max(0, index - stretch + 1), index + 1).filter((value) => value !== null))
  )
