import { count, percent } from "@inspo/report"
import type { SearchDetail } from "../../src/view/SearchRow.ts"
import { Card, Empty, InstructionName } from "../part/Parts.tsx"

/** The cases that score below 100 %, with what the agent answered. */
export const SearchCases = ({ detail }: { readonly detail: SearchDetail }) => {
  const { failing, failingCount, leader, prompt, verdict } = detail
  return (
    <Card
      title={
        <>
          Cases that fail under <InstructionName id={verdict === null ? leader : prompt} />
        </>
      }
      actions={
        failingCount > failing.length && (
          <span className="muted small">
            the worst {count(failing.length)} of {count(failingCount)}
          </span>
        )
      }
    >
      {failing.length === 0 ? (
        <Empty title="None so far">Every answer under this prompt has the full score.</Empty>
      ) : (
        <ul className="lines">
          {failing.map((one, place) => (
            <Case key={place} one={one} />
          ))}
        </ul>
      )}
    </Card>
  )
}

interface CaseProps {
  readonly one: SearchDetail["failing"][number]
  readonly isShort?: boolean
}

/** A case with its score, the answer, and what the score says about it. */
export const Case = ({ isShort = false, one: { case: input, feedback, output, score } }: CaseProps) => (
  <li className="failing">
    <span className={`outcome outcome-${score === 0 ? "wrong" : "partial"}`}>{percent(score, 0)}</span>
    <div className={isShort ? "short" : ""}>
      <p className="prose" dir="auto">
        {input}
      </p>
      <p className="prose" dir="auto">
        <span className="muted">gave </span>
        {output}
      </p>
      {feedback !== null && (
        <p className="prose muted small" dir="auto">
          {feedback}
        </p>
      )}
    </div>
  </li>
)
