/** The result of a search: the view of it, with the prompts and the cases that the user gave, and as a page of Markdown. */
import { type Instruction, Invariant, MarkdownText } from "@inspo/domain"
import { diffWordsWithSpace } from "diff"
import { Struct } from "effect"
import type { Prompt } from "./Setup.ts"
import {
  dollars,
  type Gain,
  interval,
  lost,
  percent,
  points,
  type SearchView,
  sentence,
  short,
  titles
} from "./SearchView.ts"

/** A prompt that was tried. `gain` is over the original, by the cases of the search. */
export interface Tried<P extends Prompt> {
  readonly prompt: P
  readonly parent: P | null
  readonly score: number | null
  readonly cases: number
  readonly gain: Gain | null
}

/** What a result and the view of a search have in common. */
const common = [
  "largestPossibleGain",
  "callsNeeded",
  "calls",
  "usd",
  "lost",
  "scoreNoise",
  "rejected",
  "failures"
] as const satisfies ReadonlyArray<keyof SearchView>

export interface EvolveResult<P extends Prompt, Case> extends Pick<SearchView, (typeof common)[number]> {
  /** The prompt that was given, unless another one is shown to be better, or what `aim` says. It is exactly the text that was scored. */
  readonly prompt: P
  readonly verdict: NonNullable<SearchView["verdict"]>
  /** The gain of the finalist over the original on held-out cases, with its 90 % interval; null if nothing was tested. */
  readonly gain: Gain | null
  /** The prompt that was tested; null if none led. */
  readonly finalist: P | null
  /** Protected cases that the prompt that led is shown to fail, and the original to solve. */
  readonly failsProtected: ReadonlyArray<Case>
  /** Cases of the search and of the test, and those that repeat another one. */
  readonly cases: SearchView["cases"] & { readonly repeated: number }
  /** All prompts, the original first. */
  readonly tried: ReadonlyArray<Tried<P>>
  /** Cases that score below 1 under `prompt`, with the output. */
  readonly failing: ReadonlyArray<{ readonly case: Case; readonly score: number; readonly output: unknown }>
  /** The result as a page of Markdown. */
  readonly report: () => string
}

/** The result of a search that is done, where `repeated` cases are left out. */
export const make = <Case>(
  view: SearchView,
  cases: ReadonlyArray<Case>,
  repeated: number
): EvolveResult<Prompt, Case> => {
  const { test } = view
  const contents = new Map(view.tried.map(({ content, id }) => [id, content]))
  const find = (id: Instruction.InstructionId): Prompt => Invariant.get(contents, id, "the prompt")
  const caseOf = (index: number): Case => Invariant.at(cases, index, "case")
  return {
    prompt: find(view.prompt),
    verdict: view.verdict ?? "undecided",
    gain: test?.gain ?? null,
    finalist: test === null ? null : find(test.finalist),
    failsProtected: (view.protected?.lost ?? []).map(caseOf),
    ...Struct.pick(view, common),
    cases: { ...view.cases, repeated },
    tried: view.tried.map(({ cases: asked, gain, id, parent, score }) => ({
      prompt: find(id),
      parent: parent === null ? null : find(parent),
      score,
      cases: asked,
      gain
    })),
    failing: view.failing.map(({ index, output, score }) => ({ case: caseOf(index), score, output })),
    report: () => markdown(view, caseOf, repeated)
  }
}

