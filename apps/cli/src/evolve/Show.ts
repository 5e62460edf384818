/** Shows a search for a better prompt, or a comparison of prompts, in a terminal. */
import {
  Text,
  count,
  dollars,
  duration,
  inPoints,
  inTreeOrder,
  inWords,
  percent,
  plural,
  points,
  wordDiff
} from "@inspo/report"
import { PlainText } from "@inspo/domain"
import { statusOf } from "@inspo/dashboard/projection/Search"
import * as Conclusion from "@inspo/evolve/SearchView"
import type { SearchView, Tried } from "@inspo/evolve/SearchView"
import { Stored } from "@inspo/evolve/parts"
import { Clock, Effect, FileSystem, Option } from "effect"
import { commandFailure, oneLine, usageError } from "../Failure.ts"
import { changeLines } from "../report/DiffReport.ts"
import { nodeLines } from "../report/LineageReport.ts"
import * as Reporter from "../terminal/Reporter.ts"
import * as Progress from "./Progress.ts"

export const show = Effect.fn("Search.show")(function* (directory: string, file: string) {
  const stored = yield* read(file)
  if (stored._tag === "Comparison") {
    const { isDone, result } = stored
    const { report, ...document } = { directory, isDone, ...result }
    return yield* Reporter.print(document, () => [
      ...(isDone ? [] : [`${directory}: not finished; the same command continues it.`]),
      report()
    ])
  }
  const { view } = stored
  const { at, now } = yield* times(file)
  const status = statusOf(view, at, now)
  const idle = at === null ? null : now - at
  yield* Reporter.printStyled({ directory, status, ...view }, (style) => [
    ...headLines(directory, view, status, idle, style.columns),
    ...promptLines(view, style),
    "",
    ...memberLines(view),
    ...rejectedLines(view, style.columns),
    ...failingLines(view, style.columns)
  ])
})

const headLines = (
  directory: string,
  view: SearchView,
  status: ReturnType<typeof statusOf>,
  idle: number | null,
  columns: number
): ReadonlyArray<string> => {
  const { budgetUsd, cases, identity, tried, usd, verdict } = view
  const gain = find(view, view.leader)?.gain?.mean ?? null
  return [
    ...Text.wrap(
      verdict === null
        ? `${directory}: ${
            status === "running"
              ? "running"
              : `not finished${idle === null ? "" : `, and nothing was written for ${duration(idle / 1000)}`}; the same command continues it`
          }.`
        : `${directory}: ${Conclusion.titles[verdict]}. ${Conclusion.sentence(view, tried.length - 1)}`,
      columns
    ),
    ...Text.wrap(
      [
        Progress.line({ ...view, prompts: tried.length, gain }, false),
        ...(usd === 0 && budgetUsd === null
          ? []
          : [`${dollars(usd)} spent${budgetUsd === null ? "" : ` of ${dollars(budgetUsd)}`}`]),
        `${cases.search} cases for the search, ${cases.test} held out.`
      ].join("; "),
      columns
    ),
    ...Text.wrap(
      // A digest of texts says nothing to a reader.
      Object.entries(identity)
        .filter(([, value]) => value.length < 64)
        .map(([name, value]) => `${name} ${value}`)
        .join(", "),
      columns
    )
  ]
}

const find = ({ tried }: SearchView, id: string): Tried | undefined => tried.find((one) => one.id === id)

/** The prompt to use, and how the one that was tested, or leads, differs from the one that was given. */
const promptLines = (view: SearchView, style: Reporter.Style): ReadonlyArray<string> => {
  const { leader, prompt, test, tried } = view
  const [given] = tried
  const other = find(view, test?.finalist ?? leader)
  return [
    "",
    ...Text.wrap(`Prompt in use: ${prompt}${prompt === given.id ? ", the one that was given" : ""}`, style.columns),
    ...(other === undefined || other.id === given.id
      ? Text.paragraph(Text.said(given.content), "    ", style.columns)
      : [
          ...(other.id === prompt
            ? []
            : Text.wrap(`${test === null ? "In the lead" : "Tested"}: ${other.id}`, style.columns)),
          ...changeLines(wordDiff(Text.said(given.content), Text.said(other.content)), style, "    ")
        ])
  ]
}

const memberLines = ({ prompt, tried }: SearchView): ReadonlyArray<string> => {
  const members = tried.filter(({ left }) => left === null)
  const removed = tried.length - members.length
  return [
    ...Text.table([
      ["prompt", "cases", "score", "P(best)", "gain, points", "low", "high"],
      ...members.map(({ cases, chance, gain, id, score }, place) => [
        `${id}${place === 0 ? ", given" : ""}${id === prompt ? ", in use" : ""}`,
        count(cases),
        percent(score),
        percent(chance),
        figure(gain?.mean),
        figure(gain?.lower),
        figure(gain?.upper)
      ])
    ]).map(PlainText.escape),
    ...(removed === 0 ? [] : [`${plural(removed, "other prompt")} left the search; --lineage shows all.`])
  ]
}

