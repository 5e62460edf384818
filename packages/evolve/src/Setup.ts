/** What a search is given, and how its cases and its budget of calls are divided. */
import { isDeepStrictEqual } from "node:util"
import { type Instruction, InvalidInput, RandomStream } from "@inspo/domain"
import * as Aim from "./Aim.ts"
import type { Learners } from "@inspo/reflection"
import type * as SearchView from "./SearchView.ts"
import * as Protected from "./Protected.ts"
import * as Sessions from "./Sessions.ts"

/** One text, or several named texts that an agent uses together, such as `{ system, toolDescription }`. */
export type Prompt = string | { readonly [name: string]: string }

/** What an agent and a score get besides their inputs. */
export interface CallContext {
  /** Aborts when the search is stopped, or when the call takes longer than `timeoutSeconds`. */
  readonly signal: AbortSignal
  /** Adds the price of a call in US dollars, so that `budget.usd` holds. May be called several times. */
  readonly spend: (usd: number) => void
  /** 0 for the first attempt, 1 for the first repetition. */
  readonly attempt: number
  /** Names the call: the same in all its attempts, also after a restart with the same `file`. */
  readonly key: string
}

/** A score in [0, 1], and what a proposer should read about the output, such as why it is wrong. */
export interface Scored {
  readonly score: number
  readonly feedback?: string
  /** Other numbers, such as `{ tokens: 120 }`, which a constraint of `compare` can bound. */
  readonly metrics?: Readonly<Record<string, number>>
}

/**
 * Answers a request of the search in text: what a language model is to a proposer. `usd` is what is left of the budget in US dollars;
 * `spend` adds a price, also of a request that fails.
 */
export type Complete = (
  request: string,
  context: { readonly signal: AbortSignal; readonly usd: number | null; readonly spend: (usd: number) => void }
) => Promise<string | Completion> | string | Completion
export interface Completion {
  readonly text: string
  readonly usd?: number
  /** `cut` at a limit of tokens, `refused` if the model declined. Without `done`, a prompt whose closing tag is missing is left out. */
  readonly end?: "done" | "cut" | "refused"
}

/**
 * - `prompt`: what is to be improved. To a text named `examples` cases of the search with right answers are added; it asks for none of them.
 * - `cases`: at least 10 different ones, as objects, or the path of a CSV or JSONL file. Half are held out for the final test. Cases with the
 *   same text as their `session` stay together, and are one observation. A prompt that fails one with `protected: true`, which the original
 *   solves, is not returned.
 * - `agent`: any function that answers a case under a prompt.
 * - `score`: how good an output is, in [0, 1].
 * - `proposer`: a language model as a function from text to text, a model of the AI SDK, or sentences that may be added to the prompt.
 * - `budget.calls`: the most calls of the agent. `budget.usd`: the most that calls and proposals may cost.
 */
export interface EvolveOptions<P extends Prompt, Case, Output> {
  readonly prompt: P
  readonly cases: Iterable<Case>
  agent(prompt: P, input: Case, context: CallContext): Promise<Output> | Output
  score(output: Output, input: Case, context: CallContext): Promise<number | Scored> | number | Scored
  readonly proposer: Complete | AiSdkModel | ReadonlyArray<string>
  /** How a language model as the proposer learns from what its proposals bring; by default it does not. */
  readonly proposerKind?: Learners.LearnerName
  readonly budget: { readonly calls: number; readonly usd?: number }
  /** The most that a call and its score can cost in US dollars; by default, what the most expensive one so far did cost. */
  atMost?(prompt: P, input: Case): number
  /**
   * The most that a request of the proposer can cost in US dollars, where `left` is left of the budget: no request starts that could pass
   * it. By default, what the most expensive request so far did cost, and every request starts.
   */
  proposalAtMost?(request: string, left: number | null): number
  /** Texts of the prompt that every revision keeps, such as the placeholders of a template. */
  readonly keep?: ReadonlyArray<string>
  /** What the answers depend on besides prompt and case, such as the name of a model: a `file` resumes only with the same. */
  readonly identity?: Readonly<Record<string, string>>
  /** The smallest gain that is of interest; 0.1, ten points, by default. */
  readonly minimalGain?: number
  /**
   * `better`, by default, or a prompt that is no worse by more than `margin`, and at least `saving` `shorter`, or `cheaper` per call: 0.05
   * and 0.1 by default. That is then the verdict.
   */
  readonly aim?: "better" | "shorter" | "cheaper"
  readonly margin?: number
  readonly saving?: number
  /**
   * What answers today and is to be replaced, such as the prompt under a model that is retired; `agent` answers with what comes next.
   * The final test compares with it: the verdict is `no-worse` where the new prompt, or the one that was given, loses no more than `margin`.
   */
  readonly control?: {
    agent(input: Case, context: CallContext): Promise<Output> | Output
    /** The most that a call and its score can cost in US dollars. */
    atMost?(input: Case): number
  }
  /**
   * A file that keeps every answer: with the same file, a search that was stopped goes on and pays for no answer twice. Calls that were in
   * flight when a process was killed count against the budget. One process at a time can use it.
   */
  readonly file?: string
  /** Calls of the agent at a time; 8 by default. */
  readonly concurrency?: number
  /** The longest that a call may take; 120 by default. */
  readonly timeoutSeconds?: number
  /** Repetitions of a call that fails; 3 by default. `Retry-After` of an error is kept. */
  readonly retries?: number
  readonly retryAfter?: RetryAfter
  /** Decides which cases are held out and which are asked; 1 by default. */
  readonly randomSeed?: number
  readonly signal?: AbortSignal
  /** Called after every event, in order. */
  readonly onProgress?: (progress: Progress) => void
}

