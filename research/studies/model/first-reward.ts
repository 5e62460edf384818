/**
 * Simulates how soon the runs of research/docs/real-model-study.md are rewarded for the first time, by `schedule.searchEvery`:
 *
 *     npx pnpm@12 exec node research/studies/model/first-reward.ts [SIMULATIONS] [FIRST SEED]
 *
 * Chances are those of research/docs/real-model-details.md: the gate's, and for pairs of sentences that it has not, in proportion to those of the
 * probes. Each further sentence is assumed to leave three quarters of a chance, a harmful one three tenths.
 */
import { Exact } from "@inspo/statistics"
import { Array as Arr, Console, Effect } from "effect"
import { interval, points } from "../src/Format.ts"
import { letter } from "../src/gate/Tasks.ts"
import * as FirstReward from "../src/simulation/FirstReward.ts"

const [simulations = 1000, seed = 1] = process.argv.slice(2).map(Number)
const [plain] = letter.instructions
const [dear = "", birthday = "", , card = "", ...others] = letter.sentences
const harmful = new Set(["Answer in one word.", "Write a list.", "Do not use names."])

const chanceOf = (text: string): number => {
  const has = (sentence: string) => text.includes(sentence)
  const rest = others.filter(has).reduce((left, one) => left * (harmful.has(one) ? 0.3 : 0.75), 1)
  if (has(dear) && has(birthday)) return rest * (text.indexOf(dear) < text.indexOf(birthday) ? 0.1 : 0.04)
  if (has(dear) && has(card)) return rest * 0.056
  return rest * (has(card) ? 0.02 : has(birthday) ? 0.01 : 0)
}

const task = { seedInstruction: plain, sentences: letter.sentences, chanceOf }
const budget = { steps: 60, questions: 4, groupSize: 4 }

const row = Effect.fnUntraced(function* (searchEvery: number) {
  const schedule = { pruneEvery: 3, evolveEvery: 3, evolveUntil: 30, searchEvery }
  const seeds = Arr.range(seed, seed + simulations - 1)
  const outcomes = yield* Effect.forEach(seeds, (each) => FirstReward.simulate(task, schedule, budget, each))
  const by = (last: number) => outcomes.filter(({ step }) => step !== null && step <= last).length
  const instructions = outcomes.reduce((sum, one) => sum + one.instructions, 0) / simulations
  const shares = [15, 30, 45, 60].map((last) => points(by(last) / simulations))
  return `| ${[searchEvery, ...shares].join(" | ")} ${interval(Exact.proportion(by(60), simulations))} | ${instructions.toFixed(0)} |`
})

Effect.runFork(
  Effect.flatMap(Effect.forEach([0, 3, 1], row), (rows) =>
    Console.log(
      [
        "| `schedule.searchEvery` | rewarded by step 15, % | by 30 | by 45 | by 60, with its 95 % interval | instructions tried |",
        "| ---: | ---: | ---: | ---: | ---: | ---: |",
        ...rows
      ].join("\n")
    )
  )
)
