/** What a finished search shows about its finalist. */
import type { Instruction } from "@inspo/domain"
import { Conclude } from "@inspo/evolution"
import { Bootstrap, Bounded } from "@inspo/statistics"
import * as Evidence from "./Evidence.ts"
import { original, rescoresOf, type State } from "./Search.ts"
import type { SearchView } from "./SearchView.ts"

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
  const { gain, verdict } = Conclude.heldOut(
    pairs.map(({ after, before }) => ({
      least: meanOf(after, 0) - meanOf(before, 1),
      most: meanOf(after, 1) - meanOf(before, 0)
    })),
    { seed: setup.randomSeed }
  )
  const isBetter = verdict === "better"
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
