import { PlainText } from "@inspo/domain"
import {
  type Piece,
  abridged,
  ancestors,
  capital,
  compact,
  comparedWithParent,
  count,
  dollars,
  duration,
  interval,
  labels,
  ofTraining,
  percent,
  plural,
  wordDiff
} from "@inspo/report"
import { createElement as h, type ReactElement, type ReactNode } from "react"
import { renderToStaticMarkup } from "react-dom/server"
import { movingMean, movingSteps } from "../Means.ts"
import { type Change, changes, turned } from "../projection/Changes.ts"
import { cost } from "../projection/Cost.ts"
import { lineage } from "../projection/Lineage.ts"
import { overview } from "../projection/Overview.ts"
import { population } from "../projection/Population.ts"
import * as Run from "../projection/Run.ts"
import type { RunNotes } from "../RunCatalog.ts"
import type { RunRecord } from "../RunRecord.ts"
import type { CostView } from "../view/CostView.ts"
import type { LineageView, VerificationView } from "../view/LineageView.ts"
import type { OverviewView } from "../view/OverviewView.ts"
import type { PopulationView } from "../view/PopulationView.ts"
import { resultRows } from "../view/ResultRows.ts"
import { sourceLabel, sourceMetrics, trainingTitle } from "../view/Titles.ts"
import * as Drawing from "../Drawing.ts"
import { probabilities } from "../Courses.ts"
import type { Figure } from "../Figure.ts"
import { summary, task, turnedWords } from "./Sentences.ts"
import { style, svgStyle } from "./Style.ts"

/** The input of a report. `commands` reproduce the run, one per line. */
export interface Options {
  readonly name: string
  readonly record: RunRecord
  readonly ledger: Parameters<typeof cost>[1]
  readonly notes: RunNotes
  readonly commands: ReadonlyArray<string>
  /** The date of the last event, as YYYY-MM-DD; null if it is not known. */
  readonly date: string | null
}

/** The report of a run, finished or not, as a self-contained HTML document. It depends only on its input: equal runs give equal bytes. */
export const html = ({ commands, date, ledger, name, notes, record }: Options): string => {
  const run = Run.run({ id: name, name }, record, Run.unwritten, 0)
  const view = overview(run, record, notes)
  const tree = lineage(record)
  const label = labels(record.names)
  const head = [
    h("meta", { charSet: "utf-8" }),
    h("meta", { httpEquiv: "Content-Security-Policy", content: "default-src 'none'; style-src 'unsafe-inline'" }),
    h("meta", { name: "viewport", content: "width=device-width, initial-scale=1" }),
    h("title", null, `${name}: report of a run of inspo${date === null ? "" : `, ${date}`}`),
    // The style is constant; it contains no text of a run.
    h("style", { dangerouslySetInnerHTML: { __html: style } })
  ]
  const settings = table(Object.entries(view.settings), [
    ["Setting", "", ([name]) => name],
    ["Value", "text", ([, value]) => clip(value)]
  ])
  const body = [
    h("h1", null, `Report of the run ${name}`),
    muted([...(date === null ? [] : [date]), task(record)].join(" · ")),
    h("p", { className: "lead" }, summary(view, label)),
    ...view.degraded.map((line) => h("p", null, h("strong", null, "Degraded: "), clip(line))),
    whatChanged(changes(record, view), turned(record)),
    result(view, label),
    bestInstruction(view, label),
    curves(record, view),
    drawn(population(record), label),
    lineageOfBest(tree, label),
    everyInstruction(tree),
    costs(cost(record, ledger, notes), view),
    section("Reproduce", h("pre", null, commands.join("\n")), details("All settings", settings))
  ]
  const page = h("html", { lang: "en" }, h("head", null, ...head), h("body", null, h("main", null, ...body)))
  return `<!doctype html>\n${PlainText.escape(renderToStaticMarkup(page))}\n`
}

/** The figure as a separate SVG file, with the names of the curves. */
export const svg = (figure: Figure): string =>
  `${renderToStaticMarkup(Drawing.drawing(figure, { xmlns: "http://www.w3.org/2000/svg", style: svgStyle }))}\n`

type Label = (id: string) => string

const result = (view: OverviewView, label: Label): ReactNode => {
  const { cells, trained } = view
  if (cells.length === 0) return null
  const name = capital(trained.measure)
  const sources = [...new Set(cells.flatMap((entry) => Object.keys(entry.sources)))].sort()
  return section(
    "Held-out questions",
    table(
      resultRows(view),
      [
        ["Policy, instruction", "", ({ id, policy, role }) => `${policy}, ${id === null ? role : label(id)}`],
        [name, "num", ({ mean }) => percent(mean)],
        ["95 % interval", "num", ({ ci95 }) => interval(ci95, percent)],
        ["0 to 100 %", "", ({ ci95, mean }) => Drawing.interval(mean, ci95)],
        ["Tool calls", "num", ({ toolCalls }) => toolCalls]
      ],
      {
        caption: `${plural(cells[0]?.n ?? 0, "question")}, one answer each. The intervals are Wilson's, over questions.`,
        isHeadline: ({ isHeadline }) => isHeadline
      }
    ),
    sources.length < 2
      ? null
      : table(sources, [
          [`${name} by source`, "", (source) => source],
          ...cells.map((cell): Column<string> => [
            `${cell.policy}, ${cell.role}`,
            "num",
            (source) => percent(cell.sources[source]?.mean)
          ]),
          ["n", "num", (source) => cells[0]?.sources[source]?.n ?? "–"]
        ])
  )
}

