/** One run as one HTML document: no script, no network, every text escaped. */
import * as PlainText from "@inspo/domain/PlainText"
import { createElement as h, Fragment, type ReactElement, type ReactNode } from "react"
import { renderToStaticMarkup } from "react-dom/server"
import { capital, compact, count, dollars, duration, percent, plural, points, quantity } from "../Format.ts"
import { cost } from "../projection/Cost.ts"
import { lineage } from "../projection/Lineage.ts"
import { overview } from "../projection/Overview.ts"
import { population } from "../projection/Population.ts"
import * as Run from "../projection/Run.ts"
import type { RunNotes } from "../RunCatalog.ts"
import type { RunRecord } from "../RunRecord.ts"
import type { CostView } from "../view/CostView.ts"
import type { LineageView } from "../view/LineageView.ts"
import { measure } from "@inspo/reward/RewardConfig"
import { sourceLabel, trainingTitle } from "../view/Titles.ts"
import type { CellView, OverviewView } from "../view/OverviewView.ts"
import type { PopulationView } from "../view/PopulationView.ts"
import { wordDiff } from "../WordDiff.ts"
import * as Figure from "./Figure.ts"
import { ancestors } from "./Markdown.ts"
import { style } from "./Style.ts"

/** What a report is made of. `commands` reproduce the run, one a line. */
export interface Options {
  readonly name: string
  readonly record: RunRecord
  readonly ledger: Parameters<typeof cost>[1]
  readonly notes: RunNotes
  readonly commands: ReadonlyArray<string>
  /** When the last event of the run was committed, as YYYY-MM-DD; null where that is not known. */
  readonly date: string | null
}

/**
 * The report of a run, finished or not, as a self-contained HTML document. It depends on nothing but its input, so that
 * equal runs give equal bytes.
 */
