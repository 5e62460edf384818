/** How one text became another, in pieces that people can read. */
import { diffWordsWithSpace } from "diff"

export interface Piece {
  readonly kind: "same" | "added" | "removed"
  readonly text: string
}

/**
 * The words that `to` shares with `from`, those it added and those it dropped, in order. Without the removed pieces it is
 * `to`, without the added ones `from`. Changes with nothing but white space between are one change, so that a rewritten
 * sentence reads as a sentence. Texts that have hardly anything in common are told as one change.
 *
 * @example
 * ```ts
 * import { wordDiff } from "@inspo/dashboard/WordDiff"
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

/**
 * What distinguishes a text from its parent, in at most `most` characters: what it adds, or else what it drops behind a minus;
 * of a text without a parent its beginning.
 */
export const distinction = (parent: string | null, text: string, most: number): string => {
  const pieces = parent === null ? [] : wordDiff(parent, text)
  const of = (kind: Piece["kind"]) =>
    pieces.flatMap((piece) => (piece.kind === kind && piece.text.trim() !== "" ? [piece.text.trim()] : [])).join(" … ")
  const added = of("added")
  const removed = of("removed")
  const said = parent === null ? text : added !== "" ? added : removed !== "" ? `− ${removed}` : "the same words"
  const line = said.replaceAll(/\s+/gu, " ").trim()
  return line.length > most ? `${line.slice(0, most - 1).trimEnd()}…` : line
}

/** Words dropped and added until which two texts count as versions of one: what keeps books from taking minutes. */
const mostEdits = 2000
