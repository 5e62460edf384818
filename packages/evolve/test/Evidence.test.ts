import { assert, describe, it } from "@effect/vitest"
import { Instruction, Question } from "@inspo/domain"
import { Population } from "@inspo/population"
import { Array as Arr } from "effect"
import * as fc from "fast-check"
import * as Evidence from "../src/Evidence.ts"

const promptOf = (place: number, parent: number | null): Instruction.Instruction => ({
  ...Instruction.ofContent(`prompt ${place}`),
  id: Instruction.InstructionId.make(`i${place}`),
  generation: 0,
  parent: parent === null ? null : Instruction.InstructionId.make(`i${parent}`),
  origin: parent === null ? "seed" : "proposed",
  bornAt: 0
})

/** The evidence as a unit of time in which everything was answered, by the rules of populations. */
const rebuilt = ([original, ...others]: Evidence.Prompts, outcomes: ReadonlyArray<Evidence.Outcome>) => {
  const entries = Arr.isArrayNonEmpty(others) ? Arr.groupWith(others, (one, other) => one.parent === other.parent) : []
  let entered = Population.begin([original], Evidence.expected)
  for (const batch of entries) {
    const incumbent = Math.max(
      0,
      Population.ids(entered).findIndex((id) => id === batch[0].parent)
    )
    const newcomers = batch.map((instruction) => ({ instruction }))
    entered = Population.add({ ...entered, comparison: { ...entered.comparison, incumbent } }, newcomers)
  }
  const groups = outcomes
    .filter(({ prompt }) => Population.ids(entered).includes(prompt))
    .map((one) => ({
      instructionId: one.prompt,
      question: Question.QuestionId.make(`case ${one.case}`),
      rewards: one._tag === "Answered" ? [one.score] : [],
      missing: one._tag === "Missed" ? 1 : 0
    }))
  const averaging = { window: Number.MAX_SAFE_INTEGER, span: "steps", average: "observed" } as const
  return groups.length === 0 ? entered : Population.observe(averaging, entered, 7, groups)
}

/** All numbers of a value, by their path; what waits for a rival is left out, since nothing reads it. */
const numbersOf = (value: unknown, path = ""): ReadonlyArray<readonly [string, unknown]> =>
  typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([name, one]) => (name === "waiting" ? [] : numbersOf(one, `${path}.${name}`)))
    : [[path, value]]

const assertClose = (actual: unknown, expected: unknown): void => {
  const [found, right] = [new Map(numbersOf(actual)), new Map(numbersOf(expected))]
  assert.deepStrictEqual([...found.keys()].toSorted(), [...right.keys()].toSorted())
  for (const [path, value] of right) {
    const other = found.get(path)
    if (typeof value === "number" && typeof other === "number") assert.closeTo(other, value, 1e-9, path)
    else assert.strictEqual(other, value, path)
  }
}

describe("evidence", () => {
  it("that follows the answers one by one is the evidence of all of them, also after prompts entered and left", () => {
    const world = fc.record({
      parents: fc.array(fc.nat(), { minLength: 1, maxLength: 6 }),
      order: fc.array(fc.record({ prompt: fc.nat(6), place: fc.nat(12), score: fc.nat(8) }), { maxLength: 60 }),
      leaving: fc.nat(6),
      cut: fc.nat(60)
    })
    fc.assert(
      fc.property(world, ({ cut, leaving, order, parents }) => {
        const seed = promptOf(0, null)
        const others = parents.map((parent, place) => promptOf(place + 1, parent % (place + 1)))
        const all: Evidence.Prompts = [seed, ...others]
        const some: Evidence.Prompts = [seed, ...others.filter((_, place) => place + 1 !== leaving)]
        const asked = new Set<string>()
        const outcomes = order.flatMap(({ place, prompt, score }): ReadonlyArray<Evidence.Outcome> => {
          const ask = { prompt: Instruction.InstructionId.make(`i${prompt}`), case: place, sample: 0 }
          if (asked.has(`${prompt} ${place}`)) return []
          asked.add(`${prompt} ${place}`)
          return score === 8
            ? [{ _tag: "Missed", ...ask, reason: "none", usd: 0 }]
            : [{ _tag: "Answered", ...ask, score: score / 7, feedback: null, usd: 0 }]
        })
        let answers = Evidence.noAnswers
        let compared = Evidence.compare(all, answers)
        for (const [index, outcome] of outcomes.entries()) {
          answers = Evidence.add(answers, outcome)
          if (index % 3 > 0) compared = Evidence.follow(compared, index < cut ? all : some, answers)
        }
        compared = Evidence.follow(compared, compared.prompts, answers)
        const { prompts } = compared
        const expected = rebuilt(prompts, outcomes)
        assertClose({ ...Evidence.population(compared, answers, 7, () => true), step: expected.step }, expected)
      }),
      { numRuns: 120 }
    )
  })
})
