/** Which candidates are worth verifying. */
import { type Instruction, PlainText } from "@inspo/domain"
import { Array as Arr, Schema } from "effect"
import { isAttempt, type ReflectiveRecord } from "./ReflectiveRecord.ts"
import * as Leak from "./internal/Leak.ts"
import * as Script from "./internal/Script.ts"
import * as Words from "./internal/Words.ts"

/** Why a candidate is not verified; {@link description} says it in words. */
export const RejectionReason = Schema.Literals([
  "empty",
  "hidden-characters",
  "too-long",
  "tags-lost",
  "tags-unbalanced",
  "text-lost",
  "prompt-tags",
  "parent-copy",
  "duplicate",
  "other-script",
  "task-overridden",
  "answer-leaked",
  "passage-copied",
  "surplus",
  "edits-missing",
  "edit-not-found",
  "edit-ambiguous"
])
export type RejectionReason = typeof RejectionReason.Type

/** Each reason as a predicate of a sentence about a candidate. */
export const description: Readonly<Record<RejectionReason, string>> = {
  empty: "has no text",
  "hidden-characters": "holds control characters, or characters that show nothing",
  "too-long": "is longer than allowed",
  "tags-lost": "does not name the tags in which to call a tool or to answer",
  "tags-unbalanced": "never opens and then closes the tags in which to call a tool or to answer",
  "text-lost": "lacks a text that must stay, such as a placeholder",
  "prompt-tags": "holds tags of the request, such as <ins_1> or <example>",
  "parent-copy": "is the original instruction; white space does not count",
  duplicate: "was tried before, or repeats an earlier candidate; white space does not count",
  "other-script": "is written in other letters than the original instruction",
  "task-overridden": "asks to ignore a task, rules or instructions",
  "answer-leaked": "holds the correct answer of a failure that was shown",
  "passage-copied": "repeats words of a passage that was shown",
  surplus: "is one more than was asked for",
  "edits-missing": "holds no edit of the original instruction, or one without its end",
  "edit-not-found": "has an edit of a text that is not in the original instruction",
  "edit-ambiguous": "has an edit of a text that is in the original instruction more than once, or in another edit"
}

/** A candidate's text with the first rule it breaks. */
export const Rejection = Schema.Struct({ text: Schema.String, reason: RejectionReason })
export interface Rejection extends Schema.Schema.Type<typeof Rejection> {}

/**
 * - `seed`: the text whose tags of actions must survive.
 * - `actions`: the tags in which the agent acts: `answer`, and one for each tool; `search` unless others are given. Other tags,
 *   such as `think`, are a manner of speaking.
 * - `keep`: texts that must stay, such as the placeholders of a template.
 * - `known`: texts not to repeat.
 * - `maxWords`: the length cap; {@link maxWordsOf} the parent, or the seed, unless another is given.
 * - `parent`: the text that was shown as the original, if not the seed. What is there already, or in the seed, is not a leak,
 *   and characters it holds are not hidden.
 * - `count`: how many candidates may be accepted.
 * - `goldenAnswers`, `observations`: of the failures that were shown, as {@link shown} collects them.
 * - `commonAnswers`: answers that a candidate may name, such as labels, as {@link commonAnswers} finds them.
 */
export interface Rules {
  readonly seed: string
  readonly actions?: ReadonlyArray<string>
  readonly keep?: ReadonlyArray<string>
  readonly known: ReadonlyArray<string>
  readonly maxWords?: number
  readonly parent?: string
  readonly count?: number
  readonly goldenAnswers?: ReadonlyArray<string>
  readonly commonAnswers?: ReadonlyArray<string>
  readonly observations?: ReadonlyArray<string>
}

/** The length cap of revisions, in words: 700, about a quarter of the paper's longest prompt, or half as much again as the text has. */
export const maxWordsOf = (text: string): number => Math.max(700, Math.ceil(1.5 * squash(text).split(" ").length))

const defaultActions: ReadonlyArray<string> = ["search", "answer"]

/**
 * What of the shown records must not return in a candidate: the right answers, and all that was said. Clients choose the roles of
 * a transcript, so that no role is a reason to trust a text. Of an agent of inspo it is what tools brought.
 */
export const shown = (
  records: ReadonlyArray<ReflectiveRecord>
): Required<Pick<Rules, "goldenAnswers" | "observations">> => ({
  goldenAnswers: Arr.dedupe(records.flatMap(({ expected = [] }) => expected)),
  observations: records.flatMap(said)
})

const said = ({ feedback, task, transcript = [] }: ReflectiveRecord): ReadonlyArray<string> =>
  isAttempt(transcript)
    ? // What is shown after an invalid action is the environment's own text.
      transcript.turns.flatMap(({ action, observation }) => (action.kind === "invalid" ? [] : (observation ?? [])))
    : [
        ...(task === undefined ? [] : [task]),
        ...(feedback === undefined ? [] : [feedback]),
        ...(typeof transcript === "string" ? [transcript] : transcript.map(({ content }) => content))
      ]

/**
 * The answers that are right for at least two questions and for at least `share` of them, in [0, 1]: labels, yes and no, small
 * numbers. Naming such an answer gives no question away. Each question comes with all its golden answers.
 */
