import { useMemo, useState } from "react"
import { count, labels, percent, points } from "@inspo/report"
import type { LifeView, PopulationView } from "../../src/view/PopulationView.ts"
import type { RunView } from "../../src/view/RunView.ts"
import { probabilities, values } from "../../src/Courses.ts"
import { CourseChart } from "../chart/Charts.tsx"
import { makeQuery } from "../source/RunClient.ts"
import { instructionStyle } from "../../src/Colour.ts"
import { versionOf } from "../source/LiveRuns.ts"
import { Names } from "../part/Names.tsx"
import { Card, Empty, FateBadge, InstructionLink, MarkLegend, Pending } from "../part/Parts.tsx"
import { href } from "../Route.ts"
import { type Column, Table } from "../part/Table.tsx"

const usePopulation = makeQuery((client, run: string) => client.population({ params: { run } }))

/** When each instruction was in the population, how often it was drawn, and its rewards. */
export const Population = ({ run }: { readonly run: RunView }) => {
  const { data, problem } = usePopulation(run.id, versionOf(run))
  const [picked, setPicked] = useState<string | null>(null)
  const drawn = useMemo(() => (data === null ? null : figuresOf(data)), [data])
  if (data === null || drawn === null) return <Pending problem={problem} />
  if (data.lives.length === 0)
    return (
      <Empty isPage title="No population yet">
        It appears after the first instructions are written.
      </Empty>
    )
  const evolutions = data.marks.flatMap(({ kind, step }) => (kind === "evolve" ? [step] : []))
  return (
    <Names value={data.names}>
      <h1 className="hidden">Population of {run.name}</h1>
      {data.steps.length === 0 ? (
        <Empty title="No step yet">Probabilities and values appear after the first policy update.</Empty>
      ) : (
        <div className="columns">
          <Card>
            <CourseChart figure={drawn.probabilities} picked={picked} onPick={setPicked} />
            <MarkLegend />
          </Card>
          <Card>
            <CourseChart figure={drawn.values} picked={picked} onPick={setPicked} />
          </Card>
        </div>
      )}
      <Card title={`Instructions, ${data.lives.length}`}>
        {data.verdict !== "" && <p>{data.verdict}</p>}
        <Table
          label="Instructions"
          className="rows"
          columns={columns(run, evolutions)}
          rows={data.lives}
          rowProps={({ id }) => ({
            className: picked === id ? "picked" : "",
            onPointerEnter: () => setPicked(id),
            onPointerLeave: () => setPicked(null)
          })}
        />
      </Card>
    </Names>
  )
}

const figuresOf = ({ lives, marks, names, steps }: PopulationView) => {
  const shared = { steps, marks, label: labels(new Map(Object.entries(names))) }
  return {
    probabilities: probabilities({
      ...shared,
      title: "Probability of being drawn",
      lives: lives.map(({ from, id, probabilities }) => ({ id, from, values: probabilities }))
    }),
    values: values({ ...shared, title: "Value: expected reward", lives })
  }
}

const columns = (run: RunView, evolutions: ReadonlyArray<number>): ReadonlyArray<Column<LifeView>> => [
  ["Instruction", "", ({ id }) => <InstructionLink href={href(run.id, "lineage", { instruction: id })} id={id} />],
  ["Gen.", "num wide-only", ({ generation }) => generation],
  [
    `Steps 0 to ${run.steps ?? run.step}`,
    "lives-span",
    (life) => <LifeSpan life={life} run={run} evolutions={evolutions} />
  ],
  ["Groups", "num wide-only", ({ groups }) => count(groups)],
  ["Mean reward", "num", ({ mean }) => percent(mean)],
  ["P(best)", "num", ({ chance }) => percent(chance, 0)],
  [
    "Against the seed, points",
    "num wide-only",
    ({ difference }) =>
      difference === null
        ? "–"
        : `${points(difference.mean)} [${points(difference.lower)}, ${points(difference.upper)}]`
  ],
  [
    "Status",
    "",
    ({ fate, reason }) => (
      <>
        <FateBadge fate={fate} />
        {reason !== null && fate !== "alive" && <span className="muted small wide-only"> {reason}</span>}
      </>
    )
  ]
]

interface LifeSpanProps {
  readonly life: LifeView
  readonly run: RunView
  readonly evolutions: ReadonlyArray<number>
}

const LifeSpan = ({ evolutions, life: { bornAt, fate, id, leftAt }, run }: LifeSpanProps) => {
  const end = Math.max(1, run.steps ?? run.step)
  const until = leftAt ?? run.step
  return (
    <span className="span-bar">
      <i
        className={`ink ${fate === "alive" ? "" : "ended"}`}
        title={`steps ${bornAt} to ${until}`}
        style={{
          ...instructionStyle(id),
          left: `${(100 * bornAt) / end}%`,
          width: `${Math.max(0.8, (100 * (until - bornAt)) / end)}%`
        }}
      />
      {evolutions.map((step) => (
        <b key={step} style={{ left: `${(100 * step) / end}%` }} />
      ))}
    </span>
  )
}
