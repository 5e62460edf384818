/** Shows served populations in a terminal. */
import { Strategies, Summary } from "@inspo/cohorts"
import { Text, count, duration, percent, plural } from "@inspo/report"
import { type Population, View } from "@inspo/serve"
import { append, empty, type MemberHistory, membersOf } from "@inspo/dashboard/served/PopulationLog"
import { Effect } from "effect"
import { lineageLines } from "../report/LineageReport.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { type Place, read } from "./StoredPopulations.ts"

/** Shows the status of populations, as the server's API does. */
export const show = Effect.fn("Served.show")(function* (places: ReadonlyArray<Place>) {
  const decides = yield* Strategies.fromContext
  const populations = yield* Effect.forEach(places, (place) =>
    Effect.map(read(place), ({ degraded, skipped, spentUsd, state }) => ({
      directory: place.directory,
      incumbent: View.incumbent(state),
      population: View.population(decides, { name: place.name, spentUsd, capUsd: null, degraded, skipped }, state)
    }))
  )
  yield* Reporter.print({ populations }, (columns) =>
    populations.flatMap(({ incumbent, population }, index) => [
      ...(index === 0 ? [] : [""]),
      ...statusLines(population, incumbent, columns)
    ])
  )
})

const statusLines = (
  { branch, generation, horizonSeconds, leases, members, name, next, profile, spentUsd, state }: Population.Population,
  incumbent: Population.Incumbent,
  columns: number
): ReadonlyArray<string> => [
  ...Text.wrap(
    `${name}: ${state.replace("-", " ")}, ${profile}, evolved ${plural(generation, "time")}${branch === 0 ? "" : `, on branch ${branch}`}. ` +
      `${plural(leases.given, "lease")}, ${count(leases.open)} open, ${count(leases.overdue)} overdue, ` +
      `${count(leases.lost)} lost; ` +
      (horizonSeconds === null ? "" : `rewards count for ${duration(horizonSeconds)}; `) +
      `${spentUsd === null ? "spending unknown, as the proposer's model has no price" : `$${spentUsd.toFixed(2)} spent`}.`,
    columns
  ),
  ...Text.wrap(`Incumbent ${incumbent.instruction.id}: ${incumbent.why}`, columns),
  ...Text.wrap(`Next: ${next}.`, columns),
  "",
  ...Text.table([
    ["instruction", "standing", "share", "best", "mean", "low", "high", "to seed", "low", "high", "rewards", "missing"],
    ...members.map(({ chance, estimate, id, probability, standing, toSeed }) => [
      id,
      standing,
      percent(probability),
      percent(chance),
      figure(estimate.mean),
      figure(estimate.low),
      figure(estimate.high),
      figure(toSeed?.mean ?? null),
      figure(toSeed?.low ?? null),
      figure(toSeed?.high ?? null),
      count(estimate.samples),
      percent(estimate.missing)
    ])
  ])
]

const figure = (value: number | null): string => (value === null ? "–" : value.toFixed(3))

/** Shows the parent of each instruction, the difference between them, and why it was removed. */
export const lineage = Effect.fn("Served.lineage")(function* (place: Place) {
  const { log } = yield* read(place)
  const populationLog = log.reduce((before, { at, event }) => {
    const summary = Summary.summarize(event)
    return summary === null ? before : append(before, summary, View.isoTime(at))
  }, empty)
  const members = membersOf(populationLog)
  const { directory, name } = place
  yield* Reporter.printStyled({ directory, name, instructions: [...members.values()] }, (style) =>
    lineageLines(
      Array.from(members.values(), (member) => ({
        id: member.id,
        parent: member.parent,
        title: `${member.id}${member.id === populationLog.history.incumbent ? ", the incumbent" : ""}: ${fate(member)}`,
        text: Text.said(member.content)
      })),
      style
    )
  )
})

const fate = ({ bornAfter, entered, left, parent }: MemberHistory): string =>
  [
    `${entered}${parent === null ? "" : ` from ${parent}`}${bornAfter === 0 ? "" : ` after ${bornAfter} cohorts`}`,
    ...(left === null ? [] : [`left after ${left.after} cohorts: ${left.why}`])
  ].join("; ")
