/** Where a search is or how it ended, as JSON and in words: what terminals, pages and reports show of it. Loads little, for pages. */
import { Instruction } from "@inspo/domain"
import { CandidateLint } from "@inspo/reflection"
import { Schema } from "effect"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))

/** A mean difference in score with the ends of its interval; each is in [-1, 1]. */
export const Gain = Schema.Struct({ mean: Schema.Finite, lower: Schema.Finite, upper: Schema.Finite })
export interface Gain extends Schema.Schema.Type<typeof Gain> {}

/** A case or an output as text. */
export const textOf = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? String(value))

/** The same on one line, in at most 160 characters. */
export const short = (value: unknown): string => {
  const text = textOf(value).replace(/\s+/gu, " ")
  return text.length <= 160 ? text : `${text.slice(0, 159)}…`
}

/** What is looked for besides a better score; `no-worse` is a prompt for an agent that replaces another one. */
export const Aim = Schema.Struct({
  what: Schema.Literals(["shorter", "cheaper", "no-worse"]),
  /** The loss in score that does not count. */
  margin: Schema.Finite,
  /** The least share of the length, or of the price of a call, that is saved. */
  saving: Schema.Finite
})
export interface Aim extends Schema.Schema.Type<typeof Aim> {}

/** What the cases of the search say about a prompt. `score` and `chance` are in [0, 1]. */
const Evidence = {
  /** The mean score of its answers, where a missing score counts as 0; null before the first. */
  score: Schema.NullOr(Schema.Finite),
  /** P(best) among the members; null for a prompt that is not one. */
  chance: Schema.NullOr(Schema.Finite),
  /** The gain over the prompt that was given, with its 95 % interval; null for that one and before the first answer. */
  gain: Schema.NullOr(Gain)
}

/** A prompt that was tried. */
export const Tried = Schema.Struct({
  id: Instruction.InstructionId,
  /** The prompt that it revises; null for the one that was given. */
  parent: Schema.NullOr(Instruction.InstructionId),
  content: Instruction.Content,
  /** The proposer's reason for it; null for the prompt that was given. */
  rationale: Schema.NullOr(Schema.String),
  /** The round after which it entered; 0 for the prompt that was given. */
  enteredAfter: Count,
  /** The round after which it was removed, and the rule that says so; null while it is a member. */
  left: Schema.NullOr(Schema.Struct({ after: Count, reason: Schema.String })),
  /** The cases of the search that it was asked. */
  cases: Count,
  ...Evidence
})
export interface Tried extends Schema.Schema.Type<typeof Tried> {}

/** A round of search, when all its calls were answered. */
export const Round = Schema.Struct({
  round: Count,
  /** Calls of the agent until then, and what everything cost in US dollars. */
  calls: Count,
  usd: Schema.Finite,
  members: Schema.Array(Schema.Struct({ id: Instruction.InstructionId, ...Evidence }))
})
export interface Round extends Schema.Schema.Type<typeof Round> {}

/** A case that scores below 1. `index` counts the different cases from 0. */
export const Failing = Schema.Struct({
  index: Count,
  case: Schema.Json,
  score: Schema.Finite,
  feedback: Schema.NullOr(Schema.String),
  output: Schema.Json
})
export interface Failing extends Schema.Schema.Type<typeof Failing> {}

