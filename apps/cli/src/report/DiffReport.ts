import { styleText } from "node:util"
import * as PlainText from "@inspo/domain/PlainText"
import { type Piece, wordDiff } from "@inspo/dashboard/WordDiff"
import { percent } from "@inspo/dashboard/Format"
import { interval, table } from "../terminal/Text.ts"
import type { Style } from "../terminal/Reporter.ts"
import type { Cell } from "./Summary.ts"

/** A text and what it is called. */
export interface Named {
  readonly name: string
  readonly text: string
}

/** What two instructions have in common and not, word by word. */
export interface TextDifference {
  readonly from: Named
  readonly to: Named
  readonly pieces: ReadonlyArray<Piece>
}

/** Where two runs differ; a value is undefined where a run has no such setting. */
export interface RunDifference {
  readonly from: string
  readonly to: string
  readonly settings: ReadonlyArray<{ readonly key: string; readonly from: unknown; readonly to: unknown }>
  /** The best instructions; null while one of the runs is not finished. */
  readonly best: TextDifference | null
  /** What the rewards of both are called. */
  readonly measure: string
  /** Held-out results that both runs have. */
  readonly results: ReadonlyArray<{
    readonly policy: Cell["policy"]
    readonly instruction: Cell["instruction"]
    readonly from: Pick<Cell, "em" | "ci95" | "n">
    readonly to: Pick<Cell, "em" | "ci95" | "n">
  }>
}

export const compareTexts = (from: Named, to: Named): TextDifference => ({
  from,
  to,
  pieces: wordDiff(from.text, to.text)
})

/**
 * Two instructions as one text: words that left in red and words that came in green or, without colours, between `[-` and
 * `-]` and between `{+` and `+}`.
 */
export const textLines = ({ from, pieces, to }: TextDifference, style: Style): ReadonlyArray<string> => [
  PlainText.escape(`${from.name} → ${to.name}`),
  ...(pieces.every(({ kind }) => kind === "same")
    ? ["  The texts are equal."]
    : fill(
        pieces.flatMap((piece, index) => words(piece, pieces[index - 1], style.canColor)),
        style.columns,
        "  "
      ))
]

/** What changed alone, each change between a few of the words around it. */
export const changeLines = (pieces: ReadonlyArray<Piece>, style: Style, indent: string): ReadonlyArray<string> => {
  if (pieces.every(({ kind }) => kind === "same")) return [`${indent}The same text.`]
  const abridged = pieces.map((piece, index) =>
    piece.kind === "same" ? abridge(piece, { isFirst: index === 0, isLast: index === pieces.length - 1 }) : piece
  )
  return fill(
    abridged.flatMap((piece, index) => words(piece, abridged[index - 1], style.canColor)),
    style.columns,
    indent
  )
}

/** Words around a change that tell its place. */
const context = 3

/** The words next to a change, with an ellipsis for the others. */
const abridge = (piece: Piece, { isFirst, isLast }: { readonly isFirst: boolean; readonly isLast: boolean }): Piece => {
  const parts = piece.text.split(/(?<=\s)(?=\S)/u)
  const before = isFirst ? 0 : context
  const after = isLast ? 0 : context
  return parts.length <= before + after + 1
    ? piece
    : {
        kind: "same",
        text: `${parts.slice(0, before).join("")}… ${after === 0 ? "" : parts.slice(-after).join("")}`
      }
}

export const runLines = (difference: RunDifference, style: Style): ReadonlyArray<string> => {
  const { best, from, results, settings, to } = difference
  return [
    PlainText.escape(`${from} → ${to}`),
    "",
    settings.length === 0 ? "The settings are equal." : "Settings",
    ...settings.flatMap((setting) =>
      fill(
        [`${setting.key}:`, ...shown(setting.from).split(" "), "→", ...shown(setting.to).split(" ")].map(plainWord),
        style.columns,
        "  "
      )
    ),
    "",
    ...(best === null
      ? ["A run that is not finished has no best instruction yet."]
      : ["Best instruction", ...textLines(best, style)]),
    ...(results.length === 0
      ? []
      : [
          "",
          ...table([
            [`held-out ${difference.measure}`, "from", "to", "95 % intervals"],
            ...results.map((row) => [
              `${row.policy} training, ${row.instruction}`,
              percent(row.from.em),
              percent(row.to.em),
              `${interval(row.from.ci95)} ${interval(row.to.ci95)}`
            ])
          ])
        ])
  ]
}

/** A word with its marks or colours, and how wide it is; `isGlued` to the one before. */
interface Word {
  readonly text: string
  readonly width: number
  readonly isGlued: boolean
}

const plainWord = (word: string): Word => {
  const text = PlainText.escape(word)
  return { text, width: text.length, isGlued: false }
}

const words = (piece: Piece, before: Piece | undefined, canColor: boolean): ReadonlyArray<Word> => {
  const parts = PlainText.escape(piece.text)
    .split(/\s+/u)
    .filter((part) => part !== "")
  const isGlued = before !== undefined && !/\s$/u.test(before.text) && !/^\s/u.test(piece.text)
  return parts.map((part, index) => ({
    ...marked(part, piece.kind, { isFirst: index === 0, isLast: index === parts.length - 1, canColor }),
    isGlued: isGlued && index === 0
  }))
}

const marked = (
  word: string,
  kind: Piece["kind"],
  { canColor, isFirst, isLast }: { readonly canColor: boolean; readonly isFirst: boolean; readonly isLast: boolean }
): Omit<Word, "isGlued"> => {
  if (kind === "same") return { text: word, width: word.length }
  if (canColor)
    return { text: styleText(kind === "added" ? "green" : "red", word, { validateStream: false }), width: word.length }
  const [open, close] = kind === "added" ? ["{+", "+}"] : ["[-", "-]"]
  const text = (isFirst ? open : "") + word + (isLast ? close : "")
  return { text, width: text.length }
}

/** Words that are glued together as one. */
const unite = (all: ReadonlyArray<Word>): ReadonlyArray<Word> =>
  all.reduce<Array<Word>>((united, word) => {
    const last = united.at(-1)
    if (word.isGlued && last !== undefined)
      united[united.length - 1] = { ...last, text: last.text + word.text, width: last.width + word.width }
    else united.push(word)
    return united
  }, [])

/** Words in lines of at most `columns` characters behind an indent; a longer word has a line of its own. */
const fill = (all: ReadonlyArray<Word>, columns: number, indent: string): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let line = ""
  let width = 0
  for (const word of unite(all)) {
    if (width > 0 && indent.length + width + 1 + word.width > columns) {
      lines.push(indent + line)
      line = ""
      width = 0
    }
    line += (width === 0 ? "" : " ") + word.text
    width += (width === 0 ? 0 : 1) + word.width
  }
  return width === 0 ? lines : [...lines, indent + line]
}

const shown = (value: unknown): string => (value === undefined ? "nothing" : JSON.stringify(value))
