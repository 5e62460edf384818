/** Candidates for a long instruction, written as edits of it: they cost few tokens, and change only what they name. Pure. */
import { Result } from "effect"
import type { RejectionReason } from "./CandidateLint.ts"

/** The most words of an instruction whose revisions are written as a whole: about a thousand tokens each. */
export const mostWholeWords = 700

/** Whether revisions of a text are asked for as edits. */
export const areFor = (text: string): boolean => text.trim().split(/\s+/u).length > mostWholeWords

/** The form of an edit, as it is asked for. */
export const form: ReadonlyArray<string> = [
  "<<<<<<< SEARCH",
  "words of the original",
  "=======",
  "the words in their place",
  ">>>>>>> REPLACE"
]

/** Why edits cannot be applied. */
export type Fault = Extract<RejectionReason, "edits-missing" | "edit-not-found" | "edit-ambiguous">

/**
 * A text with the edits that a candidate is written as. Each replaces a text that is in the original exactly once, and all are read against
 * the original, so that their order does not matter and what no edit names stays as it is. What is around the edits is ignored.
 */
export const revise = (original: string, written: string): Result.Result<string, Fault> => {
  const edits = read(written)
  if (edits.length === 0) return Result.fail("edits-missing")
  const spans: Array<{ readonly start: number; readonly end: number; readonly text: string }> = []
  for (const { replacement, search } of edits) {
    if (replacement === null) return Result.fail("edits-missing")
    const start = search.trim() === "" ? -1 : original.indexOf(search)
    if (start < 0) return Result.fail("edit-not-found")
    const end = start + search.length
    const isShared = spans.some((other) => start < other.end && other.start < end)
    if (isShared || original.includes(search, start + 1)) return Result.fail("edit-ambiguous")
    spans.push({ start, end, text: replacement })
  }
  const inOrder = spans.toSorted((one, other) => one.start - other.start)
  const ends = [0, ...inOrder.map(({ end }) => end)]
  const changed = inOrder.map(({ start, text }, at) => `${original.slice(ends[at], start)}${text}`)
  return Result.succeed([...changed, original.slice(ends.at(-1))].join(""))
}

/** The edits in a text; the replacement is null of one without an end. */
const read = (written: string) => {
  const lines = written.split(/\r?\n/u)
  const starts = lines.flatMap((line, at) => (opening.test(line) ? [at + 1] : []))
  return starts.map((start, nth) => {
    const own = lines.slice(start, (starts[nth + 1] ?? lines.length + 1) - 1)
    const middle = own.findIndex((line) => divider.test(line))
    const rest = own.slice(middle + 1)
    const end = rest.findIndex((line) => closing.test(line))
    return {
      search: own.slice(0, Math.max(0, middle)).join("\n"),
      replacement: middle < 0 || end < 0 ? null : rest.slice(0, end).join("\n")
    }
  })
}

const opening = /^\s*<{7} ?SEARCH\s*$/u
const divider = /^={7}\s*$/u
const closing = /^\s*>{7} ?REPLACE\s*$/u