export const SearchView = Schema.Struct({
  phase: Schema.Literals(["search", "test", "done"]),
  /**
   * - `better`: the finalist is better than the original on held-out cases, at a risk of 5 %.
   * - `shorter`, `cheaper`: it is no worse by more than the margin, and saves enough; each at a risk of 5 %.
   * - `no-worse`: it is no worse by more than the margin than what it replaces, at a risk of 5 %.
   * - `no-headroom`: none of the prompts that were tried is better by the gain that was asked for, at a risk of 5 % for all together.
   * - `undecided`: neither could be shown.
   *
   * Null until the search is done.
   */
  verdict: Schema.NullOr(Schema.Literals(["better", "shorter", "cheaper", "no-worse", "no-headroom", "undecided"])),
  /** Why nothing more was asked; null while the search goes on. */
  because: Schema.NullOr(Schema.Literals(["no-headroom", "budget", "no-more-proposals"])),
  /** What is looked for; absent if that is a better prompt. */
  aim: Schema.optionalKey(Aim),
  /** The prompt to use: the one that was given, unless another one is shown to be better, or to be what is looked for. */
  prompt: Instruction.InstructionId,
  /** The member that is probably the best. */
  leader: Instruction.InstructionId,
  /** The comparison on held-out cases, with a 90 % interval; null if it was not made yet, or not needed. `original` is a mean score. */
  test: Schema.NullOr(
    Schema.Struct({
      finalist: Instruction.InstructionId,
      gain: Gain,
      /** How the length or the price of a call changes, as a share, and whether enough is shown to be saved; absent without an aim. */
      saved: Schema.optionalKey(Schema.Struct({ ...Gain.fields, isShown: Schema.Boolean })),
      original: Schema.Finite,
      cases: Count,
      /** Independent observations: a case without a session is one, and so are all cases of a session. */
      sessions: Count,
      /** The gain after so many calls of the test, for figures: only the last one decides. */
      course: Schema.Array(Schema.Struct({ calls: Count, gain: Gain }))
    })
  ),
  /**
   * Protected cases that the finalist is shown to fail more often than the original, and those of which this is not known; absent if there
   * are none, and while the search goes on.
   */
  protected: Schema.optionalKey(Schema.Struct({ lost: Schema.Array(Count), open: Schema.Array(Count) })),
  minimalGain: Schema.Finite,
  /** The largest gain of all prompts that were tried, which is larger at a risk of 5 %; by the cases of the search, null if none was tried. */
  largestPossibleGain: Schema.NullOr(Schema.Finite),
  /** About how many calls of these prompts alone show or exclude `minimalGain` for each of them; null if nothing is known of them. */
  callsNeeded: Schema.NullOr(Schema.Finite),
  calls: Count,
  /** The most calls of the agent. */
  budget: Count,
  usd: Schema.Finite,
  /** Calls that were in flight when an earlier process ended, and what they count as in US dollars; both are in `calls` and `usd`. */
  lost: Schema.Struct({ calls: Count, usd: Schema.Finite }),
  /** The most US dollars; null for no limit. */
  budgetUsd: Schema.NullOr(Schema.Finite),
  cases: Schema.Struct({ search: Count, test: Count }),
  /** How much the score of one output differs from a second one, on average; null if it was not measured. */
  scoreNoise: Schema.NullOr(Schema.Finite),
  /** All prompts, the one that was given first. */
  tried: Schema.NonEmptyArray(Tried),
  /** Proposals that break a rule. */
  rejected: Schema.Array(CandidateLint.Rejection),
  /** Why calls, proposers and files failed. */
  failures: Schema.Array(Schema.String),
  /** Cases that score below 1: under `prompt` once the search is done, under `leader` before. */
  failing: Schema.Array(Failing),
  /** The rounds of search that are complete. */
  rounds: Schema.Array(Round),
  randomSeed: Schema.Finite,
  /** What the answers depend on besides prompt and cases, such as the model. */
  identity: Schema.Record(Schema.String, Schema.String)
})
export interface SearchView extends Schema.Schema.Type<typeof SearchView> {}

export const titles: Readonly<Record<NonNullable<SearchView["verdict"]>, string>> = {
  better: "A better prompt",
  shorter: "A shorter prompt that is no worse",
  cheaper: "A cheaper prompt that is no worse",
  "no-worse": "A prompt that is no worse than what it replaces",
  "no-headroom": "No better prompt",
  undecided: "Undecided: the prompt stays as it is"
}

/** What is shown of the prompt in use, beside the one that was given. */
export const shownOf = ({
  aim,
  prompt,
  tried,
  verdict
}: Pick<SearchView, "aim" | "prompt" | "tried" | "verdict">): string =>
  aim !== undefined && verdict === "no-worse"
    ? `${noWorse(aim)} than what it replaces`
    : prompt === tried[0].id
      ? "the one that was given"
      : aim === undefined
        ? "better than the one that was given"
        : `${aim.what} than the one that was given, and ${noWorse(aim)}`

const noWorse = ({ margin }: Aim): string => `no worse by more than ${points(margin)} points`

