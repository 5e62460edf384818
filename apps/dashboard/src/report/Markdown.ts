/** Parts of a report as Markdown: what its figures and differences tell, for where there is no HTML. */
import { percent, quantity } from "../Format.ts"
import { lineage } from "../projection/Lineage.ts"
import { series } from "../projection/Overview.ts"
import type { RunRecord } from "../RunRecord.ts"
import type { NodeView } from "../view/LineageView.ts"
import { wordDiff } from "../WordDiff.ts"
import { inline } from "./MarkdownText.ts"

/** The course of the run, as means of at most twelve stretches of steps; empty before the first step. */
export const course = (record: RunRecord): ReadonlyArray<string> => {
  const { rows } = record
  if (rows.length === 0) return []
  const all = series(rows)
  const stretch = Math.ceil(rows.length / mostRows)
  const starts = Array.from({ length: Math.ceil(rows.length / stretch) }, (_, index) => index * stretch)
  const mean = (name: string, from: number): number | null => {
    const values = (all[name] ?? []).slice(from, from + stretch).filter((value) => value !== null)
    return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length
  }
  return [
    "## Course",
    "",
    "| steps | reward | tool calls | response tokens | prompt tokens |",
    "|---|---:|---:|---:|---:|",
    ...starts.map((from) => {
      const first = rows[from]?.step ?? 0
      const last = rows[Math.min(rows.length, from + stretch) - 1]?.step ?? first
      return (
        `| ${first === last ? first : `${first} – ${last}`} | ${percent(mean("reward/mean", from))} | ` +
        `${quantity(mean("tool_calls/mean", from))} | ${quantity(mean("response_length/mean", from))} | ` +
        `${quantity(mean("prompt_length/mean", from))} |`
      )
    }),
    ""
  ]
}

/** The line from the seed to the best instruction, with what each step changed; empty when the seed stayed the best. */
export const descent = (record: RunRecord): ReadonlyArray<string> => {
  const { best, evolutions, nodes } = lineage(record)
  const line = ancestors(nodes, best)
  if (line.length < 2) return []
  return [
    `## From ${line[0]?.id ?? ""} to ${best ?? ""}`,
    "",
    ...line.slice(1).flatMap((node, index) => {
      const parent = line[index]
      const critique = node.evolution === null ? "" : (evolutions[node.evolution]?.critique ?? "")
      return [
        `### ${parent?.id ?? ""} → ${node.id ?? ""}, after step ${node.step}`,
        "",
        ...(critique === "" ? [] : [`> ${inline(critique)}`, ""]),
        diff(parent?.text ?? "", node.text),
        ""
      ]
    })
  ]
}

/** An instruction with its ancestors, the oldest first. */
export const ancestors = (nodes: ReadonlyArray<NodeView>, id: string | null): ReadonlyArray<NodeView> => {
  const line: Array<NodeView> = []
  let node = nodes.find((one) => one.id !== null && one.id === id)
  while (node !== undefined && !line.includes(node)) {
    line.unshift(node)
    const { parent } = node
    node = parent === null ? undefined : nodes.find((one) => one.id === parent)
  }
  return line
}

const mostRows = 12

/** Added words in bold, dropped ones struck out. */
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
