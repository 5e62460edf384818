/** The result as a page of Markdown, in which no text of a model is markup: the verdict, the change, the evidence, and what still fails. */
import * as MarkdownText from "@inspo/domain/MarkdownText"
import { diffWordsWithSpace } from "diff"
import { interval, percent, points, sentence, titles } from "./Conclusion.ts"
import { dollars, lost } from "./Dollars.ts"
import type { Prompt } from "./Options.ts"
import type { EvolveResult } from "./EvolveResult.ts"
import type { Summary } from "./Snapshot.ts"

export const markdown = <P extends Prompt, Case>(
  result: Omit<EvolveResult<P, Case>, "report">,
  test: Summary["test"],
  minimalGain: number
): string =>
  [
    `# ${titles[result.verdict]}`,
    "",
    sentence({ ...result, test, minimalGain }, result.tried.length - 1),
    ...(result.finalist === null
      ? []
      : [
          "",
          result.verdict === "better" ? "## What changed" : "## What was tested",
          "",
          ...changes(result.tried[0]?.prompt ?? "", result.finalist)
        ]),
    "",
    "## Prompts that were tried",
    "",
    "| prompt | score | cases | gain over the original, 95 % interval |",
    "| --- | ---: | ---: | ---: |",
    ...result.tried.map(
      ({ cases, gain, prompt, score }, place) =>
        `| ${place === 0 ? "the original" : MarkdownText.inline(excerpt(prompt))} | ${score === null ? "–" : percent(score)} | ${cases} | ${gain === null ? "–" : interval(gain)} |`
    ),
    "",
    `${result.calls} calls of the agent, ${dollars(result.usd)} as far as prices were reported. ${result.cases.search} cases for the ` +
      `search, ${result.cases.test} held out for the test` +
      (result.cases.repeated === 0 ? "." : `; ${result.cases.repeated} repeat others and were left out.`) +
      (result.scoreNoise === null
        ? ""
        : ` A second score of the same output differs by ${points(result.scoreNoise)} points on average` +
          (result.scoreNoise > 0 && result.gain !== null
            ? ", so each output of the test was scored three times, as far as the budget allowed."
            : ".")),
    ...(result.lost.calls === 0 ? [] : ["", lost(result.lost)]),
    ...(result.failing.length === 0
      ? []
      : [
          "",
          "## Cases that still fail",
          "",
          ...result.failing
            .slice(0, mostFailing)
            .map(
              ({ case: one, output, score }) =>
                `- ${percent(score)}: ${MarkdownText.code(short(one))} gave ${MarkdownText.code(short(output))}`
            ),
          ...(result.failing.length > mostFailing ? ["", `And ${result.failing.length - mostFailing} more.`] : [])
        ]),
    ...(result.rejected.length + result.failures.length === 0
      ? []
      : [
          "",
          "## What went wrong",
          "",
          ...counted([
            ...result.rejected.map(({ reason, text }) => `rejected (${reason}): ${MarkdownText.inline(short(text))}`),
            ...result.failures.map((failure) => MarkdownText.inline(short(failure)))
          ])
        ]),
    ""
  ].join("\n")

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
