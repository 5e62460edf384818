import type { RunView } from "../../src/view/RunView.ts"
import { compact, percent } from "../../src/Format.ts"
import { ago } from "../Ago.ts"
import { Empty, Scroll, Sparkline, Status } from "../part/Parts.tsx"
import { href } from "../Route.ts"

/** All runs, the latest first. */
export const RunList = ({ runs }: { readonly runs: ReadonlyArray<RunView> }) =>
  runs.length === 0 ? (
    <Empty title="No runs yet">
      Start one with <code>npx pnpm@12 start</code>: it appears here with its first step.
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
      <Scroll label="Runs">
        <table className="table rows">
          <thead>
            <tr>
              <th scope="col">Run</th>
              <th scope="col" className="wide-only">
                State
              </th>
              <th scope="col" className="num">
                Step
              </th>
              <th scope="col">Training reward</th>
              <th scope="col" className="num">
                Test questions
              </th>
              <th scope="col" className="num wide-only">
                Rollouts
              </th>
              <th scope="col" className="num wide-only">
                Last event
              </th>
            </tr>
          </thead>
          <tbody>
            {runs.map((run) => (
              <tr key={run.id}>
                <th scope="row">
                  <a href={href(run.id)}>{run.name}</a>
                  <div className="narrow-only">
                    <Status status={run.status} degraded={run.degraded} />
                  </div>
                  {run.problem !== null && <span className="problem-line">{run.problem}</span>}
                </th>
                <td className="wide-only">
                  <Status status={run.status} degraded={run.degraded} />
                </td>
                <td className="num">
                  {run.step}
                  <span className="muted"> / {run.steps ?? "–"}</span>
                </td>
                <td>
                  <span className="with-spark">
                    <Sparkline
                      values={run.course}
                      label={`Training reward of ${run.name}, now ${percent(run.reward)}`}
                    />
                    <span className="num">{percent(run.reward)}</span>
                  </span>
                </td>
                <td className="num">
                  <b>{percent(run.tested)}</b>
                  {run.tested !== null && <div className="muted small">{run.measure}</div>}
                </td>
                <td className="num wide-only">{compact(run.rollouts)}</td>
                <td className="num muted wide-only">{run.lastWritten === null ? "–" : ago(run.lastWritten)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </>
  )
