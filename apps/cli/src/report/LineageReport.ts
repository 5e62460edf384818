import { Text, inTreeOrder, wordDiff } from "@inspo/report"
import type { Style } from "../terminal/Reporter.ts"
import { changeLines } from "./DiffReport.ts"

/** An instruction in its lineage; `title` says where it came from, and what became of it. */
export interface Descendant {
  readonly id: string
  readonly parent: string | null
  readonly title: string
  readonly text: string
}

/** The lineage as lines: an ancestor with its text, every other instruction below its parent with the differences. */
export const lineageLines = (all: ReadonlyArray<Descendant>, style: Style): ReadonlyArray<string> => {
  const texts = new Map<string | null, string>(all.map(({ id, text }) => [id, text]))
  return inTreeOrder(all.map((one) => ({ ...one, key: one.id }))).flatMap(({ depth, parent, text, title }, index) => [
    ...(index === 0 ? [] : [""]),
    ...nodeLines({ title, text, from: texts.get(parent) ?? null }, style, "  ".repeat(Math.min(depth, deepest)))
  ])
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
