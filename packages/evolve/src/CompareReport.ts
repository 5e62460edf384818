/** The page of a comparison in Markdown, for people and for pull requests. */
import { MarkdownText } from "@inspo/domain"
import type { Conclude } from "@inspo/evolution"
import type { Changed, Compared, Facts, Noise, Verdict } from "./CompareResult.ts"
import type { Prompt } from "./Setup.ts"
import { casesOf, dollars, interval, lost, percent, points, short } from "./SearchView.ts"

/** The result of a comparison. */
export interface CompareResult extends Facts {
  /** The result as a page of Markdown. */
  readonly report: () => string
}

export const withReport = (facts: Facts): CompareResult => ({ ...facts, report: () => markdown(facts) })

const titles: Readonly<Record<Verdict, string>> = {
  better: "Better",
  "no-worse": "No worse",
  worse: "Worse",
  undecided: "Undecided"
}

const markdown = (result: Facts): string => {
  const { candidates, control } = result
  const [only] = candidates
  return [
    `# ${candidates.length === 1 && only !== undefined ? titles[only.verdict] : "Comparison with the control"}`,
    "",
    ...candidates.map((one) => `${candidates.length === 1 ? "" : `- ${name(one.prompt)}: `}${sentence(result, one)}`),
    "",
    "| prompt | verdict | score | difference in points, 90 % interval | cases | better | worse |",
    "| --- | --- | ---: | ---: | ---: | ---: | ---: |",
    `| ${name(control.prompt)} (control) | | ${share(control.score)} | | | | |`,
    ...candidates.map(
      ({ cases, gain, improved, prompt, score, verdict, worsened }) =>
        `| ${name(prompt)} | ${titles[verdict]} | ${share(score)} | ${interval(gain)} | ${cases} | ${improved.length} | ${worsened.length} |`
    ),
    "",
    "```text",
    ...candidates.flatMap((one) => figure(result, one)),
    "```",
    "",
    costs(result),
    ...(result.lost.calls === 0 ? [] : ["", lost(result.lost)]),
    ...candidates.flatMap((one) => constraints(candidates.length, one)),
    ...candidates.flatMap((one) => [
      ...changes("Protected cases that it fails", candidates.length, one, one.lost),
      ...changes("Cases that got worse", candidates.length, one, one.worsened),
      ...changes("Cases that got better", candidates.length, one, one.improved)
    ]),
    ""
  ].join("\n")
}

/** What was found of a candidate, in words. */
export const sentence = ({ control, margin, samples }: Facts, compared: Compared): string => {
  const { cases, gain, missing, needed, noise, score, sessions, verdict } = compared
  if (cases === 0) return "No case was answered under both prompts, so nothing is known."
  const size = points(margin)
  const broken = compared.constraints.filter(({ isMet }) => isMet === false)
  const unknown = compared.constraints.filter(({ isMet }) => isMet === null)
  const against = [
    ...(compared.lost.length === 0
      ? []
      : [
          `It fails ${compared.lost.length} protected ${compared.lost.length === 1 ? "case" : "cases"} that the control solves.`
        ]),
    ...broken.map(({ constraint }) => `It breaks ${constraint}.`)
  ]
  const found = {
    better: "It is better than the control.",
    "no-worse": `It is no worse than the control by more than ${size} points.`,
    worse: "It is worse than the control.",
    undecided: `It is not known whether it is better, worse, or no worse by more than ${size} points.`
  }[verdict]
  return [
    ...(noise !== null ? [aboutNoise(noise, cases, size)] : against.length > 0 ? against : [found]),
    ...(against.length > 0
      ? []
      : [
          ...unknown.map(({ constraint }) => `It is not known whether ${constraint} holds.`),
          ...(compared.open === 0 ? [] : [`${compared.open} protected cases are not answered often enough.`])
        ]),
    `On ${casesOf(cases, sessions)} the control scores ${share(control.score)}, the candidate ${share(score)}: ${interval(gain)} points at 90 %.`,
    ...(needed === null
      ? verdict === "undecided"
        ? ["More cases like these would hardly decide it."]
        : []
      : [
          `About ${needed.sessions} different ${sessions < cases ? "sessions" : "cases"}${samples === 1 ? "" : `, each answered ${samples} times`}, ${needed.calls} calls in all, would decide if they are like these.`
        ]),
    ...(missing === 0 ? [] : [`${missing} scores are missing; each counts as what speaks against the claim.`])
  ].join(" ")
}