export const html = ({ commands, date, ledger, name, notes, record }: Options): string => {
  const run = Run.run({ id: name, name }, record, unwritten, 0)
  const view = overview(run, record, notes)
  const people = population(record)
  const tree = lineage(record)
  const spent = cost(record, ledger, notes)
  const page = h(
    "html",
    { lang: "en" },
    h(
      "head",
      null,
      h("meta", { charSet: "utf-8" }),
      h("meta", { httpEquiv: "Content-Security-Policy", content: "default-src 'none'; style-src 'unsafe-inline'" }),
      h("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
      h("title", null, `${name}: report of a run of inspo${date === null ? "" : `, ${date}`}`),
      // The style is ours alone; nothing of a run is in it.
      h("style", { dangerouslySetInnerHTML: { __html: style } })
    ),
    h(
      "body",
      null,
      h("h1", null, `Report of the run ${name}`),
      h("p", { className: "muted" }, [...(date === null ? [] : [date]), task(record)].join(" · ")),
      h("p", { className: "lead" }, summary(view)),
      view.degraded.map((line) => h("p", { key: line }, h("strong", null, "Degraded: "), clip(line))),
      result(view),
      winner(view),
      curves(view),
      lives(people),
      descent(tree),
      everyone(tree),
      budget(spent, view),
      h(
        "section",
        null,
        h("h2", null, "Reproduce"),
        h("pre", null, commands.join("\n")),
        h("details", null, h("summary", null, "All settings"), settings(view))
      )
    )
  )
  return `<!doctype html>\n${PlainText.escape(renderToStaticMarkup(page))}\n`
}

/** What the policy was trained on, and how it is rewarded. */
const task = ({ config: { data, reward } }: RunRecord): string =>
  `${data.questions === null ? "generated world" : (data.questions.split(/[/\\]/u).at(-1) ?? data.questions)}, ${measure(reward)}`

/** A report does not tell when: equal runs have equal ones. */
const unwritten = { version: null, at: null, alive: null }

const summary = ({ baseline, cells, run, seed, best, trained }: OverviewView): string => {
  const before = cell(cells, "before", "seed")
  const after = cell(cells, "after", "best") ?? cell(cells, "after", "seed")
  const progress = `Seed ${run.seed ?? "–"}, ${run.step} of ${run.steps ?? "–"} steps, ${plural(run.born, "instruction")}.`
  if (before === undefined || after === undefined)
    return `${progress} ${run.status === "finished" ? "It was not evaluated." : "It is not finished."}`
  const against =
    baseline === null ? "" : ` The seed alone, trained on the same budget, reaches ${percent(baseline.em)}.`
  const which =
    seed !== null && best !== null && seed.id === best.id
      ? "under the seed, which stays the instruction to use"
      : `under ${best?.id ?? "the best instruction"}`
  const difference = after.mean - before.mean
  const course = difference > 0 ? "rose" : difference < 0 ? "fell" : "stayed"
  return (
    `${capital(trained.measure)} on ${count(after.n)} test questions ${course} ${difference === 0 ? "at" : `from ${percent(before.mean)}, before training under the seed, to`} ` +
    `${percent(after.mean)}, after training ${which} (${points(difference)} points).${against} ${progress}`
  )
}

const result = ({ baseline, cells, trained }: OverviewView): ReactNode => {
  if (cells.length === 0) return null
  const sources = [...new Set(cells.flatMap((entry) => Object.keys(entry.sources)))].sort()
  const row = (label: string, em: number, ci95: readonly [number, number], calls: string, isHeadline: boolean) =>
    h(
      "tr",
      { key: label, className: isHeadline ? "headline" : undefined },
      h("th", { scope: "row" }, label),
      h("td", { className: "num" }, percent(em)),
      h("td", { className: "num" }, `[${percent(ci95[0])}, ${percent(ci95[1])}]`),
      h("td", null, Figure.interval(em, ci95)),
      h("td", { className: "num" }, calls)
    )
  return h(
    "section",
    null,
    h("h2", null, "Held-out questions"),
    table(
      ["Policy, instruction", capital(trained.measure), "95 % interval", "0 to 100 %", "Tool calls"],
      [
        ...cells.map(({ ci95, instruction, mean, policy, role, toolCalls }) =>
          row(
            `${policy} training, ${role} ${instruction}`,
            mean,
            ci95,
            toolCalls.toFixed(2),
            policy === "after" && role === "best"
          )
        ),
        ...(baseline === null ? [] : [row("static baseline, seed", baseline.em, baseline.ci95, "–", false)])
      ],
      `${count(cells[0]?.n ?? 0)} questions, one answer each. Intervals are Wilson's, with the question as their unit.`,
      [capital(trained.measure)]
    ),
    sources.length < 2
      ? null
      : table(
          [`${capital(trained.measure)} by source`, ...cells.map(({ policy, role }) => `${policy}, ${role}`), "n"],
          sources.map((source) =>
            h(
              "tr",
              { key: source },
              h("th", { scope: "row" }, source),
              cells.map((entry, index) =>
                h("td", { key: index, className: "num" }, percent(entry.sources[source]?.mean))
              ),
              h("td", { className: "num" }, cells[0]?.sources[source]?.n ?? "–")
            )
          )
        )
  )
}

const winner = ({ best, run, seed }: OverviewView): ReactNode =>
  best === null || seed === null
    ? null
    : h(
        "section",
        null,
        h(
          "h2",
          null,
          run.status === "finished" ? `The winning instruction, ${best.id}` : `The leading instruction, ${best.id}`
        ),
        h("p", { className: "text" }, best.text),
        best.id === seed.id
          ? h("p", { className: "muted" }, "It is the seed itself.")
          : h(Fragment, null, h("h3", null, "What differs from the seed"), diff(seed.text, best.text))
      )

const curves = ({ marks, series, steps, trained, validations }: OverviewView): ReactNode => {
  if (steps.length === 0) return null
  const sources = Object.keys(series)
    .filter((name) => name.startsWith("reward/") && name !== "reward/mean")
    .sort()
  const shares = { marks, steps, fromZero: true, most: 1, format: (value: number) => percent(value, 0) }
  const single = (name: string) => [{ label: name, values: series[name] ?? [], tone: "accent" }]
  return h(
    "section",
    null,
    h("h2", null, "Course"),
    h(
      "p",
      { className: "muted" },
      `${plural(marks.filter(({ kind }) => kind === "prune").length, "pruning")} (dashed) and ` +
        `${plural(marks.filter(({ kind }) => kind === "evolve").length, "evolution")}.`
    ),
    h(
      "div",
      { className: "figures" },
      Figure.lines({
        ...shares,
        title: trainingTitle(trained),
        curves: [
          { label: "each step", values: series["reward/mean"] ?? [], tone: "faint" },
          { label: "mean of 5", values: smoothed(series["reward/mean"] ?? []), tone: "accent" }
        ]
      }),
      sources.length === 0
        ? null
        : Figure.lines({
            ...shares,
            title: `Training ${trained.measure} by source, mean of 5 steps`,
            curves: sources.map((name, index) => ({
              label: sourceLabel(trained, name.slice("reward/".length)),
              values: smoothed(series[name] ?? []),
              tone: `c${index % 8}`
            }))
          }),
      validations.length === 0
        ? null
        : Figure.lines({
            ...shares,
            title: `Validation ${trained.measure} with 95 % interval, n = ${validations[0]?.n ?? 0}`,
            steps: validations.map(({ step }) => step),
            curves: [
              {
                label: trained.measure,
                values: validations.map(({ mean }) => mean),
                band: validations.map(({ ci95 }) => ci95),
                tone: "accent"
              }
            ]
          }),
      Figure.lines({ marks, steps, title: "Tool calls per trajectory", curves: single("tool_calls/mean") }),
      Figure.lines({ marks, steps, title: "Response length, tokens", curves: single("response_length/mean") }),
      Figure.lines({ marks, steps, title: "Prompt length, tokens", curves: single("prompt_length/mean") })
    )
  )
}

const lives = (view: PopulationView): ReactNode =>
  view.steps.length === 0 ? null : h("section", null, h("h2", null, "Population"), Figure.bands(view, hue))

/** The line from the seed to the winner, with what each step changed and why. */
const descent = ({ best, evolutions, nodes }: LineageView): ReactNode => {
  const line = ancestors(nodes, best)
  if (line.length < 2) return null
  return h(
    "section",
    null,
    h("h2", null, `From ${line[0]?.id ?? ""} to ${best ?? ""}`),
    line.slice(1).map((node, index) => {
      const parent = line[index]
      const evolution = node.evolution === null ? undefined : evolutions[node.evolution]
      const { verification } = node
      return h(
        "article",
        { key: node.key },
        h("h3", null, `${parent?.id ?? ""} → ${node.id ?? ""}, after step ${node.step}`),
        evolution === undefined || evolution.critique === ""
          ? null
          : h(
              "blockquote",
              { className: "text" },
              h("span", { className: "muted" }, `Critique of ${plural(evolution.failures.length, "failure")}: `),
              clip(evolution.critique)
            ),
        diff(clip(parent?.text ?? ""), clip(node.text)),
        verification === null
          ? null
          : h(
              "p",
              { className: "muted" },
              `Verified on ${plural(verification.questions, "question")}: ${percent(verification.mean)}` +
                (verification.parentMean === null
                  ? "."
                  : `, its parent ${percent(verification.parentMean)} on the same ones.`)
            )
      )
    })
  )
}

const everyone = ({ nodes }: LineageView): ReactNode =>
  nodes.length === 0
    ? null
    : h(
        "section",
        null,
        h("h2", null, "All instructions and candidates"),
        h(
          "details",
          null,
          h(
            "summary",
            null,
            `${nodes.filter(({ id }) => id !== null).length} instructions, ${nodes.filter(({ id }) => id === null).length} rejected candidates`
          ),
          table(
            ["", "Parent", "Step", "Fate", "Reward", "Groups", "Verified", "Text"],
            nodes
              .slice(0, mostNodes)
              .map((node) =>
                h(
                  "tr",
                  { key: node.key },
                  h("th", { scope: "row" }, node.id ?? "–"),
                  h("td", null, node.parent ?? "–"),
                  h("td", { className: "num" }, node.step),
                  h(
                    "td",
                    null,
                    [
                      node.fate,
                      node.leftAt === null ? "" : ` at ${node.leftAt}`,
                      node.reason === null ? "" : `: ${clip(node.reason)}`
                    ].join("")
                  ),
                  h("td", { className: "num" }, percent(node.mean)),
                  h("td", { className: "num" }, node.groups),
                  h("td", { className: "num" }, node.verification === null ? "–" : percent(node.verification.mean)),
                  h("td", { className: "text" }, clip(node.text))
                )
              ),
            nodes.length > mostNodes
              ? `The first ${mostNodes} of ${nodes.length}; candidates.json has them all.`
              : undefined
          )
        )
      )

const budget = ({ ledger, rollouts, tokens }: CostView, { wallSeconds }: OverviewView): ReactNode =>
  h(
    "section",
    null,
    h("h2", null, "Cost"),
    table(
      ["", "Rollouts", "Tokens"],
      (["train", "verification", "evaluation"] as const).map((purpose) =>
        h(
          "tr",
          { key: purpose },
          h("th", { scope: "row" }, purpose === "train" ? "training" : purpose),
          h("td", { className: "num" }, count(rollouts[purpose])),
          h("td", { className: "num" }, count(tokens[purpose]))
        )
      ),
      wallSeconds === null ? undefined : `In ${duration(wallSeconds)}.`
    ),
    ledger.length === 0
      ? null
      : table(
          ["Ledger", "Rollouts", "Tokens", "Proposer calls", "USD", "Time"],
          ledger.map(({ phase, total }) =>
            h(
              "tr",
              { key: phase },
              h("th", { scope: "row" }, phase),
              h("td", { className: "num" }, count(total.rollouts)),
              h("td", { className: "num" }, compact(total.tokens)),
              h("td", { className: "num" }, count(total.calls)),
              h("td", { className: "num" }, dollars(total.usd)),
              h("td", { className: "num" }, `${quantity(total.seconds)} s`)
            )
          )
        )
  )

const settings = (view: OverviewView): ReactElement =>
  table(
    ["Setting", "Value"],
    Object.entries(view.settings).map(([name, value]) =>
      h("tr", { key: name }, h("th", { scope: "row" }, name), h("td", { className: "text" }, clip(value)))
    )
  )

/** A table whose numbers stand on the right wherever its rows say so. */
const table = (
  head: ReadonlyArray<string>,
  rows: ReadonlyArray<ReactElement>,
  caption?: string,
  alsoNumeric: ReadonlyArray<string> = []
): ReactElement =>
  h(
    "div",
    { className: "scroll" },
    h(
      "table",
      null,
      caption === undefined ? null : h("caption", null, caption),
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          head.map((title, index) =>
            h(
              "th",
              {
                key: index,
                scope: "col",
                className: isNumeric(title) || alsoNumeric.includes(title) ? "num" : undefined
              },
              title
            )
          )
        )
      ),
      h("tbody", null, rows)
    )
  )

