/** Parts of a report as Markdown: its head, what changed, the data of its figures, and the changes of the instruction. */
import { MarkdownText } from "@inspo/domain"
import {
  Markdown,
  type Piece,
  abridged,
  ancestors,
  count,
  labels,
  percent,
  points,
  quantity,
  wordDiff
} from "@inspo/report"
import { Array as Arr } from "effect"
import { mean } from "../Means.ts"
import { changes, turned } from "../projection/Changes.ts"
import { lineage } from "../projection/Lineage.ts"
import { population } from "../projection/Population.ts"
import type { RunRecord } from "../RunRecord.ts"
import type { OverviewView } from "../view/OverviewView.ts"
import { summary, task, turnedWords } from "./Sentences.ts"

/** The title of the report with the date and the task, and the result in a few sentences. */
export const head = ({
  date,
  name,
  record,
  view
}: {
  readonly name: string
  /** As YYYY-MM-DD; null if it is not known. */
  readonly date: string | null
  readonly record: RunRecord
  readonly view: OverviewView
}): ReadonlyArray<string> => [
  `# Report of the run ${MarkdownText.inline(name)}`,
  "",
  MarkdownText.inline([...(date === null ? [] : [date]), task(record)].join(" · ")),
  "",
  MarkdownText.inline(summary(view, labels(record.names)))
]

/** What got better and what got worse; empty if the run was not evaluated. */
export const changed = (record: RunRecord, view: OverviewView): ReadonlyArray<string> => {
  const all = changes(record, view)
  const questions = turned(record)
  if (all.length === 0) return []
  return [
    ...Markdown.table([
      ["", "before training, seed", "after training, best", "difference", "result"],
      ...all.map(({ after, before, difference, name, result }) => [
        MarkdownText.inline(name),
        before,
        after,
        difference,
        result
      ])
    ]),
    ...(questions === null ? [] : ["", turnedWords(questions)])
  ]
}

/** The best instruction with its differences from the seed. */
export const best = ({ best, seed }: OverviewView): ReadonlyArray<string> =>
  best === null || seed === null ? [] : [`> ${diff(wordDiff(seed.text, best.text))}`]

/** The progress of the run, as means of at most twelve stretches of steps; empty before the first step. */
export const progress = ({ rows }: RunRecord): ReadonlyArray<string> => {
  if (rows.length === 0) return []
  return [
    "| steps | reward | tool calls | response tokens | prompt tokens |",
    "|---|---:|---:|---:|---:|",
    ...Arr.chunksOf(rows, Math.ceil(rows.length / mostRows)).map((stretch) => {
      const of = (name: string) => mean(stretch.flatMap((row) => row[name] ?? []))
      const first = stretch[0]?.step ?? 0
      const last = stretch.at(-1)?.step ?? first
      const cells = [
        first === last ? first : `${first} – ${last}`,
        percent(of("reward/mean")),
        ...["tool_calls/mean", "response_length/mean", "prompt_length/mean"].map((name) => quantity(of(name)))
      ]
      return `| ${cells.join(" | ")} |`
    })
  ]
}

/** How the instructions compare within questions; empty before the first step. */
export const compared = (record: RunRecord): ReadonlyArray<string> => {
  const { lives, verdict } = population(record)
  const label = labels(record.names)
  if (verdict === "") return []
  return [
    MarkdownText.inline(verdict),
    "",
    "| instruction | groups | P(best) | against the seed, points |",
    "|---|---:|---:|---:|",
    ...lives.flatMap(({ chance, difference, groups, id }) =>
      chance === null
        ? []
        : [
            `| ${MarkdownText.inline(label(id))} | ${count(groups)} | ${percent(chance, 0)} | ` +
              `${difference === null ? "–" : `${points(difference.mean)} [${points(difference.lower)}, ${points(difference.upper)}]`} |`
          ]
    )
  ]
}

/** The best instruction with its ancestors and the changes between them; empty if the seed is the best. */
export const lineageOfBest = (record: RunRecord): ReadonlyArray<string> => {
  const { best, evolutions, nodes } = lineage(record)
  const line = ancestors(nodes, best)
  const label = (id: string | null | undefined) => MarkdownText.inline(labels(record.names)(id ?? ""))
  if (line.length < 2) return []
  return line.slice(1).flatMap((node, index) => {
    const parent = line[index]
    const critique = node.evolution === null ? "" : (evolutions[node.evolution]?.critique ?? "")
    return [
      `### ${label(parent?.id)} → ${label(node.id)}, after step ${node.step}`,
      "",
      ...(critique === "" ? [] : [`> ${MarkdownText.inline(critique)}`, ""]),
      diff(abridged(wordDiff(parent?.text ?? "", node.text))),
      ""
    ]
  })
}

const mostRows = 12

/** Added words in bold, removed words struck through. */
const diff = (pieces: ReadonlyArray<Piece>): string =>
  pieces
    .map(({ kind, text }) => {
      const [, before = "", inner = "", after = ""] = /^(\s*)(.*?)(\s*)$/su.exec(text) ?? []
      const shown = MarkdownText.inline(inner)
      if (kind === "same" || shown === "") return `${before}${shown}${after}`
      return kind === "added" ? `${before}**${shown}**${after}` : `${before}~~${shown}~~${after}`
    })
    .join("")
    .replaceAll(/\s+/gu, " ")
    .trim()