/** The page of a search that is done; `caseOf` is a case as it was given, and `repeated` cases were left out. */
const markdown = (view: SearchView, caseOf: (index: number) => unknown, repeated: number): string => {
  const { cases, failing, scoreNoise, test, tried, verdict } = view
  const finalist = tried.find(({ id }) => id === test?.finalist)
  return [
    `# ${titles[verdict ?? "undecided"]}`,
    "",
    sentence(view, tried.length - 1),
    ...(finalist === undefined
      ? []
      : [
          "",
          view.prompt === finalist.id ? "## What changed" : "## What was tested",
          "",
          ...changes(tried[0].content, finalist.content)
        ]),
    ...(view.protected?.lost ?? []).flatMap((index) => ["", MarkdownText.code(short(caseOf(index)))]),
    "",
    "## Prompts that were tried",
    "",
    "| prompt | score | cases | gain over the original, 95 % interval |",
    "| --- | ---: | ---: | ---: |",
    ...tried.map(
      ({ cases: asked, content, gain, score }, index) =>
        `| ${index === 0 ? "the original" : MarkdownText.inline(excerpt(content, tried[0].content))} | ${score === null ? "–" : percent(score)} | ${asked} | ${gain === null ? "–" : interval(gain)} |`
    ),
    "",
    `${view.calls} calls of the agent, ${dollars(view.usd)} as far as prices were reported. ${cases.search} cases for the ` +
      `search, ${cases.test} held out for the test` +
      (repeated === 0 ? "." : `; ${repeated} repeat others and were left out.`) +
      (scoreNoise === null
        ? ""
        : ` A second score of the same output differs by ${points(scoreNoise)} points on average` +
          (scoreNoise > 0 && test !== null
            ? ", so each output of the test was scored three times, as far as the budget allowed."
            : ".")),
    ...(view.lost.calls === 0 ? [] : ["", lost(view.lost)]),
    ...(failing.length === 0
      ? []
      : [
          "",
          "## Cases that still fail",
          "",
          ...failing
            .slice(0, mostFailing)
            .map(
              ({ index, output, score }) =>
                `- ${percent(score)}: ${MarkdownText.code(short(caseOf(index)))} gave ${MarkdownText.code(short(output))}`
            ),
          ...(failing.length > mostFailing ? ["", `And ${failing.length - mostFailing} more.`] : [])
        ]),
    ...(view.rejected.length + view.failures.length === 0
      ? []
      : [
          "",
          "## What went wrong",
          "",
          ...counted([
            ...view.rejected.map(({ reason, text }) => `rejected (${reason}): ${MarkdownText.inline(short(text))}`),
            ...view.failures.map((failure) => MarkdownText.inline(short(failure)))
          ])
        ]),
    ""
  ].join("\n")
}

/** Equal lines once, with how many there are. */
const counted = (all: ReadonlyArray<string>): ReadonlyArray<string> => {
  const counts = new Map<string, number>()
  for (const line of all) counts.set(line, (counts.get(line) ?? 0) + 1)
  return [...counts].map(([line, count]) => `- ${count === 1 ? "" : `${count} × `}${line}`)
}

/** Each text with what was added in bold and what was removed struck out. */
const changes = (before: Prompt, after: Prompt): ReadonlyArray<string> => {
  if (typeof before === "string" || typeof after === "string") return quoted(textOf(before), textOf(after))
  return Object.entries(after).flatMap(([name, text]) =>
    text === before[name] ? [] : [`${MarkdownText.code(name)}:`, "", ...quoted(before[name] ?? "", text), ""]
  )
}

const quoted = (before: string, after: string): ReadonlyArray<string> =>
  diffWordsWithSpace(before, after)
    .map(({ added, removed, value }) => {
      const mark = added ? "**" : removed ? "~~" : ""
      return value
        .split(/\r?\n/u)
        .map((part) => marked(mark, part))
        .join("\n")
    })
    .join("")
    .split("\n")
    .map((line) => `> ${MarkdownText.begin(line)}`)

/** A part of a line between marks, which count only next to what is no white space. */
const marked = (mark: string, part: string): string => {
  const text = part.trim()
  return text === "" ? part : part.replace(text, () => `${mark}${MarkdownText.within(text)}${mark}`)
}

const textOf = (prompt: Prompt): string => (typeof prompt === "string" ? prompt : JSON.stringify(prompt, null, 2))

/** The end of a prompt; of several texts, the ends of those that were changed. */
const excerpt = (prompt: Prompt, original: Prompt): string => {
  const changed =
    typeof prompt === "string" || typeof original === "string"
      ? [["", textOf(prompt)] as const]
      : Object.entries(prompt).filter(([name, text]) => text !== original[name])
  const most = Math.floor(90 / Math.max(1, changed.length))
  return changed
    .map(([name, written]) => {
      const text = written.replace(/\s+/gu, " ").trim()
      return `${name === "" ? "" : `${name}: `}${text.length <= most ? text : `…${text.slice(1 - most)}`}`
    })
    .join("; ")
}

const mostFailing = 10