/** What the cases show, where `others` prompts were tried besides the one that was given. */
export const sentence = (
  {
    aim,
    callsNeeded,
    largestPossibleGain,
    minimalGain,
    protected: { lost: failed, open } = { lost: [], open: [] },
    test
  }: Pick<SearchView, "aim" | "callsNeeded" | "largestPossibleGain" | "minimalGain" | "protected" | "test">,
  others: number
): string => {
  if (failed.length > 0)
    return `The new prompt fails ${failed.length} protected ${failed.length === 1 ? "case" : "cases"} that the original solves.`
  if (test !== null) {
    const { cases, gain, original, saved, sessions } = test
    if (cases === 0) return "The budget allowed no call to test the prompt that leads."
    return (
      `On ${casesOf(cases, sessions, "held-out ")} ${aim?.what === "no-worse" ? "what is replaced" : "the original"} scores ${percent(original)}, and the new prompt ${percent(original + gain.mean)}: ` +
      `${interval(gain)} points at 90 %.` +
      (open.length === 0 ? "" : ` The budget did not show that it keeps ${open.length} protected cases.`) +
      (aim !== undefined && saved !== undefined
        ? ` ${savings(aim, gain, saved)}`
        : gain.lower > 0
          ? ""
          : ` ${doubt(gain, sessions, cases, minimalGain)}`)
    )
  }
  if (largestPossibleGain === null) return "No other prompt was tried."
  return (
    `Of ${others} other prompts that were tried, none leads. None is better than the original by more than ${points(largestPossibleGain)} points ` +
    `(at a risk of 5 % for all of them together).` +
    (largestPossibleGain < minimalGain
      ? ""
      : ` ${callsNeeded === null ? "More calls" : `About ${callsNeeded} calls of these prompts alone, on more cases where they run out,`} would show or exclude ${points(minimalGain)} points.`)
  )
}

/** What a test says of a prompt that is to be shorter or cheaper. */
const savings = (aim: Aim, gain: Gain, saved: Gain & { readonly isShown: boolean }): string => {
  const what = aim.what === "shorter" ? "length" : "price of a call"
  const isNoWorse = gain.lower > -aim.margin
  const claims: ReadonlyArray<readonly [boolean, string]> = [
    [isNoWorse, `it is ${noWorse(aim)}`],
    ...(aim.what === "no-worse"
      ? []
      : ([[saved.isShown, `its ${what} falls by at least ${percent(aim.saving)}`]] as const))
  ]
  const said = (isShown: boolean, words: string) => {
    const own = claims.flatMap(([is, claim]) => (is === isShown ? [claim] : []))
    return own.length === 0 ? [] : [`${words} that ${own.join(", and that ")}.`]
  }
  return [
    ...(saved.lower === -1 && saved.upper === 1 ? [] : [`Its ${what} changes by ${interval(saved)} %.`]),
    ...said(true, "It is shown"),
    ...said(false, "It is not shown")
  ].join(" ")
}

/** What a test that does not show a gain says, and how many cases would show one: the interval shrinks with their root. */
const doubt = ({ lower, mean, upper }: Gain, sessions: number, cases: number, minimalGain: number): string => {
  if (upper < 0) return "Its lead in the search was chance."
  if (upper < minimalGain) return `A gain of ${points(minimalGain)} points is excluded.`
  const width = Math.max(upper - mean, mean - lower)
  const sought = width >= minimalGain ? Math.max(mean, minimalGain) : mean
  const needed = Math.ceil(sessions * (width / sought) ** 2)
  const what = sessions < cases ? "sessions" : "cases"
  return `That can be chance: about ${needed} held-out ${what}, ${2 * needed} in all, show a gain of ${points(sought)} points.`
}

/** `40 cases`, or `40 cases of 8 sessions`, each of which counts once. */
export const casesOf = (cases: number, sessions: number, kind = ""): string =>
  `${cases} ${kind}cases${sessions < cases ? ` of ${sessions} sessions, each of which counts once,` : ""}`

/** A share in [0, 1] as points: `12.5`. */
export const points = (share: number): string => (100 * share).toFixed(1)
export const percent = (share: number): string => `${points(share)} %`
const signed = (share: number): string => `${share >= 0 ? "+" : "−"}${points(Math.abs(share))}`
/** `+12.5 [+3.0, +22.0]`. */
export const interval = ({ lower, mean, upper }: Gain): string => `${signed(mean)} [${signed(lower)}, ${signed(upper)}]`

/** `$12.34`, `$0.0042`: two digits that count, at least. */
export const dollars = (usd: number): string => `$${(usd >= 1 || usd === 0 ? cents : digits).format(usd)}`

/** Calls that were in flight when a process ended, as a sentence. */
export const lost = ({ calls, usd }: { readonly calls: number; readonly usd: number }): string =>
  `${calls} ${calls === 1 ? "call was" : "calls were"} in flight when a previous process ended; ` +
  `their cost is unknown, counted as ${dollars(usd)}.`

const cents = new Intl.NumberFormat("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })
const digits = new Intl.NumberFormat("en-US", { minimumSignificantDigits: 2, maximumSignificantDigits: 2 })
