/** Parts of a report as Markdown: the data of its figures, and the changes of the instruction. */
import { Array as Arr } from "effect"
import { count, percent, points, quantity } from "../Format.ts"
import { mean } from "../Means.ts"
import { labels } from "../Names.ts"
import { lineage } from "../projection/Lineage.ts"
import { population } from "../projection/Population.ts"
import type { RunRecord } from "../RunRecord.ts"
import { ancestors } from "../Tree.ts"
import { wordDiff } from "../WordDiff.ts"
import { inline } from "./MarkdownText.ts"

/** The progress of the run, as means of at most twelve stretches of steps; empty before the first step. */
export const progress = ({ rows }: RunRecord): ReadonlyArray<string> => {
  if (rows.length === 0) return []
  return [
    "## Progress",
    "",
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
    }),
    ""
  ]
}

/** How the instructions compare within questions; empty before the first step. */
export const compared = (record: RunRecord): ReadonlyArray<string> => {
  const { lives, verdict } = population(record)
  const label = labels(record.names)
  if (verdict === "") return []
  return [
    "## How the instructions compare",
    "",
    inline(verdict),
    "",
    "| instruction | groups | P(best) | against the seed, within questions |",
    "|---|---:|---:|---:|",
    ...lives.flatMap(({ chance, difference, groups, id }) =>
      chance === null
        ? []
        : [
            `| ${inline(label(id))} | ${count(groups)} | ${percent(chance, 0)} | ` +
              `${difference === null ? "–" : `${points(difference.mean)} [${points(difference.lower)}, ${points(difference.upper)}]`} |`
          ]
    ),
    ""
  ]
}

/** The best instruction with its ancestors and the changes between them; empty if the seed is the best. */
export const lineageOfBest = (record: RunRecord): ReadonlyArray<string> => {
  const { best, evolutions, nodes } = lineage(record)
  const line = ancestors(nodes, best)
  const label = (id: string | null | undefined) => inline(labels(record.names)(id ?? ""))
  if (line.length < 2) return []
  return [
    `## From ${label(line[0]?.id)} to ${label(best)}`,
    "",
    ...line.slice(1).flatMap((node, index) => {
      const parent = line[index]
      const critique = node.evolution === null ? "" : (evolutions[node.evolution]?.critique ?? "")
      return [
        `### ${label(parent?.id)} → ${label(node.id)}, after step ${node.step}`,
        "",
        ...(critique === "" ? [] : [`> ${inline(critique)}`, ""]),
        diff(parent?.text ?? "", node.text),
        ""
      ]
    })
  ]
}

const mostRows = 12

/** Added words in bold, removed words struck through. */
const diff = (from: string, to: string): string =>
  wordDiff(from, to)
    .map(({ kind, text }) => {
      const [, before = "", inner = "", after = ""] = /^(\s*)(.*?)(\s*)$/su.exec(text) ?? []
      const shown = inline(inner)
      if (kind === "same" || shown === "") return `${before}${shown}${after}`
      return kind === "added" ? `${before}**${shown}**${after}` : `${before}~~${shown}~~${after}`
    })
    .join("")
    .replaceAll(/\s+/gu, " ")
    .trim()
