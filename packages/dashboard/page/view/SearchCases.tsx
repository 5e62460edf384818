import type { ReactNode } from "react"
import { count, percent } from "@inspo/report"
import type { SearchDetail } from "../../src/view/SearchRow.ts"
import { Card, Empty, InstructionName } from "../part/Parts.tsx"

export const SearchCases = ({ detail }: { readonly detail: SearchDetail }) => {
  const [some, all] = [detail.failing.length, detail.failingCount]
  const note = some < all && `the worst ${count(some)} of ${count(all)}`
  return <FailingCases detail={detail} actions={note && <span className="muted small">{note}</span>} />
}

interface FailingCasesProps {
  readonly detail: SearchDetail
  readonly actions: ReactNode
  readonly most?: number
}

/** The cases that score below 100 %, with what the agent answered; with `most` the worst of them, in short. */
export const FailingCases = ({ actions, detail: { failing, leader, prompt, verdict }, most }: FailingCasesProps) => (
  <Card
    title={
      <>
        Cases that fail under <InstructionName id={verdict === null ? leader : prompt} />
      </>
    }
    actions={actions}
  >
    {failing.length === 0 ? (
      <Empty title="None so far">Every answer under this prompt has the full score.</Empty>
    ) : (
      <ul className="lines">
        {failing.slice(0, most).map((one, place) => (
          <Case key={place} one={one} isShort={most !== undefined} />
        ))}
      </ul>
    )}
  </Card>
)

interface CaseProps {
  readonly one: SearchDetail["failing"][number]
  readonly isShort: boolean
}

/** A case with its score, the answer, and what the score says about it. */
const Case = ({ isShort, one: { case: input, feedback, output, score } }: CaseProps) => (
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
