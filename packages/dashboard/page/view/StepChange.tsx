import { useEffect, useRef } from "react"
import { count, percent, plural, points } from "@inspo/report"
import type { RunView } from "../../src/view/RunView.ts"
import { causes, sentence, type StepChangeView } from "../../src/view/StepChangeView.ts"
import { makeQuery } from "../source/RunClient.ts"
import { versionOf } from "../source/LiveRuns.ts"
import { Card, Empty, InstructionLink, Pending } from "../part/Parts.tsx"
import { type Column, Table } from "../part/Table.tsx"
import { href, type Route } from "../Route.ts"
import { go, withQuery } from "../Routing.ts"
import { Button, NumberField } from "../part/Form.tsx"

const useStepChange = makeQuery((client, { run, step }: { readonly run: string; readonly step: number }) =>
  client.stepChange({ params: { run, step } })
)

/** Shows the change at a step; an empty one closes it. */
export const showStep = (route: Route, step: string): void => go(withQuery(route, { step }), "replace")

/** Chooses the step whose change is shown, as a click into a chart does. */
export const StepField = ({ route, steps }: { readonly route: Route; readonly steps: number }) => (
  <NumberField
    name="Change at step"
    min={1}
    max={steps}
    value={route.query.get("step") ?? ""}
    onChange={(step) => showStep(route, step)}
  />
)

interface StepChangeProps {
  readonly run: RunView
  readonly route: Route
  readonly step: number
}

/** Why the training reward changed at a step: which instructions came, went, or got other rewards. */
export const StepChange = ({ route, run, step }: StepChangeProps) => {
  const { data, problem } = useStepChange({ run: run.id, step }, versionOf(run))
  const change = data?.change ?? null
  const isThere = data !== null
  const card = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // A step that is being typed does not scroll its field away.
    if (!(document.activeElement instanceof HTMLInputElement)) card.current?.scrollIntoView({ block: "nearest" })
  }, [step, isThere])
  return (
    <div ref={card}>
      <Card
        className="step-change"
        title={`Change at step ${step}`}
        actions={
          <span className="row tight">
            {change !== null && (
              <a
                href={href(run.id, "trajectories", {
                  purpose: "train",
                  fromStep: String(change.before.from),
                  toStep: String(change.after.to)
                })}
              >
                Trajectories of these steps
              </a>
            )}
            <Button onClick={() => showStep(route, "")}>Close</Button>
          </span>
        }
      >
        {data === null ? (
          <Pending problem={problem} />
        ) : change === null ? (
          <Empty title="Nothing to compare">There are no training answers on both sides of step {step}.</Empty>
        ) : (
          <Found change={change} run={run} />
        )}
      </Card>
    </div>
  )
}

const Found = ({ change, run }: { readonly change: StepChangeView; readonly run: RunView }) => {
  const entered = change.instructions.filter(({ before }) => before.answers === 0).length
  const left = change.instructions.filter(({ after }) => after.answers === 0).length
  const words = {
    entered: `${plural(entered, "instruction")} without answers before`,
    left: `${plural(left, "instruction")} without answers after`,
    shares: "Other shares of the other instructions",
    within: "Other rewards of the other instructions: the policy, or other questions"
  }
  return (
    <>
      <p>{sentence(change)}</p>
      <div className="columns">
        <div>
          <Table
            label="Causes"
            columns={[
              ["Cause", "", (cause) => words[cause]],
              ["Points", "num", (cause) => <b>{points(change.parts[cause])}</b>]
            ]}
            rows={causes}
          />
          <h3>Decisions</h3>
          {change.decisions.length === 0 ? (
            <p className="muted">None in these steps.</p>
          ) : (
            <ul className="plain">
              {change.decisions.map(({ step, text }) => (
                <li key={`${step} ${text}`}>
                  <span className="muted">after step {step}:</span> {text}
                </li>
              ))}
            </ul>
          )}
        </div>
        <Table label="Change by instruction" className="rows" columns={columns(run)} rows={change.instructions} />
      </div>
    </>
  )
}

type Instruction = StepChangeView["instructions"][number]

const columns = (run: RunView): ReadonlyArray<Column<Instruction>> => [
  ["Instruction", "", ({ id }) => <InstructionLink href={href(run.id, "lineage", { instruction: id })} id={id} />],
  ["Before", "num", ({ before }) => <Answers {...before} />],
  ["After", "num", ({ after }) => <Answers {...after} />],
  ["Points", "num", ({ part }) => <b>{points(part)}</b>]
]

const Answers = ({ answers, mean }: Instruction["before"]) =>
  mean === null ? (
    <span className="muted">–</span>
  ) : (
    <>
      {percent(mean)} <span className="muted small">of {count(answers)}</span>
    </>
  )