const bestInstruction = ({ best, run, seed }: OverviewView, label: Label): ReactNode =>
  best === null || seed === null
    ? null
    : section(
        `${run.status === "finished" ? "Best" : "Leading"} instruction: ${label(best.id)}`,
        ...(best.id === seed.id
          ? [h("p", { className: "text" }, best.text), muted("It is identical to the seed.")]
          : [
              muted("Differences from the seed are marked."),
              diff(wordDiff(seed.text, best.text)),
              details("Text only", h("p", { className: "text" }, best.text))
            ])
      )

/** A table of what is different after the run, with the better and the worse in their colours. */
const whatChanged = (all: ReadonlyArray<Change>, questions: ReturnType<typeof turned>): ReactNode =>
  all.length === 0
    ? null
    : section(
        "What got better, and what got worse",
        table(
          all,
          [
            ["Quantity", "", ({ name }) => capital(name)],
            ["Before training, seed", "num", ({ before }) => before],
            ["After training, best", "num", ({ after }) => after],
            ["Difference", "num", ({ difference }) => difference],
            ["Result", "", ({ result }) => h("span", { className: result.replaceAll(" ", "-") }, result)]
          ],
          questions === null ? {} : { caption: turnedWords(questions) }
        )
      )

const curves = ({ rows }: RunRecord, { marks, metrics, steps, trained, validations }: OverviewView): ReactNode => {
  if (steps.length === 0) return null
  const sources = sourceMetrics(metrics)
  const metric = (name: string) => rows.map((row) => row[name] ?? null)
  const shares = { marks, steps, fromZero: true, most: 1, format: (value: number) => percent(value, 0) }
  const single = (title: string, name: string) =>
    Drawing.captioned({ marks, steps, title, curves: [{ label: name, values: metric(name), tone: "accent" }] })
  const number = (kind: string) => marks.filter((mark) => mark.kind === kind).length
  return section(
    "Progress",
    muted(`${plural(number("prune"), "pruning")} (dashed) and ${plural(number("evolve"), "evolution")}.`),
    h(
      "div",
      { className: "figures" },
      Drawing.captioned({
        ...shares,
        title: trainingTitle(trained),
        curves: [
          { label: "each step", values: metric("reward/mean"), tone: "faint" },
          { label: `mean of ${movingSteps}`, values: movingMean(metric("reward/mean")), tone: "accent" }
        ]
      }),
      sources.length > 0 &&
        Drawing.captioned({
          ...shares,
          title: `Training ${trained.measure} by source, mean of ${movingSteps} steps`,
          curves: sources.map((name, index) => ({
            label: sourceLabel(trained, name),
            values: movingMean(metric(name)),
            tone: `c${index % 8}`
          }))
        }),
      validations.length > 0 &&
        Drawing.captioned({
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
      single("Tool calls per trajectory", "tool_calls/mean"),
      single("Response length, tokens", "response_length/mean"),
      single("Prompt length, tokens", "prompt_length/mean")
    )
  )
}

const drawn = ({ lives, steps, verdict }: PopulationView, label: Label): ReactNode =>
  steps.length === 0
    ? null
    : section(
        "Population",
        h("p", null, verdict),
        Drawing.captioned(
          probabilities({
            title: "Probability of being drawn, by instruction",
            steps,
            label,
            lives: lives.map(({ from, id, probabilities }) => ({ id, from, values: probabilities }))
          }),
          620
        )
      )

/** The best instruction with its ancestors: the changes of each, and why it was proposed. */
const lineageOfBest = ({ best, evolutions, nodes }: LineageView, label: Label): ReactNode => {
  const line = ancestors(nodes, best)
  if (line.length < 2) return null
  return section(
    `From ${label(line[0]?.id ?? "")} to ${label(best ?? "")}`,
    ...line.slice(1).map((node, index) => {
      const from = line[index]
      const evolution = node.evolution === null ? undefined : evolutions[node.evolution]
      const critic = h(
        "span",
        { className: "muted" },
        `Critique of ${plural(evolution?.failures.length ?? 0, "failure")}: `
      )
      return h(
        "article",
        null,
        h("h3", null, `${label(from?.id ?? "")} → ${label(node.id ?? "")}, after step ${node.step}`),
        (evolution?.critique ?? "") !== "" &&
          h("blockquote", { className: "text" }, critic, clip(evolution?.critique ?? "")),
        diff(abridged(wordDiff(clip(from?.text ?? ""), clip(node.text)))),
        node.verification && muted(verified(node.verification)),
        node.difference && muted(`In training: ${ofTraining(node.difference)} compared with its parent.`)
      )
    })
  )
}

const verified = (verification: VerificationView): string =>
  `Verified on ${plural(verification.questions, "question")}: ${percent(verification.mean)}; ${comparedWithParent(verification)}.`

const everyInstruction = ({ nodes }: LineageView): ReactNode => {
  if (nodes.length === 0) return null
  const instructions = nodes.filter(({ id }) => id !== null).length
  return section(
    "All instructions and candidates",
    details(
      `${plural(instructions, "instruction")}, ${plural(nodes.length - instructions, "rejected candidate")}`,
      table(
        nodes.slice(0, mostNodes),
        [
          ["Id", "", ({ id }) => id ?? "–"],
          ["Parent", "", ({ parent }) => parent ?? "–"],
          ["Step", "num", ({ step }) => step],
          [
            "Status",
            "",
            ({ fate, leftAt, reason }) =>
              `${fate}${leftAt === null ? "" : ` at ${leftAt}`}${reason === null ? "" : `: ${clip(reason)}`}`
          ],
          ["Reward", "num", ({ mean }) => percent(mean)],
          ["Groups", "num", ({ groups }) => groups],
          ["Verified", "num", ({ verification }) => percent(verification?.mean)],
          ["Text", "text", ({ text }) => clip(text)]
        ],
        nodes.length > mostNodes
          ? { caption: `The first ${mostNodes} of ${nodes.length}. All of them are in candidates.json.` }
          : {}
      )
    )
  )
}

const costs = ({ ledger, rollouts, tokens }: CostView, { wallSeconds }: OverviewView): ReactNode =>
  section(
    "Cost",
    table(
      ["train", "verification", "evaluation"] as const,
      [
        ["Purpose", "", (purpose) => (purpose === "train" ? "training" : purpose)],
        ["Rollouts", "num", (purpose) => count(rollouts[purpose])],
        ["Tokens", "num", (purpose) => count(tokens[purpose])]
      ],
      wallSeconds === null ? {} : { caption: `Time: ${duration(wallSeconds)}.` }
    ),
    ledger.length === 0
      ? null
      : table(ledger, [
          ["Ledger", "", ({ phase }) => phase],
          ["Rollouts", "num", ({ total }) => count(total.rollouts)],
          ["Tokens", "num", ({ total }) => compact(total.tokens)],
          ["Proposer calls", "num", ({ total }) => count(total.calls)],
          ["USD", "num", ({ total }) => dollars(total.usd)],
          ["Time", "num", ({ total }) => duration(total.seconds)]
        ])
  )

const section = (title: string, ...children: ReadonlyArray<ReactNode>): ReactElement =>
  h("section", null, h("h2", null, title), ...children)

const muted = (text: string): ReactElement => h("p", { className: "muted" }, text)

const details = (summary: string, content: ReactElement): ReactElement =>
  h("details", null, h("summary", null, summary), content)

/** The title of a column, the class of its cells, and its cell of a row. The first column names the rows. */
type Column<Row> = readonly [title: string, className: "" | "num" | "text", cell: (row: Row) => ReactNode]

const table = <Row>(
  rows: ReadonlyArray<Row>,
  columns: ReadonlyArray<Column<Row>>,
  { caption, isHeadline }: { readonly caption?: string; readonly isHeadline?: (row: Row) => boolean } = {}
): ReactElement => {
  const titles = columns.map(([title, kind]) =>
    h("th", { scope: "col", className: kind === "num" ? "num" : undefined }, title)
  )
  const cells = (row: Row) =>
    columns.map(([, className, cell], place) =>
      place === 0 ? h("th", { scope: "row" }, cell(row)) : h("td", { className: className || undefined }, cell(row))
    )
  const lines = rows.map((row) =>
    h("tr", { className: isHeadline?.(row) === true ? "headline" : undefined }, ...cells(row))
  )
  const top = caption === undefined ? null : h("caption", null, caption)
  const head = h("thead", null, h("tr", null, ...titles))
  return h("div", { className: "scroll" }, h("table", null, top, head, h("tbody", null, ...lines)))
}

const diff = (pieces: ReadonlyArray<Piece>): ReactElement =>
  h(
    "p",
    { className: "text" },
    ...pieces.map(({ kind, text }) => h(kind === "added" ? "ins" : kind === "removed" ? "del" : "span", null, text))
  )

/** Rows of the long table, and characters of a text in it: these keep every report below 3 MB. */
const mostNodes = 500
const longest = 1500

const clip = (text: string): string => (text.length <= longest ? text : `${text.slice(0, longest - 1)}…`)