/** How long to wait after an error: seconds, or null for the usual pause. */
export type RetryAfter = (error: unknown) => number | null

/** The same with the path of a CSV, TSV or JSONL file, whose rows are the cases. */
export interface FileOptions<P extends Prompt, Output> extends Omit<EvolveOptions<P, Row, Output>, "cases"> {
  readonly cases: string
}

/** A row of a file of cases. */
export type Row = Readonly<Record<string, string>>

/** Where a search is. `gain` is that of the leader, by the cases so far. */
export interface Progress {
  readonly phase: "search" | "test" | "done"
  readonly calls: number
  readonly budget: number
  readonly usd: number
  /** Calls that were in flight when an earlier process ended, and what they count as in US dollars. */
  readonly lost: { readonly calls: number; readonly usd: number }
  readonly prompts: number
  readonly leader: Prompt
  readonly gain: number | null
}

/** The part of an AI SDK model (specification v2 and later) that a proposer needs. */
export interface AiSdkModel {
  readonly specificationVersion: string
  readonly modelId: string
  readonly doGenerate: (options: {
    readonly prompt: Array<{ role: "user"; content: Array<{ type: "text"; text: string }> }>
    readonly abortSignal?: AbortSignal
  }) => PromiseLike<{
    readonly content: ReadonlyArray<{ readonly type: string; readonly text?: string }>
    /** A text in v2, an object since v3. */
    readonly finishReason?: string | { readonly unified: string }
    readonly usage: object
  }>
}

/**
 * `search` and `test` are indices of cases; only the first are ever shown to the proposer. A case of `search` is asked in this
 * order by every prompt, so that prompts share as many cases as possible.
 */
export interface Setup {
  readonly prompt: Instruction.Content
  readonly randomSeed: number
  readonly calls: number
  /** The most that everything may cost in US dollars; null for no limit. */
  readonly usd: number | null
  readonly minimalGain: number
  readonly search: ReadonlyArray<number>
  readonly test: ReadonlyArray<number>
  /** The cases that are protected, by their index. */
  readonly guarded: ReadonlyArray<number>
  readonly sessions: Sessions.Sessions
  /** Absent where a better prompt is looked for. */
  readonly aim?: SearchView.Aim
  /** The most prompts that are compared at a time. */
  readonly size: number
  /** The cases of the original prompt before anything is proposed. */
  readonly opening: number
  /** Calls of a round of search. */
  readonly round: number
}

/** What a search is divided by. */
export interface Given extends Pick<Setup, "prompt" | "randomSeed" | "calls" | "usd" | "minimalGain"> {
  readonly cases: number
  readonly guarded?: ReadonlyArray<number>
  /** Cases of one session are all in the search or all in the test. */
  readonly sessions?: Sessions.Sessions
  readonly aim?: SearchView.Aim | undefined
}

/** Of a new search. Throws `InvalidInput` on a budget or a number of cases with which no prompt can be shown to be better. */
export const begin = (given: Given): Setup => {
  assertEnough(given, 2 * leastTested, Math.ceil((2 * leastTested) / testShare))
  const setup = make(given)
  const tested = Sessions.group(setup.sessions, setup.test, (index) => index).length
  const value = `in ${tested} sessions that fit into the final test`
  const expected = `at least ${leastTested}, by smaller sessions or more calls: fewer show nothing`
  if (tested < leastTested) InvalidInput.refuse({ where, field: "cases", value, expected })
  const kept = Protected.reserved(setup.guarded)
  // The search gets as many calls as are kept, and the test its share or half of the cases twice.
  const least = Math.ceil(
    2 * kept + Math.min(2 * Math.floor(given.cases / 2), (testShare * 2 * kept) / (1 - testShare))
  )
  if (kept > 0 && setup.calls < least)
    InvalidInput.refuse({
      where,
      field: "budget.calls",
      value: setup.calls,
      expected: `at least ${least}: ${setup.guarded.length} protected cases can take ${kept} calls, and the search as many`
    })
  return setup
}

