/** What is blackened in texts of users before they are stored. */
import { Refused } from "@inspo/cohorts"
import * as Invariant from "@inspo/domain/Invariant"
import { Effect, Result } from "effect"
import { RE2JS } from "re2js"
import { blacken } from "./internal/redact.ts"
import type { OfLease, OfReward, Told } from "../store/Details.ts"

/** Gives a text as it may be stored. */
export type Redact = (text: string) => string

/** The length of one pattern, in characters, and the size of all together, in steps of an automaton. */
export const limits = { length: 1000, size: 1000 } as const

/**
 * Blackens what regular expressions match, one after the other, each match by one `█`. They are those of RE2, whose time is
 * linear in the length of a text: look-around and references to groups are refused, and so is what matches nothing, or is too
 * long or too large to be quick.
 *
 * @example
 * ```ts
 * import { make } from "@inspo/serve/live/Redaction"
 * import { Result } from "effect"
 *
 * Result.map(make(["[\\w.]+@[\\w.]+"]), (redact) => redact("Write to ada@example.org!")) // "Write to █!"
 * ```
 */
export const make = (patterns: ReadonlyArray<string>): Result.Result<Redact, Refused> => {
  const bad = (at: number, pattern: string, expected: string) =>
    Result.fail(new Refused({ code: "invalid", field: `redact[${at}]`, value: pattern.slice(0, 80), expected }))
  const compiled: Array<RE2JS> = []
  let size = 0
  for (const [at, pattern] of patterns.entries()) {
    if (pattern.length > limits.length)
      return bad(at, pattern, `at most ${limits.length} characters. Part it into several`)
    const parsed = Result.try(() => RE2JS.compile(pattern))
    if (Result.isFailure(parsed))
      return bad(
        at,
        pattern,
        `a regular expression of RE2, without look-around and references: ${reason(parsed.failure)}`
      )
    if (parsed.success.matcher("").find()) return bad(at, pattern, "a pattern that does not match an empty text")
    size += parsed.success.programSize()
    if (size > limits.size)
      return bad(
        at,
        pattern,
        "patterns that are smaller in all. Lower the numbers of their repetitions, such as {1,64}"
      )
    compiled.push(parsed.success)
  }
  return Result.succeed(blacken(compiled))
}

const reason = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** What was told, with each text as it may be stored. Other requests are served between one sample and the next. */
export const told = Effect.fnUntraced(function* (
  redact: (texts: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<string>>,
  { leases, rewards }: Told
): Effect.fn.Return<Told> {
  return {
    ...(leases === undefined ? {} : { leases: yield* Effect.forEach(leases, apart(redact, ofLease)) }),
    ...(rewards === undefined ? {} : { rewards: yield* Effect.forEach(rewards, apart(redact, ofReward)) })
  }
})

/** All texts of one sample are redacted together, in the order in which it holds them. */
const apart =
  <A extends object>(redact: Parameters<typeof told>[0], of: (redact: Redact, one: A) => A) =>
  (one: A): Effect.Effect<A> =>
    Effect.suspend(() => {
      const texts: Array<string> = []
      of((text) => {
        texts.push(text)
        return text
      }, one)
      if (texts.length === 0) return Effect.succeed(one)
      return Effect.map(Effect.andThen(Effect.yieldNow, redact(texts)), (redacted) => {
        let place = 0
        return of(() => Invariant.at(redacted, place++, "text"), one)
      })
    })

const ofLease = (redact: Redact, { question, ...others }: OfLease): OfLease => ({
  ...others,
  ...(question === undefined
    ? {}
    : {
        question: {
          ...(question.text === undefined ? {} : { text: redact(question.text) }),
          ...answers(redact, question)
        }
      })
})

const ofReward = (redact: Redact, reward: OfReward): OfReward => {
  const { feedback, transcript } = reward
  return {
    ...reward,
    ...(feedback === undefined ? {} : { feedback: redact(feedback) }),
    ...(transcript === undefined
      ? {}
      : {
          transcript:
            typeof transcript === "string"
              ? redact(transcript)
              : transcript.map(({ content, role }) => ({ role, content: redact(content) }))
        }),
    ...answers(redact, reward)
  }
}

const answers = (redact: Redact, { goldenAnswers }: Pick<OfReward, "goldenAnswers">): Pick<OfReward, "goldenAnswers"> =>
  goldenAnswers === undefined ? {} : { goldenAnswers: goldenAnswers.map(redact) }