const figure = (value: number | undefined): string => (value === undefined ? "–" : points(value))

const rejectedLines = ({ failures, rejected }: SearchView, columns: number): ReadonlyArray<string> => {
  const reasons = Map.groupBy(rejected, ({ reason }) => reason)
  const repeated = Map.groupBy(failures, (failure) => failure)
  return [
    ...(rejected.length === 0 ? [] : ["", `${plural(rejected.length, "proposal")} broke a rule:`]),
    ...[...reasons].flatMap(([reason, own]) => Text.paragraph(`${own.length} × ${inWords(reason)}`, "  ", columns)),
    ...(failures.length === 0 ? [] : ["", `${plural(failures.length, "request")} failed:`]),
    ...[...repeated]
      .slice(0, most)
      .flatMap(([failure, own]) => Text.paragraph(`${own.length} × ${failure}`, "  ", columns))
  ]
}

/** The worst of the failing cases. */
const failingLines = ({ failing, leader, prompt, verdict }: SearchView, columns: number): ReadonlyArray<string> =>
  failing.length === 0
    ? []
    : [
        "",
        ...Text.wrap(
          `${plural(failing.length, "answer")} under ${verdict === null ? leader : prompt} scored below 100 %:`,
          columns
        ),
        ...failing
          .toSorted((one, other) => one.score - other.score)
          .slice(0, most)
          .map(({ case: one, output, score }) =>
            Text.clip(`  ${percent(score, 0)}  ${inline(one)} → ${inline(output)}`, columns)
          ),
        ...(failing.length > most ? [`  and ${failing.length - most} more`] : [])
      ]

const inline = (value: unknown): string =>
  (typeof value === "string" ? value : JSON.stringify(value)).replaceAll(/\s+/gu, " ").trim()

const most = 10

/** Shows which prompt came from which, the differences, and why some left; then the proposals that broke a rule. */
export const lineage = Effect.fn("Search.lineage")(function* (directory: string, file: string) {
  const stored = yield* read(file)
  if (stored._tag === "Comparison")
    return yield* usageError(`${directory} holds a comparison, whose prompts have no lineage. Leave out --lineage.`)
  const { view } = stored
  const { rejected, tried } = view
  const document = { directory, prompts: tried, rejected }
  yield* Reporter.printStyled(document, (style) => [
    directory,
    ...inTreeOrder(tried.map((one) => ({ ...one, key: one.id }))).flatMap((one) => [
      "",
      ...nodeLines(
        {
          title: `${one.id}${one.id === view.prompt ? ", in use" : ""}: ${fate(one)}`,
          text: Text.said(one.content),
          from: parentOf(tried, one)
        },
        style,
        "  ".repeat(Math.min(one.depth, deepest))
      )
    ]),
    ...[...Map.groupBy(rejected, ({ reason }) => reason)].flatMap(([reason, own]) => [
      "",
      ...Text.wrap(`rejected, ${own.length} ×: ${inWords(reason)}`, style.columns),
      ...[...new Set(own.map(({ text }) => text))].flatMap((text) => Text.paragraph(text, "    ", style.columns))
    ])
  ])
})

const parentOf = (tried: SearchView["tried"], { parent }: Tried): string | null => {
  const found = tried.find(({ id }) => id === parent)
  return found === undefined ? null : Text.said(found.content)
}

const deepest = 8

const fate = ({ cases, enteredAfter, gain, left, parent, score }: Tried): string =>
  [
    parent === null ? "the one that was given" : `from ${parent} after round ${enteredAfter}`,
    score === null ? "not asked" : `${percent(score)} on ${plural(cases, "case")}`,
    ...(gain === null ? [] : [inPoints(gain.mean, [gain.lower, gain.upper])]),
    ...(left === null ? [] : [`left after round ${left.after}: ${inWords(left.reason)}`])
  ].join(", ")

/** What is in the file of a search or a comparison now. */
const read = (file: string) =>
  Effect.mapError(Stored.read(file), (cause) =>
    commandFailure(
      `${oneLine(cause.message)}. Name the directory of an \`inspo evolve\` or \`inspo compare\`, or its events.jsonl; restore ` +
        "a damaged file from a copy.",
      cause
    )
  )

/** When a file was last written, null if that is not known, and the present; in milliseconds since 1970. */
const times = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const at = yield* Effect.match(fs.stat(file), {
    onFailure: () => null,
    onSuccess: ({ mtime }) => Option.match(mtime, { onNone: () => null, onSome: (date) => date.getTime() })
  })
  return { at, now: yield* Clock.currentTimeMillis }
})
