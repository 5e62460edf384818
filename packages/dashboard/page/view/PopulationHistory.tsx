import type { Population } from "@inspo/serve"
import { plural } from "@inspo/report"
import { useState } from "react"
import type { Line } from "../../src/served/PopulationLog.ts"
import { Card, Empty, Pending } from "../part/Parts.tsx"
import { usePopulationLog } from "../source/PopulationLog.ts"
import { Button } from "../part/Form.tsx"

interface HistoryProps {
  readonly population: Population.Population
  readonly version: string
}

/** The decisions and changes of the population with their reasons, the latest first. */
export const History = ({ population: { name }, version }: HistoryProps) => {
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
          {lines.map((line, index) => (
            <Entry key={`${data.lines.length - index}`} line={line} />
          ))}
        </ol>
      )}
      {shown < data.lines.length && (
        <Button className="link" onClick={() => setShown(shown + 500)}>
          Show earlier events
        </Button>
      )}
    </Card>
  )
}

const Entry = ({ line: { at, by, text, tone, why } }: { readonly line: Line }) => (
  <li className={`tone-${tone}`}>
    <time dateTime={at} className="muted small">
      {at.slice(0, 16).replace("T", " ")}
    </time>
    <div>
      <span dir="auto">{text}</span> <span className="badge">{words[by]}</span>
      {why !== null && (
        <p className="muted small why" dir="auto">
          {why}
        </p>
      )}
    </div>
  </li>
)

const words: Readonly<Record<Line["by"], string>> = { hand: "by hand", client: "by the client", rule: "automatic" }
