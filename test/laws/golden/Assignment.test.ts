import { assert, describe, it } from "@effect/vitest"
import { type Algorithm, RunState } from "@inspo/coevolution"
import { Question, Trajectory } from "@inspo/domain"
import { Sampler } from "@inspo/sampler"
import { Array as Arr, Schema } from "effect"
import { both } from "../support/Golden.ts"

describe("assignment", () => {
  for (const [reading, preset] of both)
    it(`row 7: a newcomer gets a group by chance, or for sure (${reading})`, () => {
      // Its probability is e^-20 a question.
      const assignment = assign(preset, {
        values: [1, 0],
        temperature: 0.05,
        sources: ["nq", "nq", "nq"],
        newcomers: [1]
      })
      assert.deepStrictEqual(count(assignment), reading === "paper" ? { i0: 3 } : { i0: 2, i1: 1 })
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
        reading === "robust"
      )
    })

  it("row 20: p is softmax(w / τ_s), however large the values (paper, robust)", () => {
    // 1 : e^(0.4 / 0.2).
    const [low, high] = Sampler.probabilities([0, 0.4], 0.2)
    assert.approximately(low ?? NaN, 1 / (1 + Math.E ** 2), 1e-12)
    assert.approximately(high ?? NaN, Math.E ** 2 / (1 + Math.E ** 2), 1e-12)
    assert.deepStrictEqual(Sampler.probabilities([1e6, -1e6], 1e-6), [1, 0])
    assert.deepStrictEqual(Sampler.probabilities([1e6, 1e6], 1e-6), [0.5, 0.5])
  })

  it("row 20: a reward lies in [0, 1] (paper, robust)", () => {
    assert.deepStrictEqual([-0.1, 0, 1, 1.1].map(Schema.is(Trajectory.Reward)), [false, true, true, false])
  })
})

const assign = (
  preset: Algorithm,
  request: {
    readonly values: ReadonlyArray<number>
    readonly temperature: number
    readonly sources: ReadonlyArray<string>
    readonly newcomers?: ReadonlyArray<number>
    readonly step?: number
  }
): ReadonlyArray<string> =>
  Sampler.make({ ...preset.sampler, temperature: request.temperature }).assign({
    seed: 1,
    step: request.step ?? 1,
    values: request.values.map((value, index) => ({ id: RunState.instructionId(index), value })),
    questions: request.sources.map((dataSource, index) => ({ id: Question.QuestionId.make(`q${index}`), dataSource })),
    newcomers: (request.newcomers ?? []).map(RunState.instructionId)
  })

const count = (assignment: ReadonlyArray<string>): Readonly<Record<string, number>> =>
  Object.fromEntries(Object.entries(Arr.groupBy(assignment, (id) => id)).map(([id, held]) => [id, held.length]))
