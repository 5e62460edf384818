import type { Population } from "@inspo/serve/wire/Population"
import { useState } from "react"
import { Card, Empty, Loading, Problem } from "../../part/Parts.tsx"
import { count } from "../../../src/Format.ts"
import { useStories } from "../Stories.ts"

/** What happened, the latest first. */
export const History = ({
  population: { name },
  version
}: {
  readonly population: Population
  readonly version: string
}) => {
  const { data, problem } = useStories(name, version)
  const [shown, setShown] = useState(100)
  if (data === null) return problem === null ? <Loading /> : <Problem>{problem}</Problem>
  const lines = data.lines.slice(-shown).toReversed()
  return (
    <Card title={`What happened, over ${count(data.history.folded)} cohorts`}>
      {lines.length === 0 ? (
        <Empty title="Nothing yet" />
      ) : (
        <ol className="history">
          {lines.map(({ at, text, tone }, index) => (
            <li key={`${data.lines.length - index}`} className={`tone-${tone}`}>
              <time dateTime={at} className="muted small">
                {at.slice(0, 16).replace("T", " ")}
              </time>
              <span dir="auto">{text}</span>
            </li>
          ))}
        </ol>
      )}
      {shown < data.lines.length && (
        <button type="button" className="link" onClick={() => setShown(shown + 500)}>
          Show earlier ones
        </button>
      )}
    </Card>
  )
}
