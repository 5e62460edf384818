import type { RunView } from "../../src/view/RunView.ts"
import { compact, percent } from "../../src/Format.ts"
import { ago } from "../Ago.ts"
import { Empty, Sparkline, Status } from "../part/Parts.tsx"
import { type Column, Table } from "../part/Table.tsx"
import { href } from "../Route.ts"

/** All runs. */
export const RunList = ({ runs }: { readonly runs: ReadonlyArray<RunView> }) =>
  runs.length === 0 ? (
    <Empty title="No runs yet">
      Start one with <code>inspo run</code>. It appears here after its first step.
    </Empty>
  ) : (
    <>
      <div className="page-head">
        <h1>Runs</h1>
        {runs.length > 1 && (
          <a className="button" href={href(runs[0]?.id ?? null, "compare")}>
            Compare
          </a>
        )}
      </div>
      <Table label="Runs" className="rows" columns={columns} rows={runs} />
    </>
  )

const columns: ReadonlyArray<Column<RunView>> = [
  [
    "Run",
    "",
    ({ degraded, id, name, problem, status }) => (
      <>
        <a href={href(id)}>{name}</a>
        <div className="narrow-only">
          <Status status={status} degraded={degraded} />
        </div>
        {problem !== null && <span className="problem-line">{problem}</span>}
      </>
    )
  ],
  ["State", "wide-only", ({ degraded, status }) => <Status status={status} degraded={degraded} />],
  [
    "Step",
    "num",
    ({ step, steps }) => (
      <>
        {step}
        <span className="muted"> / {steps ?? "–"}</span>
      </>
    )
  ],
  [
    "Training reward",
    "",
    ({ course, name, reward }) => (
      <span className="with-spark">
        <Sparkline values={course} label={`Training reward of ${name}, now ${percent(reward)}`} />
        <span className="num">{percent(reward)}</span>
      </span>
    )
  ],
  [
    "Test questions",
    "num",
    ({ measure, tested }) => (
      <>
        <b>{percent(tested)}</b>
        {tested !== null && <div className="muted small">{measure}</div>}
      </>
    )
  ],
  ["Rollouts", "num wide-only", ({ rollouts }) => compact(rollouts)],
  [
    "Last event",
    "num wide-only",
    ({ lastWritten }) => <span className="muted">{lastWritten === null ? "–" : ago(lastWritten)}</span>
  ]
]
