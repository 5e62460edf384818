import { basename } from "node:path"
import type { Projection } from "@inspo/analysis"
import { Text, wordDiff } from "@inspo/report"
import type { Style } from "../terminal/Reporter.ts"
import { changeLines } from "./DiffReport.ts"

/** A run among those asked for; `parent` is the one it branched off, when that was asked for, too. */
export interface Branch {
  readonly run: string
  readonly parent: string | null
  /** The last step it shares with the run it left, or null for a run of its own. */
  readonly forkedAt: number | null
}

/** The fate of an instruction in one run. */
export interface Fate {
  readonly run: string
  readonly fate: Projection.CandidateRecord["fate"]
  readonly leftAt: number | null
}

/** An instruction with its fate in every run that knows it, and with its revisions. */
export interface Node {
  readonly id: string
  readonly text: string
  readonly bornAt: number
  readonly fates: ReadonlyArray<Fate>
  readonly children: ReadonlyArray<Node>
}

/** The lineage as lines: an ancestor with its text, every other instruction below its parent with the differences. */
export const lineageLines = (
  branches: ReadonlyArray<Branch>,
  roots: ReadonlyArray<Node>,
  style: Style
): ReadonlyArray<string> => {
  const lines = branches.flatMap((branch) => Text.wrap(described(branch), style.columns))
  const open: Array<{ readonly node: Node; readonly parent: Node | null; readonly depth: number }> = roots
    .map((node) => ({ node, parent: null, depth: 0 }))
    .toReversed()
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { depth, node, parent } = next
    const indent = "  ".repeat(Math.min(depth, deepest))
    lines.push(
      "",
      ...nodeLines(
        {
          title: `${node.id}: ${origin(node, parent)}, ${fates(node, branches.length)}`,
          text: node.text,
          from: parent?.text ?? null
        },
        style,
        indent
      )
    )
    for (const child of node.children.toReversed()) open.push({ node: child, parent: node, depth: depth + 1 })
  }
  return lines
}

/** A title, and below it the text of an instruction or, where there is one to compare it `from`, the differences. */
export const nodeLines = (
  { from, text, title }: { readonly title: string; readonly text: string; readonly from: string | null },
  style: Style,
  indent = ""
): ReadonlyArray<string> => [
  ...Text.paragraph(title, indent, style.columns),
  ...(from === null
    ? Text.paragraph(text, `${indent}    `, style.columns)
    : changeLines(wordDiff(from, text), style, `${indent}    `))
]

/** Generations that are set off from one another; further ones have the indent of the last, so that texts have room. */
const deepest = 8

const described = ({ forkedAt, parent, run }: Branch): string =>
  forkedAt === null ? run : `${run}, a branch of ${parent ?? "another run"} after step ${forkedAt}`

const origin = ({ bornAt }: Node, parent: Node | null): string =>
  parent === null ? `step ${bornAt}` : `from ${parent.id} at step ${bornAt}`

const fates = (node: Node, runs: number): string =>
  [...Map.groupBy(node.fates, outcome)]
    .map(([fate, own]) => (own.length === runs ? fate : `${fate} in ${own.map(({ run }) => basename(run)).join(", ")}`))
    .join(", ")

const outcome = ({ fate, leftAt }: Fate): string => (leftAt === null ? fate : `${fate} at ${leftAt}`)
