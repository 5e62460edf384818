import type { Population } from "@inspo/serve/wire/Population"
import { useState } from "react"
import { plural } from "../../../src/Format.ts"
import { Card, Empty, Pending } from "../../part/Parts.tsx"
import { usePopulationLog } from "../PopulationLog.ts"

/** The events of the population, the latest first. */
export const History = ({
  population: { name },
  version
}: {
  readonly population: Population
  readonly version: string
}) => {
  const { data, problem } = usePopulationLog(name, version)
  const [shown, setShown] = useState(100)
  if (data === null) return <Pending problem={problem} />
  const lines = data.lines.slice(-shown).toReversed()
  return (
    <Card title={`Events of ${plural(data.history.folded, "cohort")}`}>
      {lines.length === 0 ? (
        <Empty title="No events yet" />
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
          Show earlier events
        </button>
      )}
    </Card>
  )
}
