/** The result of a search: the view of it, with the prompts and the cases that the user gave. */
import { type Instruction, Invariant } from "@inspo/domain"
import type { CandidateLint } from "@inspo/reflection"
import { Struct } from "effect"
import type { Prompt } from "./Options.ts"
import * as Report from "./Report.ts"
import type { Gain, SearchView } from "./SearchView.ts"
import type { Verdict } from "./Verdict.ts"

/** A prompt that was tried. `gain` is over the original, by the cases of the search. */
export interface Tried<P extends Prompt> {
  readonly prompt: P
  readonly parent: P | null
  readonly score: number | null
  readonly cases: number
  readonly gain: Gain | null
}

export interface EvolveResult<P extends Prompt, Case> {
  /** The prompt that was given, unless another one is shown to be better. It is exactly the text that was scored. */
  readonly prompt: P
  readonly verdict: Verdict["verdict"]
  /** The gain of the finalist over the original on held-out cases, with its 90 % interval; null if nothing was tested. */
  readonly gain: Gain | null
  /** The prompt that was tested; null if none led. */
  readonly finalist: P | null
  /** The largest gain of all prompts that were tried, which is larger at a risk of 5 %; by the cases of the search, null if none was tried. */
  readonly largestPossibleGain: number | null
  /** About how many calls of these prompts alone show or exclude `minimalGain` for each of them; null if nothing is known of them. */
  readonly callsNeeded: number | null
  readonly calls: number
  readonly usd: number
  /** Calls that were in flight when an earlier process ended, and what they count as in US dollars; both are in `calls` and `usd`. */
  readonly lost: { readonly calls: number; readonly usd: number }
  /** Cases of the search and of the test, and those that repeat another one. */
  readonly cases: { readonly search: number; readonly test: number; readonly repeated: number }
  /** How much the score of one output differs from a second one, on average; null if it was not measured. */
  readonly scoreNoise: number | null
  /** All prompts, the original first. */
  readonly tried: ReadonlyArray<Tried<P>>
  /** Proposals that break a rule, and proposers that failed. */
  readonly rejected: ReadonlyArray<CandidateLint.Rejection>
  readonly failures: ReadonlyArray<string>
  /** Cases that score below 1 under `prompt`, with the output. */
  readonly failing: ReadonlyArray<{ readonly case: Case; readonly score: number; readonly output: unknown }>
  /** The result as a page of Markdown. */
  readonly report: () => string
}

/** The result of a search that is done, where `repeated` cases are left out. */
export const make = <Case>(
  view: SearchView,
  cases: ReadonlyArray<Case>,
  repeated: number
): EvolveResult<Prompt, Case> => {
  const { test } = view
  const contents = new Map(view.tried.map(({ content, id }) => [id, content]))
  const find = (id: Instruction.InstructionId): Prompt => Invariant.get(contents, id, "the prompt")
  const caseOf = (index: number): Case => Invariant.at(cases, index, "case")
  return {
    prompt: find(view.prompt),
    verdict: view.verdict ?? "undecided",
    gain: test?.gain ?? null,
    finalist: test === null ? null : find(test.finalist),
    ...Struct.pick(view, [
      "largestPossibleGain",
      "callsNeeded",
      "calls",
      "usd",
      "lost",
      "scoreNoise",
      "rejected",
      "failures"
    ]),
    cases: { ...view.cases, repeated },
    tried: view.tried.map(({ cases: asked, gain, id, parent, score }) => ({
      prompt: find(id),
      parent: parent === null ? null : find(parent),
      score,
      cases: asked,
      gain
    })),
    failing: view.failing.map(({ index, output, score }) => ({ case: caseOf(index), score, output })),
    report: () => Report.markdown(view, caseOf, repeated)
  }
}