const numeric: ReadonlySet<string> = new Set([
  "95 % interval",
  "Tool calls",
  "Rollouts",
  "Tokens",
  "Proposer calls",
  "USD",
  "Time",
  "Step",
  "Reward",
  "Groups",
  "Verified",
  "n"
])

const isNumeric = (title: string): boolean => numeric.has(title) || /^(?:before|after), /u.test(title)

const diff = (from: string, to: string): ReactElement =>
  h(
    "p",
    { className: "text" },
    wordDiff(from, to).map(({ kind, text }, index) =>
      h(kind === "added" ? "ins" : kind === "removed" ? "del" : "span", { key: index }, text)
    )
  )

const cell = (cells: OverviewView["cells"], policy: CellView["policy"], role: CellView["role"]) =>
  cells.find((entry) => entry.policy === policy && entry.role === role)

const smoothed = (values: ReadonlyArray<number | null>): ReadonlyArray<number | null> =>
  values.map((_, index) => {
    const near = values.slice(Math.max(0, index - 4), index + 1).filter((value) => value !== null)
    return near.length === 0 ? null : near.reduce((sum, value) => sum + value, 0) / near.length
  })

/** The angle of an instruction's colour, by its number in order of birth. */
const hue = (id: string): number => (Number.parseInt(id.replaceAll(/\D+/gu, ""), 10) * 137.508 + 140) % 360

/** Rows of the long table, and letters of a text in it: what keeps a report of any run below 3 MB. */
const mostNodes = 500
const longest = 1500

const clip = (text: string): string => (text.length <= longest ? text : `${text.slice(0, longest - 1)}…`)
