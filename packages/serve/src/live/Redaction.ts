/** Redacts texts of users before they are stored. */
import { refuse, type Refused } from "@inspo/cohorts"
import { Invariant } from "@inspo/domain"
import { Effect, Result } from "effect"
import { RE2JS } from "re2js"
import type { Details, LeaseDetails, RewardDetails, Transcript } from "../store/Details.ts"
import { redact } from "./internal/redact.ts"

/** Returns a text as it may be stored. */
export type Redact = (text: string) => string

/** The length of one pattern, in characters, and the size of all together, in steps of an automaton. */
export const limits = { length: 1000, size: 1000 } as const

/**
 * Replaces each match of the regular expressions, one after the other, by one `█`. The syntax is that of RE2, whose time is
 * linear in the length of a text. Refused are look-around, references to groups, patterns that match the empty text, and
 * patterns that are too long or too large to be fast.
 *
 * @example
 * ```ts
 * import { Redaction } from "@inspo/serve"
 * import { Result } from "effect"
 *
 * Result.map(Redaction.make(["[\\w.]+@[\\w.]+"]), (redact) => redact("Write to ada@example.org!")) // "Write to █!"
 * ```
 */
export const make = (patterns: ReadonlyArray<string>): Result.Result<Redact, Refused> => {
  const compiled: Array<RE2JS> = []
  let size = 0
  for (const [at, pattern] of patterns.entries()) {
    const bad = (expected: string, remedy: string) =>
      refuse("invalid", `redact[${at}]`, pattern.slice(0, 80), expected, remedy)
    if (pattern.length > limits.length)
      return bad(`at most ${limits.length} characters`, "Split it into several patterns")
    const parsed = Result.try(() => RE2JS.compile(pattern))
    if (Result.isFailure(parsed))
      return bad("a regular expression of RE2, without look-around and references", `Fix it: ${reason(parsed.failure)}`)
    if (parsed.success.matcher("").find())
      return bad("a pattern that does not match the empty text", "Require at least one character")
    size += parsed.success.programSize()
    if (size > limits.size)
      return bad("patterns that are smaller in total", "Lower the counts of repetitions, such as {1,64}")
    compiled.push(parsed.success)
  }
  return Result.succeed(redact(compiled))
}

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** Whether nothing that users said is in the details of a command. */
export const isWithoutTexts = ({ leases = [], rewards = [] }: Details): boolean =>
  leases.every(({ question }) => question === undefined) &&
  rewards.every(
    ({ feedback, goldenAnswers, transcript }) =>
      feedback === undefined && transcript === undefined && goldenAnswers === undefined
  )

/** Redacts all texts of a command. Other requests are served between one sample and the next. */
export const details = Effect.fnUntraced(function* (
  redactAll: (texts: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>>,
  { leases, rewards }: Details
): Effect.fn.Return<Details> {
  return {
    ...(leases === undefined ? {} : { leases: yield* Effect.forEach(leases, together(redactAll, ofLease)) }),
    ...(rewards === undefined ? {} : { rewards: yield* Effect.forEach(rewards, together(redactAll, ofReward)) })
  }
})

/** Redacts all texts of one sample at once, in the order in which it holds them. */
const together =
  <A extends object>(redactAll: Parameters<typeof details>[0], of: (redact: Redact, one: A) => A) =>
  (one: A): Effect.Effect<A> =>
    Effect.suspend(() => {
      const texts: Array<string> = []
      of((text) => {
        texts.push(text)
        return text
      }, one)
      if (texts.length === 0) return Effect.succeed(one)
      return Effect.map(Effect.andThen(Effect.yieldNow, redactAll(texts)), (redacted) => {
        let place = 0
        return of(() => Invariant.at(redacted, place++, "text"), one)
      })
    })

const ofLease = (redact: Redact, { question, ...others }: LeaseDetails): LeaseDetails =>
  question === undefined
    ? others
    : {
        ...others,
        question: {
          ...(question.text === undefined ? {} : { text: redact(question.text) }),
          ...answers(redact, question)
        }
      }

const ofReward = (redact: Redact, reward: RewardDetails): RewardDetails => {
  const { feedback, transcript } = reward
  return {
    ...reward,
    ...(feedback === undefined ? {} : { feedback: redact(feedback) }),
    ...(transcript === undefined ? {} : { transcript: ofTranscript(redact, transcript) }),
    ...answers(redact, reward)
  }
}

const ofTranscript = (redact: Redact, transcript: Transcript): Transcript =>
  typeof transcript === "string"
    ? redact(transcript)
    : transcript.map(({ content, role }) => ({ role, content: redact(content) }))

const answers = (redact: Redact, { goldenAnswers }: Answers): Answers =>
  goldenAnswers === undefined ? {} : { goldenAnswers: goldenAnswers.map(redact) }

type Answers = Pick<RewardDetails, "goldenAnswers">
