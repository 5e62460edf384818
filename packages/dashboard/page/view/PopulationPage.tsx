import type { Population } from "@inspo/serve"
import { axis, count, dollars, duration, plural, withLabels } from "@inspo/report"
import type { Effect } from "effect"
import { useMemo, useState } from "react"
import { Names, useLabels } from "../part/Names.tsx"
import { InstructionName, Pending, Problem, Tiles, Card, Empty } from "../part/Parts.tsx"
import * as Access from "../source/Access.ts"
import { useAction } from "../part/Action.tsx"
import { type Client, makeQuery } from "../source/PopulationClient.ts"
import { intervalOf } from "../part/MemberParts.tsx"
import { usePolling } from "../source/Polling.ts"
import { usePopulationLog } from "../source/PopulationLog.ts"
import type { PopulationRoute } from "../Route.ts"
import { Lineage } from "./PopulationLineage.tsx"
import { Members } from "./PopulationMembers.tsx"
import { Button } from "../part/Form.tsx"
import type { Line } from "../../src/served/PopulationLog.ts"

const usePopulation = makeQuery((client, name: string) => client.populations.get({ params: { name } }))
const useIncumbent = makeQuery((client, name: string) => client.leases.incumbent({ params: { name } }))

/** One population: its state, its members, and the actions of an admin. */
export const PopulationPage = ({ name, route }: { readonly name: string; readonly route: PopulationRoute }) => {
  const version = `${usePolling()} ${Access.useAccess().version}`
  const { data, problem } = usePopulation(name, version)
  const incumbent = useIncumbent(name, version)
  const log = usePopulationLog(name, version)
  const names = log.data?.naming.names
  const named = useMemo(() => Object.fromEntries(names ?? []), [names])
  if (data === null) return <Pending problem={problem} />
  return (
    <Names value={named}>
      <h1 className="hidden">
        {name}, {route.view}
      </h1>
      {problem !== null && <Problem>{problem}</Problem>}
      {data.degraded.map(({ reason, remedy, since }) => (
        <Problem key={`${since} ${reason}`}>{`Degraded since ${since}: ${reason}. ${remedy}`}</Problem>
      ))}
      <Figures population={data} why={incumbent.data?.why ?? null} />
      <Controls population={data} />
      {route.view === "members" && <Members population={data} version={version} />}
      {route.view === "lineage" && (
        <Lineage population={data} version={version} selected={route.query.get("instruction")} />
      )}
      {route.view === "history" && <History population={data} version={version} />}
    </Names>
  )
}

const Figures = ({ population, why }: { readonly population: Population.Population; readonly why: string | null }) => {
  const { budgetUsd, generation, horizonSeconds, incumbent, leases, spentUsd, toSeed } = population
  const late = horizonSeconds === null ? "" : ` · rewards are accepted for ${duration(horizonSeconds)}`
  return (
    <Tiles
      of={[
        ["Incumbent", <InstructionName id={incumbent} />, why],
        toSeed === null
          ? ["Better than the seed by", "–", "the incumbent is the seed"]
          : ["Better than the seed by", axis(toSeed.mean), `${intervalOf(toSeed)}, the 95 % interval`],
        [
          "Leases",
          [count(leases.given), <small key="open"> {count(leases.open)} open</small>],
          `${count(leases.overdue)} overdue · ${count(leases.lost)} lost${late}`
        ],
        [
          "Spent",
          spentUsd === null ? "unknown price" : dollars(spentUsd),
          budgetUsd === null ? "no limit" : `of ${dollars(budgetUsd)}`
        ],
        [
          "Evolved",
          plural(generation, "time"),
          population.branch === 0 ? population.profile : `branch ${population.branch}`
        ]
      ]}
    />
  )
}

const Controls = ({ population: { name, next, profile, state } }: { readonly population: Population.Population }) => {
  const { act, busy, problem } = useAction()
  const label = useLabels()
  const params = { params: { name } }
  const button = (label: string, request: (client: Client) => Effect.Effect<unknown, unknown>) => (
    <Button disabled={busy} onClick={() => act(request)}>
      {label}
    </Button>
  )
  return (
    <>
      <div className="row apart">
        <p>
          <span className="muted">Next: </span>
          {withLabels(label, next)}
        </p>
        <p className="row tight">
          {state === "frozen" || state === "seed" ? (
            button("Resume", (client) => client.populations.resume(params))
          ) : (
            <>
              {button("Evolve now", (client) => client.populations.evolve(params))}
              {button("Freeze", (client) => client.populations.freeze(params))}
            </>
          )}
          {profile === "online" &&
            state !== "seed" &&
            button("Use the seed", (client) => client.populations.useSeed(params))}
        </p>
      </div>
      {problem !== null && <Problem>{problem}</Problem>}
    </>
  )
}

interface HistoryProps {
  readonly population: Population.Population
  readonly version: string
}

const History = ({ population: { name }, version }: HistoryProps) => {
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
