import { assert, describe, it } from "@effect/vitest"
import { Array as Arr } from "effect"
import { InstructionId } from "@inspo/domain/Instruction"
import { QuestionId } from "@inspo/domain/Question"
import { Marginals, Sampler } from "@inspo/sampler"

const id = (index: number) => InstructionId.make(`i${index}`)

/** How often each instruction is assigned to a question of each source, over many steps. */
const frequencies = (
  values: ReadonlyArray<number>,
  strata: Readonly<Record<string, number>>,
  guaranteed: ReadonlyArray<InstructionId>,
  steps: number
) => {
  const questions = Object.entries(strata).flatMap(([dataSource, size]) =>
    Arr.makeBy(size, (index) => ({ id: QuestionId.make(`${dataSource}${index}`), dataSource }))
  )
  const counts = new Map<string, number>()
  for (let step = 1; step <= steps; step++) {
    const assignment = Sampler.stratified({ temperature: 0.2 }).assign({
      seed: 5,
      step,
      values: values.map((value, index) => ({ id: id(index), value })),
      questions,
      newcomers: guaranteed
    })
    for (const [one, { dataSource }] of Arr.zip(assignment, questions)) {
      const key = `${dataSource} ${one}`
      counts.set(key, (counts.get(key) ?? 0) + 1 / steps / (strata[dataSource] ?? 1))
    }
  }
  return counts
}

describe("Marginals", () => {
  for (const { guaranteed, strata, title, values } of [
    { title: "nobody owed", values: [0, 0.3, 0.1], strata: { a: 3, b: 4 }, guaranteed: [] },
    { title: "one owed, one source", values: [0.6, 0.5, 0], strata: { a: 4 }, guaranteed: [2] },
    { title: "two owed, two sources", values: [0.5, 0.4, 0, 0.1], strata: { a: 3, b: 2 }, guaranteed: [2, 3] },
    { title: "more owed than questions", values: [0.5, 0.1, 0], strata: { a: 2 }, guaranteed: [0, 1, 2] }
  ])
    it(`are those of the stratified sampler: ${title}`, () => {
      const probabilities = Sampler.probabilities(values, 0.2)
      const shares = probabilities.map((probability, index) => ({ id: id(index), probability }))
      const owed = guaranteed.map(id)
      const marginals = Marginals.stratified({ shares, strata, guaranteed: owed })
      assert.isNotNull(marginals)
      const seen = frequencies(values, strata, owed, 2500)
      for (const [source, some] of Object.entries(marginals ?? {})) {
        assert.approximately(
          some.reduce((sum, { probability }) => sum + probability, 0),
          1,
          1e-9
        )
        for (const one of some)
          assert.approximately(seen.get(`${source} ${one.id}`) ?? 0, one.probability, 0.04, `${source} ${one.id}`)
      }
    })

  it("are null if there are too many cases to count", () => {
    const shares = Arr.makeBy(8, (index) => ({ id: id(index), probability: index === 0 ? 0.993 : 0.001 }))
    const strata = Object.fromEntries(Arr.makeBy(8, (index) => [`source ${index}`, 3]))
    assert.isNull(Marginals.stratified({ shares, strata, guaranteed: [id(1)] }))
    assert.isNotNull(Marginals.stratified({ shares, strata, guaranteed: [] }))
  })
})
