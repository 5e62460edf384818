/** The result as a page of Markdown: the verdict, the change, the evidence, and what still fails. */
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
        `| ${place === 0 ? "the original" : cell(excerpt(prompt))} | ${score === null ? "–" : percent(score)} | ${cases} | ${gain === null ? "–" : interval(gain)} |`
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
            .flatMap(({ case: one, output, score }) => [
              `- ${percent(score)}: \`${inline(one)}\` gave \`${inline(output)}\``
            ]),
          ...(result.failing.length > mostFailing ? ["", `And ${result.failing.length - mostFailing} more.`] : [])
        ]),
    ...(result.rejected.length + result.failures.length === 0
      ? []
      : [
          "",
          "## What went wrong",
          "",
          ...counted([
            ...result.rejected.map(({ reason, text }) => `rejected (${reason}): ${inline(text)}`),
            ...result.failures.map(inline)
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
  if (typeof before === "string" || typeof after === "string") return [quoted(diffOf(textOf(before), textOf(after)))]
  return Object.entries(after).flatMap(([name, text]) =>
    text === before[name] ? [] : [`\`${name}\`:`, "", quoted(diffOf(before[name] ?? "", text)), ""]
  )
}

const diffOf = (before: string, after: string): string =>
  diffWordsWithSpace(before, after)
    .map(({ added, removed, value }) => (added ? marked("**", value) : removed ? marked("~~", value) : value))
    .join("")

const marked = (mark: string, value: string): string =>
  value.replace(/^(\s*)([\s\S]*?)(\s*)$/u, (_, left: string, text: string, right: string) =>
    text === "" ? `${left}${right}` : `${left}${mark}${text}${mark}${right}`
  )

const quoted = (text: string): string =>
  text
    .split("\n")
    .map((line) => `> ${line}`)
    .join("\n")

const textOf = (prompt: Prompt): string => (typeof prompt === "string" ? prompt : JSON.stringify(prompt, null, 2))

const excerpt = (prompt: Prompt): string => {
  const text = textOf(prompt).replace(/\s+/gu, " ").trim()
  return text.length <= 90 ? text : `…${text.slice(-89)}`
}

const cell = (text: string): string => text.replaceAll("|", "\\|")

const inline = (value: unknown): string => {
  const text = (typeof value === "string" ? value : (JSON.stringify(value) ?? String(value))).replace(/[\s`]+/gu, " ")
  return text.length <= 160 ? text : `${text.slice(0, 159)}…`
}

const mostFailing = 10
