/** Searches of `evolve()` for simulated agents, and their true results. */
import { evolve } from "@inspo/evolve"
import type { Outcome } from "./Outcome.ts"
import * as Scripted from "./ScriptedProposer.ts"
import * as Trial from "./Trial.ts"
import * as World from "./World.ts"

/** A search with the scripted proposer, or with sentences that are added to the prompt. */
export const run = async (
  world: World.World,
  budget: Trial.Budget,
  sentences?: ReadonlyArray<string>
): Promise<Outcome> => {
  const trial = Trial.open(world, budget)
  const result = await evolve({
    prompt: World.seedPrompt,
    cases: Array.from({ length: budget.cases }, (_, id) => ({ id })),
    agent: (prompt, { id }) => {
      const answer = trial.ask(prompt, id)
      if (answer === null) throw new RangeError(`more than ${budget.calls} calls`)
      return answer
    },
    score: (answer) => trial.score(answer),
    proposer: sentences ?? scripted(trial),
    budget: { calls: budget.calls },
    concurrency: 1,
    randomSeed: budget.seed
  })
  const finalist = result.finalist === null ? null : Trial.gainOf(world, result.finalist)
  return {
    verdict: result.verdict,
    prompt: result.prompt,
    gain: Trial.gainOf(world, result.prompt),
    finalist,
    covered:
      finalist === null || result.gain === null
        ? null
        : result.gain.lower <= finalist + rounding && finalist <= result.gain.upper + rounding,
    tried: Math.max(...result.tried.flatMap(({ cases, prompt }) => (cases > 0 ? [Trial.gainOf(world, prompt)] : []))),
    ...trial.counts()
  }
}

const rounding = 1e-9

const scripted =
  (trial: Trial.Trial) =>
  (request: string): string =>
    Scripted.answer(trial.propose(parentIn(request), request, Scripted.countIn(request)))

/** The prompt that a request asks to revise: the first text that begins as the original does. */
const parentIn = (request: string): string =>
  new RegExp(`${World.seedPrompt}[^\\n<]*`, "u").exec(request)?.[0] ?? World.seedPrompt
