/** Equal prompts and cases in sessions, of which each prompt solves all cases or none. */
import { RandomStream } from "@inspo/domain"
import { Array as Arr } from "effect"
import * as Comparison from "../../src/Comparison.ts"
import * as Sessions from "../../src/Sessions.ts"

/** So many cases of each session, of which a prompt solves all or none. */
export const cases = (count: number, each: number) =>
  Arr.makeBy(count * each, (at) => ({ question: `${at}`, session: `s${at % count}` }))

/** Equal prompts, of which one solves a session or the other, by chance. */
export const solves = (seed: number, prompt: string, session: string): number =>
  Number(RandomStream.make(seed, [session]).next() < 0.5 === (prompt === "A"))

/** The states of a comparison with a budget of so many answers. */
export const compared = (
  seed: number,
  looks: Comparison.Looks,
  all: ReturnType<typeof cases>,
  calls = 2 * all.length
) => {
  const settings = { samples: 1, margin: 0.05, looks, requirement: null, calls, usd: null, randomSeed: seed } as const
  let state = Comparison.begin(Comparison.make({ ...settings, arms: ["A", "B"] }, all.length, [], Sessions.of(all)))
  const states = [state]
  let answered = 0
  for (;;) {
    const due = Comparison.next(state)
    if (due._tag === "Conclude") return states
    if (due._tag === "Decide") state = Comparison.apply(state, due.event)
    else
      for (const ask of due.asks.slice(0, calls - answered)) {
        const score = solves(seed, ask.prompt === Comparison.control ? "A" : "B", all[ask.case]?.session ?? "")
        state = Comparison.apply(state, { _tag: "Answered", ...ask, score, feedback: null, usd: 0 })
        answered += 1
      }
    if (state.round !== null && answered === calls) state = Comparison.apply(state, { _tag: "RoundCut" })
    states.push(state)
  }
}
