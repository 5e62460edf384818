/** Which candidates are worth verifying. */
import type { Candidate } from "@inspo/domain/Instruction"
import { Schema } from "effect"

/**
 * Why a candidate is not verified.
 *
 * - `empty`: it has no text
 * - `too-long`: it has more words than allowed
 * - `tags-lost`: a tag of the seed instruction does not occur
 * - `tags-unbalanced`: a tag of the seed instruction is not opened and closed by turns
 * - `duplicate`: its text is known, or an earlier candidate has it; white space does not count
 */
export const RejectionReason = Schema.Literals(["empty", "too-long", "tags-lost", "tags-unbalanced", "duplicate"])
export type RejectionReason = typeof RejectionReason.Type

/** A candidate's text with the first rule it breaks. */
export const Rejection = Schema.Struct({ text: Schema.String, reason: RejectionReason })
export interface Rejection extends Schema.Schema.Type<typeof Rejection> {}

/** `seed` is the text whose tags must survive, `known` the texts not to repeat, `maxWords` the length cap. */
export interface Rules {
  readonly seed: string
  readonly known: ReadonlyArray<string>
  readonly maxWords?: number
}

/** The length cap unless another is given: about 1,000 tokens, a quarter of the paper's longest prompt. */
export const defaultMaxWords = 700

/** Divides candidates into those to verify and those rejected, both in their order. */
export const lint = (
  candidates: ReadonlyArray<Candidate>,
  rules: Rules
): { readonly accepted: ReadonlyArray<Candidate>; readonly rejected: ReadonlyArray<Rejection> } => {
  const known = new Set(rules.known.map(squash))
  const accepted: Array<Candidate> = []
  const rejected: Array<Rejection> = []
  for (const candidate of candidates) {
    const reason = firstBroken(candidate.text, rules, known)
    if (reason === null) {
      accepted.push(candidate)
      known.add(squash(candidate.text))
    } else {
      rejected.push({ text: candidate.text, reason })
    }
  }
  return { accepted, rejected }
}

/** Accepts whatever has a text: the letter of the paper. */
export const parsed = (candidates: ReadonlyArray<Candidate>): ReturnType<typeof lint> => ({
  accepted: candidates.filter(({ text }) => squash(text) !== ""),
  rejected: candidates.flatMap(({ text }) => (squash(text) === "" ? [{ text, reason: "empty" as const }] : []))
})

const firstBroken = (text: string, rules: Rules, known: ReadonlySet<string>): RejectionReason | null => {
  const squashed = squash(text)
  if (squashed === "") return "empty"
  if (squashed.split(" ").length > (rules.maxWords ?? defaultMaxWords)) return "too-long"
  const names = new Set(tagsIn(rules.seed).map(({ name }) => name))
  const tags = tagsIn(text).filter(({ name }) => names.has(name))
  if (new Set(tags.map(({ name }) => name)).size < names.size) return "tags-lost"
  if ([...names].some((name) => !alternates(tags.filter((tag) => tag.name === name)))) return "tags-unbalanced"
  return known.has(squashed) ? "duplicate" : null
}

interface Tag {
  readonly name: string
  readonly closes: boolean
}

const tagsIn = (text: string): ReadonlyArray<Tag> =>
  [...text.matchAll(/<(\/?)([a-z][\w-]*)>/gi)].map(([, slash, name]) => ({ name: name ?? "", closes: slash === "/" }))

const alternates = (tags: ReadonlyArray<Tag>): boolean =>
  tags.length % 2 === 0 && tags.every((tag, index) => tag.closes === (index % 2 === 1))

const squash = (text: string): string => text.trim().replace(/\s+/g, " ")
