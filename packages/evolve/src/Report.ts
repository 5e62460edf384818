/** The result as a page of Markdown, in which no text of a model is markup: the verdict, the change, the evidence, and what still fails. */
import * as MarkdownText from "@inspo/domain/MarkdownText"
import { diffWordsWithSpace } from "diff"
import { dollars, interval, lost, percent, points, sentence, titles } from "./Conclusion.ts"
import type { Prompt } from "./Options.ts"
import type { SearchView } from "./SearchView.ts"

/** The page of a search that is done; `caseOf` is a case as it was given, and `repeated` cases were left out. */
export const markdown = (view: SearchView, caseOf: (index: number) => unknown, repeated: number): string => {
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
          verdict === "better" ? "## What changed" : "## What was tested",
          "",
          ...changes(tried[0].content, finalist.content)
        ]),
    "",
    "## Prompts that were tried",
    "",
    "| prompt | score | cases | gain over the original, 95 % interval |",
    "| --- | ---: | ---: | ---: |",
    ...tried.map(
      ({ cases: asked, content, gain, score }, index) =>
        `| ${index === 0 ? "the original" : MarkdownText.inline(excerpt(content))} | ${score === null ? "–" : percent(score)} | ${asked} | ${gain === null ? "–" : interval(gain)} |`
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

const excerpt = (prompt: Prompt): string => {
  const text = textOf(prompt).replace(/\s+/gu, " ").trim()
  return text.length <= 90 ? text : `…${text.slice(-89)}`
}

const short = (value: unknown): string => {
  const text = (typeof value === "string" ? value : (JSON.stringify(value) ?? String(value))).replace(/\s+/gu, " ")
  return text.length <= 160 ? text : `${text.slice(0, 159)}…`
}

const mostFailing = 10