const aboutNoise = (
  { casesForMargin, difference, falseAlarms, falseAlarmsOfMeans }: Noise,
  cases: number,
  size: string
) =>
  `The candidate is the control: two answers to one case differ by ${points(difference)} points on average. ` +
  `Of comparisons of the control with itself on ${cases} cases, ${percent(falseAlarms)} see a difference here; ` +
  `${percent(falseAlarmsOfMeans)} do where any difference of the means counts. ` +
  (casesForMargin === null
    ? `No number of cases shows ${size} points.`
    : `About ${casesForMargin} cases show that an equal prompt is no worse by more than ${size} points.`)

const constraints = (of: number, { constraints: all, prompt }: Compared): ReadonlyArray<string> =>
  all.length === 0
    ? []
    : [
        "",
        `## Constraints${of === 1 ? "" : `: ${name(prompt)}`}`,
        "",
        "| at most | found, 90 % interval | |",
        "| --- | ---: | --- |",
        ...all.map(({ constraint, isMet, isShare, lower, upper, value }) => {
          const [found, low, high] = [value, lower, upper].map((one) => (isShare ? percent(one) : one.toPrecision(3)))
          return `| ${MarkdownText.code(constraint)} | ${found} [${low}, ${high}] | ${isMet === null ? "undecided" : isMet ? "holds" : "broken"} |`
        })
      ]

/** The evidence over the calls: each row a claim, each column a look, a full block the bound. */
const figure = ({ bound, margin }: Facts, { course }: Compared): ReadonlyArray<string> => {
  const rows: ReadonlyArray<readonly [string, Conclude.Claim]> = [
    ["better", "better"],
    [`no worse by ${points(margin)}`, "no-worse"],
    ["worse", "worse"]
  ]
  const last = course.at(-1)
  if (last === undefined) return []
  const width = Math.min(columns, course.length)
  const shown = Array.from({ length: width }, (_, at) => course[Math.ceil(((at + 1) * course.length) / width) - 1])
  return [
    `evidence over ${last.calls} calls; █ is enough (10^${bound.toFixed(1)})`,
    ...rows.map(([title, claim]) => {
      const bars = shown.map((look) => {
        const level = Math.max(0, (look?.evidence[claim] ?? 0) / bound)
        return blocks[Math.min(blocks.length - 1, Math.floor(level * (blocks.length - 1)))] ?? ""
      })
      const most = Math.max(...course.map(({ evidence }) => evidence[claim]))
      return `${title.padEnd(20)}${bars.join("")} 10^${Math.max(0, most).toFixed(1)} at most`
    })
  ]
}

const columns = 40
const blocks = "▁▂▃▄▅▆▇█"

/** What it cost, in words. */
export const costs = ({ cached, calls, cases, isCut, looks, samples, usd }: Facts): string =>
  `${calls} calls of the agent, ${dollars(usd)} as far as prices were reported; ` +
  (cached === 0 ? "" : `${cached} answers are those of earlier comparisons, and were not paid for again; `) +
  `${cases.asked} of ${cases.given} cases asked${samples === 1 ? "" : `, ${samples} times each`}` +
  (cases.repeated === 0 ? "" : `, ${cases.repeated} repeat others and were left out`) +
  (isCut ? ". The budget ended it" : "") +
  (looks === "final"
    ? ". It looked once, at the end."
    : ". It looked after every few cases, which the interval allows for.")

const changes = (title: string, of: number, { prompt }: Compared, all: ReadonlyArray<Changed>): ReadonlyArray<string> =>
  all.length === 0
    ? []
    : [
        "",
        `## ${title}${of === 1 ? "" : `: ${name(prompt)}`}`,
        "",
        ...all
          .slice(0, most)
          .map(
            ({ candidate, case: one, control }) =>
              `- ${percent(control)} → ${percent(candidate)}: ${MarkdownText.code(short(one))}`
          ),
        ...(all.length > most ? ["", `And ${all.length - most} more.`] : [])
      ]

const most = 10

const share = (value: number | null): string => (value === null ? "–" : percent(value))

const name = (prompt: Prompt): string => {
  const text = (typeof prompt === "string" ? prompt : Object.values(prompt).join(" · ")).replace(/\s+/gu, " ").trim()
  return MarkdownText.inline(text.length <= 60 ? text : `…${text.slice(-59)}`)
}
