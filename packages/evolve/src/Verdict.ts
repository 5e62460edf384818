/** What a finished search shows about its finalist. */
import { type Instruction, RandomStream } from "@inspo/domain"
import { Bootstrap, Bounded } from "@inspo/statistics"
import * as Evidence from "./Evidence.ts"
import { original, rescoresOf, type State } from "./Search.ts"
import type { Gain, SearchView } from "./SearchView.ts"

/**
 * - `better`: the finalist is better than the original on held-out cases, at a risk of 5 %.
 * - `no-headroom`: none of the prompts that were tried is better by the gain that was asked for, at a risk of 5 % for all together.
 * - `undecided`: neither could be shown.
 */
export interface Verdict {
  readonly verdict: "better" | "no-headroom" | "undecided"
  readonly prompt: Instruction.InstructionId
  /** On the held-out cases; null if no finalist was tested. */
  readonly test: SearchView["test"]
}

/**
 * About how many calls, of these prompts and the original alone, bring the bounds of all within the gain that is of interest, at the noise
 * that was seen. Null if nothing is known of them.
 */
export const callsNeeded = (bounds: ReadonlyArray<Evidence.Bound>, minimalGain: number): number | null => {
  const pairs = bounds.map(({ differences, risk }) => Bounded.neededFor(differences, minimalGain, risk))
  const known = pairs.filter((one) => one !== null)
  if (known.length === 0) return null
  const [most, sum] = [Math.max(...known), known.reduce((total, one) => total + one, 0)]
  // A prompt of which nothing is known needs about as many as the others.
  return Math.ceil(most + (sum * pairs.length) / known.length)
}

/** The verdict of a state in which nothing but `Conclude` is due. */
export const of = (state: State): Verdict => {
  const { ended, setup, tests } = state
  const finalist = ended?.finalist ?? null
  if (finalist === null)
    return {
      verdict: ended?.because === "no-headroom" ? "no-headroom" : "undecided",
      prompt: original,
      test: null
    }
  const [originals, finalists] = [Evidence.ofPrompt(tests, original), Evidence.ofPrompt(tests, finalist)]
  const pairs = setup.test.flatMap((index) => {
    const [before, after] = [Evidence.at(originals, index), Evidence.at(finalists, index)]
    return before.length === 0 || after.length === 0 ? [] : [{ before, after }]
  })
  const meanOf = (outcomes: ReadonlyArray<Evidence.Outcome>, missing: number) =>
    average(outcomes.map((outcome) => scoreOf(state, outcome, missing)))
  const differences = pairs.map(({ after, before }) => meanOf(after, 0) - meanOf(before, 1))
  const interval = gainOf(differences)
  const isBetter = interval.mean > 0 && chance(differences, setup.randomSeed) <= risk
  // The test of signs excludes a loss more often than the interval does.
  const gain = isBetter ? { ...interval, lower: Math.max(0, interval.lower) } : interval
  return {
    verdict: isBetter ? "better" : "undecided",
    prompt: isBetter ? finalist : original,
    test: { finalist, gain, original: average(pairs.map(({ before }) => meanOf(before, 0))), cases: pairs.length }
  }
}

/** The mean of the scores of an output; a missing one counts as `missing`, which speaks against the finalist. */
const scoreOf = (state: State, outcome: Evidence.Outcome, missing: number): number =>
  outcome._tag === "Answered" ? average([outcome.score, ...rescoresOf(state, outcome)]) : missing

const average = (values: ReadonlyArray<number>): number => Bootstrap.meanOf(values) ?? 0

const gainOf = (differences: ReadonlyArray<number>): Gain => {
  if (differences.length === 0) return { mean: 0, lower: -1, upper: 1 }
  const [lower, upper] = Bounded.differenceInterval(differences)
  return { mean: average(differences), lower, upper }
}

/** The one-sided p-value of a mean above 0 by random signs, which is exact for few cases where the t-interval is not. */
const chance = (differences: ReadonlyArray<number>, seed: number): number => {
  // The sign of no difference changes nothing.
  const signed = differences.filter((one) => one !== 0)
  const total = signed.reduce((sum, one) => sum + one, 0)
  const stream = RandomStream.make(seed, ["signs"])
  let asLarge = 1
  for (let draw = 0; draw < permutations; draw++) {
    let sum = 0
    for (const one of signed) sum += stream.next() < 0.5 ? one : -one
    if (sum >= total - 1e-12) asLarge += 1
  }
  return asLarge / (permutations + 1)
}

const permutations = 9_999
const risk = 0.05
