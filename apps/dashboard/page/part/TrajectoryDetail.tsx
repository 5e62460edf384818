import { description } from "@inspo/reflection/FailureMode"
import { useState } from "react"
import type { RunView } from "../../src/view/RunView.ts"
import type { TrajectoryView } from "../../src/view/TrajectoryView.ts"
import { type Segment, segments } from "../../src/Segments.ts"
import { count, percent, plural } from "../../src/Format.ts"
import { makeView } from "../View.ts"
import { InstructionName, Loading, Problem } from "./Parts.tsx"

const useTrajectory = makeView((client, { id, run }: { readonly run: string; readonly id: string }) =>
  client.trajectory({ params: { run }, query: { id } })
)

/** One trajectory, turn by turn. */
export const TrajectoryDetail = ({ id, run }: { readonly run: RunView; readonly id: string }) => {
  const { data, problem } = useTrajectory({ run: run.id, id }, "")
  if (data === null) return problem === null ? <Loading /> : <Problem>{problem}</Problem>
  return (
    <article className="trajectory" aria-label={`Trajectory ${id}`}>
      <p className="question" dir="auto">
        {data.text ?? data.questionId}
      </p>
      <dl className="facts">
        <div>
          <dt>Reward</dt>
          <dd>
            <b className={data.reward < right ? "bad" : "good"}>{percent(data.reward, 0)}</b>
          </dd>
        </div>
        <div>
          <dt>Answer</dt>
          <dd dir="auto">{data.answer ?? <span className="muted">none</span>}</dd>
        </div>
        {data.goldenAnswers.length > 0 && (
          <div>
            <dt>Golden</dt>
            <dd dir="auto">{data.goldenAnswers.join(" · ")}</dd>
          </div>
        )}
        <div>
          <dt>Instruction</dt>
          <dd title={data.instruction ?? undefined}>
            <InstructionName id={data.instructionId} />
          </dd>
        </div>
        <div>
          <dt>Ended</dt>
          <dd>{endings[data.finishReason]}</dd>
        </div>
        <div>
          <dt>Length</dt>
          <dd>
            {plural(data.turns, "turn")}, {plural(data.toolCalls, "tool call")}, {plural(data.responseTokens, "token")}
          </dd>
        </div>
      </dl>
      {data.modes.length > 0 && (
        <p className="modes">
          {data.modes.map((mode) => (
            <span key={mode} className="badge mode" title={mode}>
              {description[mode]}
            </span>
          ))}
        </p>
      )}
      {data.failure !== null && <Problem>{data.failure}</Problem>}
      <ol className="turns">
        {data.transcript.map((turn, index) => (
          <li key={index}>
            <span className="turn-number">turn {index + 1}</span>
            {segments(turn.text).map((segment, part) => (
              <SegmentBlock key={part} segment={segment} isWrong={data.reward < right} />
            ))}
            {turn.observation !== null && (
              <SegmentBlock segment={{ kind: "information", text: withoutTag(turn.observation) }} />
            )}
          </li>
        ))}
      </ol>
    </article>
  )
}

const endings: Readonly<Record<TrajectoryView["finishReason"], string>> = {
  answered: "answered",
  "turns-exhausted": "ran out of turns",
  "context-exhausted": "ran out of context",
  "invalid-action": "invalid action",
  failed: "failed by its environment"
}

/** Characters of a block shown at first. */
const longest = 4000

/** The reward from which on an answer is shown as a right one. */
const right = 0.5

const SegmentBlock = ({
  isWrong = false,
  segment: { kind, text }
}: {
  readonly segment: Segment
  /** Whether an answer in it is wrong. */
  readonly isWrong?: boolean
}) => {
  const [whole, setWhole] = useState(false)
  const known = ["think", "search", "information", "answer", "plain"].includes(kind)
  const body = text.trim()
  return (
    <div className={`segment segment-${known ? kind : "tool"} ${kind === "answer" && isWrong ? "wrong" : ""}`}>
      <span className="segment-kind">
        {kind === "plain" ? "text" : kind === "answer" && isWrong ? "wrong answer" : kind}
      </span>
      <p dir="auto">{whole ? body : body.slice(0, longest)}</p>
      {!whole && body.length > longest && (
        <button type="button" className="link" onClick={() => setWhole(true)}>
          Show all {count(body.length)} characters
        </button>
      )}
    </div>
  )
}

/** Observations come in a tag of their own; the block says already what they are. */
const withoutTag = (observation: string): string =>
  observation.replace(/^\s*<information>/u, "").replace(/<\/information>\s*$/u, "")
