import { assert, describe, it } from "@effect/vitest"
import { Instruction } from "@inspo/domain"
import { Population } from "@inspo/population"
import { Sampler } from "@inspo/sampler"
import * as fc from "fast-check"
import * as DiscountedThompson from "../src/strategies/DiscountedThompson.ts"
import { seedShare } from "../src/strategies/SeedShare.ts"

const instruction = (place: number): Instruction.Instruction => ({
  id: Instruction.InstructionId.make(`i${place}`),
  text: `instruction ${place}`,
  generation: 0,
  parent: null,
  origin: place === 0 ? "seed" : "variant",
  bornAt: 0
})

const remembering = Population.comparing({ window: 1e6, span: "steps", average: "observed" })

/** A population after steps in which each instruction had these rewards. */
const after = (steps: ReadonlyArray<ReadonlyArray<number>>): Population.Contents =>
  steps.reduce<Population.Contents>(
    (population, rewards, index) =>
      remembering.observe(
        population,
        index + 1,
        rewards.map((reward, place) => ({ instructionId: instruction(place).id, rewards: [reward, reward] }))
      ),
    Population.begin([0, 1, 2].map(instruction))
  )

describe("discounted Thompson shares", () => {
  it("are probabilities that sum to 1", () => {
    fc.assert(
      fc.property(
        fc.array(fc.array(fc.constantFrom(0, 1), { minLength: 3, maxLength: 3 }), { maxLength: 8 }),
        (steps) => {
          const values = DiscountedThompson.strategy.values(after(steps))
          const total = values.reduce((sum, { chance = Number.NaN }) => sum + chance, 0)
          assert.closeTo(total, 1, 0.02)
        }
      )
    )
  })

  it("follow the last rewards more than the first", () => {
    const early = Array.from({ length: 20 }, () => [1, 0, 0])
    const late = Array.from({ length: 20 }, () => [0, 1, 0])
    const [first, second] = DiscountedThompson.strategy.values(after([...early, ...late]))
    assert.isAbove(second?.chance ?? 0, 0.9)
    assert.isBelow(first?.chance ?? 1, 0.1)
  })
})

describe("a share of the questions for the seed", () => {
  const others = Sampler.make({
    rule: "softmax",
    temperature: 1e9,
    sharing: { _tag: "Groups", instructionsPerQuestion: 1 }
  })
  const values = [0, 1, 2].map((place) => ({ id: instruction(place).id, value: 0.5 }))
  const questions = Array.from({ length: 400 }, (_, index) => ({ id: `q${index}` }))
  const seeds = (share: number, step: number): number =>
    seedShare(others, "test", (at) => share * at)
      .assign({ seed: 1, step, values, questions })
      .filter(([id]) => id === "i0").length / questions.length

  it("is what the step says, and one third of the rest", () => {
    assert.closeTo(seeds(0, 1), 1 / 3, 0.07)
    assert.closeTo(seeds(0.5, 1), 0.5 + 0.5 / 3, 0.07)
    assert.strictEqual(seeds(0.5, 2), 1)
  })
})
