/** The differences of two texts, word by word. */
import { diffWordsWithSpace } from "diff"

/** A run of words that both texts have, or only one of them. */
export interface Piece {
  readonly kind: "same" | "added" | "removed"
  readonly text: string
}

/**
 * The same, added and removed words from `from` to `to`, in order. The same and added pieces are `to`, the same and removed
 * pieces are `from`. Changes with only white space between them are one change, so that a rewritten sentence stays readable.
 * Texts with almost nothing in common are one change.
 *
 * @example
 * ```ts
 * import { wordDiff } from "@inspo/report"
 *
 * wordDiff("Search once. Be brief.", "Search twice. Be brief.")
 * // same "Search ", removed "once", added "twice", same ". Be brief."
 * ```
 */
export const wordDiff = (from: string, to: string): ReadonlyArray<Piece> => {
  const pieces: Array<Piece> = []
  const push = (kind: Piece["kind"], text: string) => {
    if (text === "") return
    const last = pieces.at(-1)
    if (last?.kind === kind) pieces[pieces.length - 1] = { kind, text: last.text + text }
    else pieces.push({ kind, text })
  }
  let removed = ""
  let added = ""
  const flush = () => {
    push("removed", removed)
    push("added", added)
    removed = ""
    added = ""
  }
  const parts = diffWordsWithSpace(from, to, { maxEditLength: mostEdits }) ?? [
    { value: from, added: false, removed: true },
    { value: to, added: true, removed: false }
  ]
  for (const [index, part] of parts.entries()) {
    const next = parts[index + 1]
    const isGap =
      removed + added !== "" && part.value.trim() === "" && next !== undefined && (next.added || next.removed)
    if (part.removed || (isGap && !part.added)) removed += part.value
    if (part.added || (isGap && !part.removed)) added += part.value
    if (part.added || part.removed || isGap) continue
    flush()
    push("same", part.value)
  }
  flush()
  return pieces
}

/** The changes, each between a few of the words around it; an ellipsis replaces the others. */
export const abridged = (pieces: ReadonlyArray<Piece>): ReadonlyArray<Piece> =>
  pieces.map((piece, index) => {
    if (piece.kind !== "same") return piece
    const parts = piece.text.split(/(?<=\s)(?=\S)/u)
    const before = index === 0 ? 0 : context
    const after = index === pieces.length - 1 ? 0 : context
    return parts.length <= before + after + 1
      ? piece
      : {
          kind: "same",
          text: `${parts.slice(0, before).join("")}… ${after === 0 ? "" : parts.slice(-after).join("")}`
        }
  })

/** Words around a change that show its place. */
const context = 3

/** What differs from the parent, in at most `most` characters: added words, or else a minus and removed ones; else its start. */
export const distinction = (parent: string | null, text: string, most: number): string => {
  const pieces = parent === null ? [] : wordDiff(parent, text)
  const of = (kind: Piece["kind"]) =>
    pieces.flatMap((piece) => (piece.kind === kind && piece.text.trim() !== "" ? [piece.text.trim()] : [])).join(" … ")
  const added = of("added")
  const removed = of("removed")
  const difference = parent === null ? text : added !== "" ? added : removed !== "" ? `− ${removed}` : "the same words"
  const line = difference.replaceAll(/\s+/gu, " ").trim()
  return line === "" ? "no words" : shortened(line, most)
}

/** A text in at most `most` characters, up to a whole word where that is not much less; an ellipsis replaces the rest. */
export const shortened = (text: string, most: number): string => {
  if (text.length <= most) return text
  const cut = text.replace(/…$/u, "").slice(0, most)
  const words = cut.replace(/\s+\S*$/u, "")
  if (words !== cut && words.length > most / 2) return `${words}…`
  // Never half of a character of two code units.
  return `${cut
    .slice(0, most - 1)
    .replace(/[\uD800-\uDBFF]$/u, "")
    .trimEnd()}…`
}

/** The most removed and added words of a diff; without this limit very long texts would take minutes. */
const mostEdits = 2000