const assertEnough = ({ calls, cases }: Given, leastCases: number, leastCalls: number): void => {
  if (cases < leastCases)
    InvalidInput.refuse({
      where,
      field: "cases",
      value: cases,
      expected: `at least ${leastCases} different ones: half find a prompt, half test it`
    })
  InvalidInput.assertCount(where, "budget.calls", calls, leastCalls)
}

/** As a file has it, also one of when fewer cases and calls were allowed. Throws `InvalidInput` on settings that cannot be. */
export const make = (given: Given): Setup => {
  const { aim, calls, cases, guarded = [], minimalGain, prompt, randomSeed, sessions = [], usd } = given
  assertEnough(given, 6, 20)
  if (usd !== null && !(Number.isFinite(usd) && usd > 0))
    InvalidInput.refuse({
      where,
      field: "budget.usd",
      value: usd,
      expected: "US dollars above 0, or none for no limit"
    })
  if (!(minimalGain > 0 && minimalGain < 1))
    InvalidInput.refuse({
      where,
      field: "minimalGain",
      value: minimalGain,
      expected: "a gain above 0 and below 1, such as 0.1"
    })
  const drawn = RandomStream.make(randomSeed, ["cases"]).shuffle(Array.from({ length: cases }, (_, index) => index))
  const { order, test } = held(drawn, Math.min(Math.floor(cases / 2), Math.floor((testShare * calls) / 2)), sessions)
  const rest = calls - 2 * test
  return {
    prompt,
    randomSeed,
    calls,
    usd,
    minimalGain,
    search: order.slice(test),
    test: order.slice(0, test),
    guarded,
    sessions,
    ...(aim === undefined ? {} : { aim: Aim.check(aim) }),
    size: mostMembers,
    opening: Math.min(cases - test, Math.max(3, Math.floor(rest / 20))),
    round: 10
  }
}

/** The cases with those of the test first: of whole sessions, and at most so many. */
const held = (
  drawn: ReadonlyArray<number>,
  most: number,
  sessions: Sessions.Sessions
): { readonly order: ReadonlyArray<number>; readonly test: number } => {
  const members = Sessions.group(sessions, drawn, (index) => index)
  const tested = new Set<number>()
  for (const session of members) {
    if (tested.size + session.length <= most) for (const index of session) tested.add(index)
  }
  if (tested.size === 0)
    InvalidInput.refuse({
      where,
      field: "cases",
      value: `${members.length} sessions, of which the smallest has ${Math.min(...members.map(({ length }) => length))}`,
      expected: `a session of at most ${most} cases for the final test: no session is in both halves`
    })
  return { order: [...tested, ...drawn.filter((index) => !tested.has(index))], test: tested.size }
}

/** The most prompts that are compared at a time. */
export const mostMembers = 6

/** Calls between two evolutions, of a search with so many. */
export const every = (calls: number): number => Math.min(60, Math.max(10, Math.floor(calls / 3)))

/** The outputs of the first round that are scored twice. */
export const probes = 8

/** The scores of an output of the test, where scores vary. */
export const testScores = 3

/** The most scores besides the first of each output. */
export const mostRescores = ({ test }: Setup): number => probes + (testScores - 1) * 2 * test.length

/** The different cases in order, and how many repeat an earlier one: no case may be both in the search and in the test. */
export const distinct = <Case>(
  all: Iterable<Case>
): { readonly distinct: ReadonlyArray<Case>; readonly repeated: number } => {
  const known = new Map<string, Case>()
  let count = 0
  for (const one of all) {
    count += 1
    const key = keyOf(one, count)
    const same = known.get(key)
    if (!known.has(key)) known.set(key, one)
    else if (!isSame(same, one)) {
      const value = `${key.slice(0, 100)} in JSON, like another case that differs`
      const expected = "plain objects whose JSON differs; give each a field such as an id"
      InvalidInput.refuse({ where: "cases", field: `case ${count}`, value, expected })
    }
  }
  return { distinct: [...known.values()], repeated: count - known.size }
}

/** A case as text, without its session. A value without JSON is different from all others. */
const keyOf = (value: unknown, index: number): string => {
  try {
    return JSON.stringify(Sessions.without(value)) ?? `case ${index}`
  } catch {
    return `case ${index}`
  }
}

/** Whether cases with equal JSON are equal: an object of a class can have what nobody sees. */
const isSame = (one: unknown, other: unknown): boolean =>
  one === other ||
  ([null, Object.prototype, Array.prototype].includes(Object.getPrototypeOf(Object(other))) &&
    isDeepStrictEqual(Sessions.without(one), Sessions.without(other)))

const where = "evolve"
/** The share of the budget that compares the finalist with the original at the end. */
export const testShare = 0.35
/** The fewest cases by which the final test can show anything: a coin falls five times the same way in 3 %. */
const leastTested = 5
