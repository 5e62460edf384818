/** Prunes go on at any temperature: nobody stays for good because the sampler never draws it. */
import { assert, describe, it } from "@effect/vitest"
import { type Instruction, Question, RandomStream } from "@inspo/domain"
import { InstructionValue, Population } from "@inspo/population"
import { Sampler } from "@inspo/sampler"
import { SuccessiveHalving } from "@inspo/successive-halving"
import { Array as Arr, Schema } from "effect"
import { instructions } from "./support/Trace.ts"

const minimumGroups = 4
const pruneEvery = 5
const questions = 16

/** The sizes of a population before its first prune and after each, under rewards of 0 and 1 at the given rates. */
const sizes = (rates: ReadonlyArray<number>, temperature: number, seed: number): ReadonlyArray<number> => {
  const valuation = InstructionValue.recentSteps({ window: 5 })
  const halving = SuccessiveHalving.spareUnseen({ parents: 1, minimumGroups })
  const sampler = Sampler.stratified({ temperature })
  let population = Population.make(instructions(rates.length))
  const rateOf = new Map(Arr.zip(Population.ids(population), rates))
  const found = [rates.length]
  for (let step = 1; step <= 4 * pruneEvery; step++) {
    const assignment = sampler.assign({
      seed,
      step,
      values: valuation.values(population),
      questions: Arr.makeBy(questions, (index) => ({
        id: Question.QuestionId.make(`q${step}/${index}`),
        dataSource: "one"
      })),
      newcomers: halving.unseen(population)
    })
    population = valuation.observe(population, step, rewarded(assignment, rateOf, seed, step))
    if (step % pruneEvery > 0) continue
    const { pruned } = halving.prune(population, valuation.values(population))
    population = Population.remove(
      population,
      pruned.map(({ id }) => id)
    )
    found.push(population.members.length)
  }
  return found
}

const rewarded = (
  assignment: ReadonlyArray<Instruction.InstructionId>,
  rateOf: ReadonlyMap<string, number>,
  seed: number,
  step: number
): ReadonlyArray<InstructionValue.Observed> => {
  const luck = RandomStream.make(seed, ["luck", step])
  return assignment.map((instructionId) => ({
    instructionId,
    rewards: Arr.of(luck.next() < (rateOf.get(instructionId) ?? 0) ? 1 : 0)
  }))
}

describe("spare-unseen", () => {
  it.prop(
    "drops half at every prune where the sampler serves whom it has not seen enough, at any temperature",
    [
      Schema.Array(Schema.Literals([0, 0.2, 0.5, 0.9, 1])).check(Schema.isMinLength(2), Schema.isMaxLength(7)),
      Schema.Literals([0.001, 0.05, 0.1, 0.2, 1]),
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))
    ],
    ([rates, temperature, seed]) => {
      const found = sizes(rates, temperature, seed)
      for (const [before, after] of Arr.zip(found, found.slice(1)))
        assert.strictEqual(after, Math.max(1, before - Math.floor(before / 2)))
    }
  )
})
