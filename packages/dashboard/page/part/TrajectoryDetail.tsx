import { FailureMode } from "@inspo/reflection"
import { count, percent, plural } from "@inspo/report"
import { type CSSProperties, useState } from "react"
import type { RunView } from "../../src/view/RunView.ts"
import type { TrajectoryView } from "../../src/view/TrajectoryView.ts"
import { type TextPart, textParts } from "../../src/TextParts.ts"
import { makeQuery } from "../source/RunClient.ts"
import { Facts, InstructionName, Pending, Problem } from "./Parts.tsx"
import { Button } from "./Form.tsx"

const useTrajectory = makeQuery((client, { id, run }: { readonly run: string; readonly id: string }) =>
  client.trajectory({ params: { run }, query: { id } })
)

export const TrajectoryDetail = ({ id, run }: { readonly run: RunView; readonly id: string }) => {
  const { data, problem } = useTrajectory({ run: run.id, id }, "")
  if (data === null) return <Pending problem={problem} />
  return (
    <article className="trajectory" aria-label={`Trajectory ${id}`}>
      <p className="question" dir="auto">
        {data.text ?? data.questionId}
      </p>
      <Facts
        of={[
          ["Reward", <b className={data.reward < right ? "bad" : "good"}>{percent(data.reward, 0)}</b>],
          ["Answer", data.answer ?? <span className="muted">none</span>],
          data.goldenAnswers.length > 0 && ["Golden answers", data.goldenAnswers.join(" · ")],
          [
            "Instruction",
            <span title={data.instruction ?? undefined}>
              <InstructionName id={data.instructionId} />
            </span>
          ],
          ["End", endings[data.finishReason]],
          [
            "Length",
            [
              plural(data.turns, "turn"),
              plural(data.toolCalls, "tool call"),
              plural(data.responseTokens, "token")
            ].join(", ")
          ]
        ]}
      />
      {data.modes.length > 0 && (
        <p className="facts row tight">
          {data.modes.map((mode) => (
            <span key={mode} className="badge mode" title={mode}>
              {FailureMode.description[mode]}
            </span>
          ))}
        </p>
      )}
      {data.failure !== null && <Problem>{data.failure}</Problem>}
      <ol className="turns">
        {data.transcript.map((turn, index) => (
          <li key={index}>
            {turn.prompt !== undefined && (
              <section className="segment" aria-label="New segment">
                <p className="muted small">New segment. Of what came before, the policy sees this:</p>
                {textParts(afterQuestion(turn.prompt, data.text)).map((part, place) => (
                  <PartBlock key={place} part={part} />
                ))}
              </section>
            )}
            <span className="muted small">turn {index + 1}</span>
            {textParts(turn.text).map((part, place) => (
              <PartBlock key={place} part={part} isWrong={data.reward < right} />
            ))}
            {turn.observation !== null && (
              <PartBlock part={{ kind: "information", text: withoutTag(turn.observation) }} />
            )}
          </li>
        ))}
      </ol>
    </article>
  )
}

const endings: Readonly<Record<TrajectoryView["finishReason"], string>> = {
  answered: "answered",
  "turns-exhausted": "no turns left",
  "context-exhausted": "no context left",
  "invalid-action": "invalid action",
  failed: "failed in the environment"
}

/** Characters of a block before it is opened. */
const longest = 4000

/** The lowest reward of an answer that is shown as right. */
const right = 0.5

interface PartBlockProps {
  readonly part: TextPart
  /** Whether an answer in it is wrong. */
  readonly isWrong?: boolean
}

const PartBlock = ({ isWrong = false, part: { kind, text } }: PartBlockProps) => {
  const [whole, setWhole] = useState(false)
  const known = ["think", "search", "information", "answer", "plain"].includes(kind)
  const isWrongAnswer = kind === "answer" && isWrong
  const body = text.trim()
  return (
    <div
      className={`text-part text-part-${known ? kind : "tool"} ${isWrongAnswer ? "wrong" : ""}`}
      style={kind === "plain" ? undefined : toned(isWrongAnswer ? "bad" : known ? kind : "tool")}
    >
      <span className="text-part-kind">{kind === "plain" ? "text" : isWrongAnswer ? "wrong answer" : kind}</span>
      <p dir="auto">{whole ? body : body.slice(0, longest)}</p>
      {!whole && body.length > longest && (
        <Button className="link" onClick={() => setWhole(true)}>
          Show all {count(body.length)} characters
        </Button>
      )}
    </div>
  )
}

/** The colours of a block. */
const toned = (tone: string): CSSProperties & Record<"--tone" | "--tone-soft", string> => ({
  "--tone": `var(--${tone})`,
  "--tone-soft": `var(--${tone}-soft)`
})

/** What a prompt says after the instruction and the question, which all segments begin with; else all of it. */
const afterQuestion = (prompt: string, question: string | null): string => {
  const at = question === null || question === "" ? -1 : prompt.lastIndexOf(question)
  return at < 0 ? prompt : prompt.slice(at + (question ?? "").length).replace(/^\s*Context:/u, "")
}

/** An observation without its tag, which the block already names. */
const withoutTag = (observation: string): string =>
  observation.replace(/^\s*<information>/u, "").replace(/<\/information>\s*$/u, "")
