import { assert, describe, it } from "@effect/vitest"
import { type Algorithm, RunState, Strategies } from "@inspo/coevolution"
import { Question, Trajectory } from "@inspo/domain"
import { Sampler, Shares } from "@inspo/sampler"
import { Array as Arr, Schema } from "effect"
import { both, presets } from "../support/Golden.ts"

describe("assignment", () => {
  for (const [reading, preset] of presets)
    it(`row 7: a newcomer gets its share of Eq. 4, or two per cent at least (${reading})`, () => {
      const strategy = Strategies.ofAlgorithm(preset).sampler
      const [, newcomer = NaN] = strategy.probabilities([
        { id: RunState.instructionId(0), value: 1, chance: 1 },
        { id: RunState.instructionId(1), value: 0, chance: 0 }
      ])
      // e^-5 of the other, or 0.02 of 1.04.
      assert.approximately(newcomer, reading === "paper" ? 1 / (1 + Math.exp(5)) : 0.02 / 1.04, 1e-12)
    })

  for (const [reading, preset] of presets)
    it(`a question is asked under one instruction, or under up to four (${reading})`, () => {
      const values = [0, 1, 2, 3, 4].map((index) => ({ id: RunState.instructionId(index), value: 0.5, chance: 0.2 }))
      const questions = Array.from({ length: 8 }, (_, index) => ({
        id: Question.QuestionId.make(`q${index}`),
        dataSource: "nq"
      }))
      const drawn = Strategies.ofAlgorithm(preset).sampler.assign({ seed: 1, step: 1, values, questions })
      assert.deepStrictEqual(
        drawn.map((held) => new Set(held).size),
        reading === "paper" ? [1, 1, 1, 1, 1, 1, 1, 1] : [4, 4, 0, 0, 0, 0, 0, 0]
      )
    })

  for (const [reading, preset] of both)
    it(`row 18: sources get their instructions by chance, or in equal shares (${reading})`, () => {
      const sources = ["nq", "nq", "nq", "nq", "musique", "musique", "musique", "musique"]
      const shares = Array.from({ length: 50 }, (_, step) => {
        const assignment = assign(preset, { values: [0, 0], temperature: 0.2, sources, step })
        return [count(assignment.slice(0, 4)).i0 ?? 0, count(assignment.slice(4)).i0 ?? 0]
      })
      // Half of 4 each.
      assert.strictEqual(
        shares.every(([nq, musique]) => nq === 2 && musique === 2),
        reading === "other"
      )
    })

  it("row 20: p is softmax(w / τ_s), however large the values (paper, other)", () => {
    // 1 : e^(0.4 / 0.2).
    const [low, high] = Shares.softmax([0, 0.4], 0.2)
    assert.approximately(low ?? NaN, 1 / (1 + Math.E ** 2), 1e-12)
    assert.approximately(high ?? NaN, Math.E ** 2 / (1 + Math.E ** 2), 1e-12)
    assert.deepStrictEqual(Shares.softmax([1e6, -1e6], 1e-6), [1, 0])
    assert.deepStrictEqual(Shares.softmax([1e6, 1e6], 1e-6), [0.5, 0.5])
  })

  it("row 20: a reward is in [0, 1] (paper, other)", () => {
    assert.deepStrictEqual([-0.1, 0, 1, 1.1].map(Schema.is(Trajectory.Reward)), [false, true, true, false])
  })
})

const assign = (
  preset: Algorithm,
  request: {
    readonly values: ReadonlyArray<number>
    readonly temperature: number
    readonly sources: ReadonlyArray<string>
    readonly step?: number
  }
): ReadonlyArray<string> =>
  Sampler.make({ rule: "softmax", assignment: preset.selection.assignment, temperature: request.temperature })
    .assign({
      seed: 1,
      step: request.step ?? 1,
      values: request.values.map((value, index) => ({ id: RunState.instructionId(index), value })),
      questions: request.sources.map((dataSource, index) => ({ id: Question.QuestionId.make(`q${index}`), dataSource }))
    })
    .flat()

const count = (assignment: ReadonlyArray<string>): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(Arr.groupBy(assignment, (id) => id)).map(([id, held]) => [id, held.length]))
