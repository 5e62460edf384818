/** The result of a search, as data and as a page of Markdown. */
import type { Instruction } from "@inspo/domain"
import type { Event } from "./Event.ts"
import type { EvolveResult } from "./EvolveResult.ts"
import type { Prompt } from "./Options.ts"
import * as Report from "./Report.ts"
import * as Search from "./Search.ts"
import * as Summary from "./Summary.ts"

export interface Inputs<Case> {
  readonly state: Search.State
  readonly events: ReadonlyArray<Event>
  readonly cases: ReadonlyArray<Case>
  readonly repeated: number
}

/** The result of a search in which nothing but `Conclude` is due. */
export const make = <P extends Prompt, Case>(
  promptOf: (instruction: Instruction.Instruction) => P,
  { cases, events, repeated, state }: Inputs<Case>
): EvolveResult<P, Case> => {
  const summary = Summary.of(state, events)
  const { test } = summary
  const find = (id: Instruction.InstructionId) => promptOf(Search.promptOf(state, id))
  const result: Omit<EvolveResult<P, Case>, "report"> = {
    prompt: find(summary.prompt),
    verdict: summary.verdict ?? "undecided",
    gain: test?.gain ?? null,
    finalist: test === null ? null : find(test.finalist),
    largestPossibleGain: summary.largestPossibleGain,
    callsNeeded: summary.callsNeeded,
    calls: summary.calls,
    usd: summary.usd,
    lost: summary.lost,
    cases: { ...summary.cases, repeated },
    scoreNoise: summary.scoreNoise,
    tried: summary.tried.map(({ cases: asked, gain, id, parent, score }) => ({
      prompt: find(id),
      parent: parent === null ? null : find(parent),
      score,
      cases: asked,
      gain
    })),
    rejected: summary.rejected,
    failures: summary.failures,
    failing: summary.failing.flatMap(({ output, place, score }) =>
      cases.slice(place, place + 1).map((one) => ({ case: one, score, output }))
    )
  }
  return { ...result, report: () => Report.markdown(result, test, state.setup.minimalGain) }
}
