import { stripVTControlCharacters, styleText } from "node:util"
import { PlainText } from "@inspo/domain"
import { type Piece, abridged, wordDiff } from "@inspo/report"
import type { Style } from "../terminal/Reporter.ts"

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

export const compareTexts = (from: Named, to: Named): TextDifference => ({
  from,
  to,
  pieces: wordDiff(from.text, to.text)
})

/** Two instructions as one text, without colours with removed words between `[-` and `-]` and added ones between `{+` and `+}`. */
export const textLines = ({ from, pieces, to }: TextDifference, style: Style): ReadonlyArray<string> => {
  if (from.name === to.name)
    return [PlainText.escape(`${from.name} is both: there is one instruction, and nothing to compare.`)]
  return [
    PlainText.escape(`${from.name} → ${to.name}`),
    ...(pieces.every(({ kind }) => kind === "same")
      ? ["  The texts are equal."]
      : fill(
          pieces.flatMap((piece, index) => words(piece, pieces[index - 1], style.canColor)),
          style.columns,
          "  "
        ))
  ]
}

/** What changed alone, each change between a few of the words around it. */
export const changeLines = (pieces: ReadonlyArray<Piece>, style: Style, indent: string): ReadonlyArray<string> => {
  if (pieces.every(({ kind }) => kind === "same")) return [`${indent}The same text.`]
  const shown = abridged(pieces)
  return fill(
    shown.flatMap((piece, index) => words(piece, shown[index - 1], style.canColor)),
    style.columns,
    indent
  )
}

const words = (piece: Piece, before: Piece | undefined, canColor: boolean): ReadonlyArray<string> => {
  const parts = PlainText.escape(piece.text)
    .split(/\s+/u)
    .filter((part) => part !== "")
  const isGlued = before !== undefined && !/\s$/u.test(before.text) && !/^\s/u.test(piece.text)
  return parts.map((part, index) => {
    const word = marked(part, piece.kind, { isFirst: index === 0, isLast: index === parts.length - 1, canColor })
    return isGlued && index === 0 ? glue + word : word
  })
}

/** Begins a word that follows the one before without a space. */
const glue = "\0"

const marked = (
  word: string,
  kind: Piece["kind"],
  { canColor, isFirst, isLast }: { readonly canColor: boolean; readonly isFirst: boolean; readonly isLast: boolean }
): string => {
  if (kind === "same") return word
  if (canColor) return styleText(kind === "added" ? "green" : "red", word, { validateStream: false })
  const [open, close] = kind === "added" ? ["{+", "+}"] : ["[-", "-]"]
  return (isFirst ? open : "") + word + (isLast ? close : "")
}

/** Words in lines of at most `columns` characters behind an indent; a longer word has a line of its own. */
const fill = (all: ReadonlyArray<string>, columns: number, indent: string): ReadonlyArray<string> => {
  const lines: Array<string> = []
  for (const word of all.join(" ").replaceAll(` ${glue}`, "").split(" ")) {
    const joined = `${lines.at(-1) ?? ""} ${word}`
    if (lines.length === 0 || stripVTControlCharacters(joined).length > columns) lines.push(indent + word)
    else lines[lines.length - 1] = joined
  }
  return lines
}
