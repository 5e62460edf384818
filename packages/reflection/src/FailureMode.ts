/** What went wrong in a failure, as far as its transcript shows. */
import { Array as Arr, Record, Schema } from "effect"
import { type Attempt, isAttempt, type ReflectiveRecord } from "./ReflectiveRecord.ts"

/** The ways to fail that can be read off a transcript. One failure can show several. */
export const FailureMode = Schema.Literals([
  "no-search",
  "whole-question-as-query",
  "stopped-after-first-hop",
  "evidence-not-stated",
  "answer-not-in-evidence",
  "wordy-answer",
  "broken-tags",
  "ran-out-of-turns",
  "other"
])
export type FailureMode = typeof FailureMode.Type

/** Each mode as a predicate of a sentence about trajectories. */
export const description: Readonly<Record<FailureMode, string>> = {
  "no-search": "never searched",
  "whole-question-as-query": "used the whole question as a query",
  "stopped-after-first-hop": "answered after a single search that did not show the answer",
  "evidence-not-stated": "went on without saying what the search had shown",
  "answer-not-in-evidence": "gave an answer that no search had shown",
  "wordy-answer": "wrapped the answer in further words",
  "broken-tags": "broke the tags of the protocol",
  "ran-out-of-turns": "ran out of turns before answering",
  other: "failed in another way"
}

/** How an agent acts: `actions` by itself, `answer` and its tools; `readsTags` is false where what it writes counts unchanged. */
export interface Protocol {
  readonly actions: ReadonlyArray<string>
  readonly readsTags: boolean
}

/** The protocol of agents that search. */
export const searching: Protocol = { actions: ["search", "answer"], readsTags: true }

/**
 * The modes a failure shows, in the order of the literals; `other` alone when it shows none. Only an agent that may search
 * fails by not searching, and only where tags are read is it a failure to break them.
 */
export const diagnose = (
  { expected = [""], task = "", transcript }: ReflectiveRecord,
  protocol: Protocol = searching
): Arr.NonEmptyReadonlyArray<FailureMode> => {
  if (!isAttempt(transcript)) return ["other"]
  const failure = { ...transcript, task, expected }
  const modes = Record.keys(signs).filter((mode) => isPossible(mode, protocol) && signs[mode](failure))
  return Arr.isReadonlyArrayNonEmpty(modes) ? modes : ["other"]
}

/** How many of the failures show each mode; modes that none shows are absent. The most frequent come first. */
export const count = (
  failures: ReadonlyArray<ReflectiveRecord>,
  protocol: Protocol = searching
): ReadonlyArray<{ readonly mode: FailureMode; readonly failures: number }> => {
  const shown = failures.flatMap((failure) => diagnose(failure, protocol))
  return FailureMode.literals
    .map((mode) => ({ mode, failures: shown.filter((one) => one === mode).length }))
    .filter(({ failures }) => failures > 0)
    .sort((a, b) => b.failures - a.failures)
}

const isPossible = (mode: FailureMode, { actions, readsTags }: Protocol): boolean =>
  mode === "no-search" ? actions.includes("search") : mode === "broken-tags" ? readsTags : true

/** The share of a question's words from which a query counts as the whole question. */
const wholeQuestionShare = 0.75

/** How many words more than the longest golden answer make an answer wordy. */
const wordyExcess = 3

interface Failure extends Attempt {
  readonly task: string
  readonly expected: ReadonlyArray<string>
}

const signs: Readonly<Record<Exclude<FailureMode, "other">, (failure: Failure) => boolean>> = {
  "no-search": (failure) => queries(failure).length === 0,
  "whole-question-as-query": (failure) => {
    const asked = new Set(words(failure.task))
    return queries(failure).some((query) => {
      const queried = new Set(words(query))
      const repeated = [...asked].filter((word) => queried.has(word)).length
      return asked.size > 0 && repeated >= wholeQuestionShare * asked.size
    })
  },
  "stopped-after-first-hop": (failure) =>
    failure.answer !== null &&
    queries(failure).length === 1 &&
    !failure.expected.some((golden) => contains(evidence(failure), golden)),
  "evidence-not-stated": ({ turns }) =>
    Arr.zip(turns, turns.slice(1)).some(
      ([turn, next]) => turn.action.kind === "search" && turn.observation !== null && !/^\s*<think>/.test(next.text)
    ),
  "answer-not-in-evidence": (failure) =>
    failure.answer !== null &&
    queries(failure).length > 0 &&
    !isWordy(failure.answer, failure.expected) &&
    !contains(evidence(failure), failure.answer),
  "wordy-answer": ({ answer, expected }) => answer !== null && isWordy(answer, expected),
  "broken-tags": ({ finishReason, turns }) =>
    finishReason === "invalid-action" || turns.some((turn) => turn.action.kind === "invalid"),
  "ran-out-of-turns": ({ finishReason }) => finishReason === "turns-exhausted" || finishReason === "context-exhausted"
}

const isWordy = (answer: string, goldenAnswers: ReadonlyArray<string>): boolean => {
  const length = words(answer).length
  return (
    length >= Math.max(...goldenAnswers.map((golden) => words(golden).length)) + wordyExcess ||
    goldenAnswers.some((golden) => contains(answer, golden) && length > words(golden).length)
  )
}

const queries = ({ turns }: Failure): ReadonlyArray<string> =>
  turns.flatMap(({ action }) => (action.kind === "search" ? [action.content] : []))

const evidence = ({ turns }: Failure): string =>
  turns.flatMap(({ action, observation }) => (action.kind === "search" ? [observation ?? ""] : [])).join(" ; ")

const contains = (text: string, part: string): boolean =>
  ` ${words(text).join(" ")} `.includes(` ${words(part).join(" ")} `)

const words = (text: string): ReadonlyArray<string> => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