export const commonAnswers = (
  goldenAnswers: ReadonlyArray<ReadonlyArray<string>>,
  share: number
): ReadonlyArray<string> => {
  const counts = new Map<string, number>()
  for (const answers of goldenAnswers)
    for (const answer of new Set(answers.map((answer) => Words.fold(answer))))
      counts.set(answer, (counts.get(answer) ?? 0) + 1)
  const least = Math.max(2, share * goldenAnswers.length)
  return Array.from(counts).flatMap(([answer, count]) => (count >= least ? [answer] : []))
}

/** The share of {@link commonAnswers} unless a setting says otherwise: a label of up to 100 is not a secret. */
export const defaultCommonShare = 0.01

/** Candidates to verify and those rejected, both in their order. Without rules whatever has a text is accepted, as in the paper. */
export const lint = (
  candidates: ReadonlyArray<Instruction.Candidate>,
  rules?: Rules
): { readonly accepted: ReadonlyArray<Instruction.Candidate>; readonly rejected: ReadonlyArray<Rejection> } => {
  const broken = rules === undefined ? brokenByPaper : check(rules)
  const known = new Set(rules?.known.map(squash))
  const accepted: Array<Instruction.Candidate> = []
  const rejected: Array<Rejection> = []
  for (const candidate of candidates) {
    const reason =
      broken(candidate.text, known) ?? (accepted.length >= (rules?.count ?? Infinity) ? ("surplus" as const) : null)
    if (reason === null) {
      accepted.push(candidate)
      known.add(squash(candidate.text))
    } else {
      rejected.push({ text: candidate.text, reason })
    }
  }
  return { accepted, rejected }
}

const brokenByPaper = (text: string): RejectionReason | null => (squash(text) === "" ? "empty" : null)

/** The names of the tags of a text, such as `search`, each once. */
export const tagNames = (text: string): ReadonlyArray<string> => Arr.dedupe(tagsIn(text).map(({ name }) => name))

/** The first rule that a text breaks, given the texts not to repeat. */
const check = (rules: Rules) => {
  const trusted = `${rules.seed}\n${rules.parent ?? ""}`
  const names = tagNames(rules.seed)
  const needed = (rules.actions ?? defaultActions).filter((name) => names.includes(name))
  const isForeign = Script.isForeignTo(trusted)
  const copied = Words.copiedFrom(rules.observations ?? [], trusted)
  const common = new Set((rules.commonAnswers ?? []).map((answer) => Words.fold(answer)))
  const secrets = (rules.goldenAnswers ?? []).filter((answer) => !common.has(Words.fold(answer)))
  const leaks = Leak.reveals(secrets, trusted)
  const own = new Set(PlainText.hiddenIn(trusted))
  const parent = rules.parent === undefined ? null : squash(rules.parent)
  const maxWords = rules.maxWords ?? maxWordsOf(rules.parent ?? rules.seed)

  return (text: string, known: ReadonlySet<string>): RejectionReason | null => {
    const squashed = squash(text)
    if (!/[\p{L}\p{N}]/u.test(squashed)) return "empty"
    // What the user's own text is written with is not a trick of the proposer.
    if (PlainText.hiddenIn(text).some((hidden) => !own.has(hidden))) return "hidden-characters"
    if (squashed.split(" ").length > maxWords) return "too-long"
    const tags = tagsIn(text)
    if (needed.some((name) => tags.every((tag) => tag.name !== name))) return "tags-lost"
    if (needed.some((name) => !isShown(tags.filter((tag) => tag.name === name)))) return "tags-unbalanced"
    if (rules.keep?.some((kept) => !text.includes(kept)) === true) return "text-lost"
    if (tags.some(({ name }) => promptTag.test(name) && !names.includes(name))) return "prompt-tags"
    if (squashed === parent) return "parent-copy"
    if (known.has(squashed)) return "duplicate"
    if (isForeign(text)) return "other-script"
    if (overrides.test(Words.fold(text)) && !overrides.test(Words.fold(trusted))) return "task-overridden"
    if (leaks(text)) return "answer-leaked"
    return copied(text) ? "passage-copied" : null
  }
}

interface Tag {
  readonly name: string
  readonly closes: boolean
}

const tagsIn = (text: string): ReadonlyArray<Tag> =>
  [...text.matchAll(/<(\/?)([a-z][\w-]*)>/gi)].map(([, slash, name]) => ({ name: name ?? "", closes: slash === "/" }))

/** Whether a tag is opened, and closed after that. */
const isShown = (tags: ReadonlyArray<Tag>): boolean => {
  const opened = tags.findIndex(({ closes }) => !closes)
  return opened >= 0 && tags.slice(opened).some(({ closes }) => closes)
}

const promptTag = /^(ins_\d+|score_\d+|record|example|history|turn|observation|correct_answer)$/i

/** Orders to drop a task, but not advice on orders in retrieved texts. */
const overrides =
  /\b(?:ignore|disregard|forget|override)\s+(?:(?:all|any|every|of|the|your|my|these|those|this|previous|prior|above|earlier|other|original|current|given)\s+)+(?:instructions?|tasks?|prompts?|rules|directions|guidelines|orders)\b(?![^.!?]*\b(?:passages?|documents?|results?|pages?|texts?|observations?|snippets?|sources?)\b)/i

const squash = (text: string): string => text.trim().replace(/\s+/g, " ")
