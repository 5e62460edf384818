/** What stands of served populations, told in a terminal. */
import { count, duration, plural } from "@inspo/dashboard/Format"
import { wordDiff } from "@inspo/dashboard/WordDiff"
import { append, empty, type MemberHistory, membersOf } from "@inspo/dashboard/served/PopulationLog"
import type { Population } from "@inspo/serve"
import * as View from "@inspo/serve/live/View"
import { Effect } from "effect"
import { changeLines } from "../report/DiffReport.ts"
import * as Reporter from "../terminal/Reporter.ts"
import { paragraph, table } from "../terminal/Text.ts"
import { type Place, read } from "./Stored.ts"

/** Tells how populations stand, as the server's API does. */
export const show = Effect.fn("Served.show")(function* (places: ReadonlyArray<Place>, json: boolean) {
  const populations = yield* Effect.forEach(places, (place) =>
    Effect.map(read(place), ({ degraded, skipped, spentUsd, state }) => ({
      directory: place.directory,
      incumbent: View.incumbent(state),
      population: View.population({ name: place.name, spentUsd, capUsd: null, degraded, skipped }, state)
    }))
  )
  yield* Reporter.print(json, { populations }, (columns) =>
    populations.flatMap(({ incumbent, population }, index) => [
      ...(index === 0 ? [] : [""]),
      ...standing(population, incumbent, columns)
    ])
  )
})

const standing = (
  { branch, generation, horizonSeconds, leases, members, name, next, profile, spentUsd, state }: Population.Population,
  incumbent: Population.Incumbent,
  columns: number
): ReadonlyArray<string> => [
  ...paragraph(
    `${name}: ${state.replace("-", " ")}, ${profile}, evolved ${plural(generation, "time")}${branch === 0 ? "" : `, on branch ${branch}`}. ` +
      `${count(leases.given)} leases, ${count(leases.open)} open, ${count(leases.overdue)} overdue, ` +
      `${count(leases.lost)} lost; ` +
      (horizonSeconds === null ? "" : `rewards are waited for ${duration(horizonSeconds)}; `) +
      `${spentUsd === null ? "spending unknown, as the proposer's model has no price" : `$${spentUsd.toFixed(2)} spent`}.`,
    "",
    columns
  ),
  ...paragraph(`Incumbent ${incumbent.instruction.id}: ${incumbent.why}`, "", columns),
  ...paragraph(`Next: ${next}.`, "", columns),
  "",
  ...table([
    ["instruction", "standing", "share", "mean", "low", "high", "rewards", "missing"],
    ...members.map(({ estimate, id, probability, standing }) => [
      id,
      standing,
      probability.toFixed(3),
      figure(estimate.mean),
      figure(estimate.low),
      figure(estimate.high),
      count(estimate.samples),
      estimate.missing.toFixed(3)
    ])
  ])
]

const figure = (value: number | null): string => (value === null ? "-" : value.toFixed(3))

/** Tells which instruction came from which, what differs between them, and why each left that did. */
export const lineage = Effect.fn("Served.lineage")(function* (place: Place, json: boolean) {
  const { log } = yield* read(place)
  const told = log.reduce((before, { at, event }) => append(before, event, View.isoTime(at)), empty)
  const stories = membersOf(told)
  const { directory, name } = place
  yield* Reporter.printStyled(json, { directory, name, instructions: [...stories.values()] }, (style) =>
    lineageLines(stories, told.history.incumbent, style)
  )
})

const lineageLines = (
  stories: ReadonlyMap<string, MemberHistory>,
  incumbent: string | null,
  style: Reporter.Style
): ReadonlyArray<string> =>
  [...stories.values()].flatMap((story, index) => {
    const parent = story.parent === null ? undefined : stories.get(story.parent)
    return [
      ...(index === 0 ? [] : [""]),
      ...paragraph(`${story.id}${story.id === incumbent ? ", the incumbent" : ""}: ${fate(story)}`, "", style.columns),
      ...(parent === undefined
        ? paragraph(said(story), "    ", style.columns)
        : changeLines(wordDiff(said(parent), said(story)), style, "    "))
    ]
  })

const fate = ({ bornAfter, entered, left, parent, trial }: MemberHistory): string =>
  [
    `${entered}${parent === null ? "" : ` from ${parent}`}${bornAfter === 0 ? "" : ` after ${bornAfter} cohorts`}`,
    ...(trial === null ? [] : [`trial: ${trial}`]),
    ...(left === null ? [] : [`left after ${left.after} cohorts: ${left.why}`])
  ].join("; ")

const said = ({ content }: MemberHistory): string =>
  typeof content === "string"
    ? content
    : Object.entries(content)
        .map(([name, text]) => `${name}: ${text}`)
        .join("\n")
