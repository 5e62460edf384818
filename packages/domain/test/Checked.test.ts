import { assert, describe, it } from "@effect/vitest"
import { Attempt, Experience, Instruction } from "@inspo/domain"
import { Effect, Schema } from "effect"

const Outside = Schema.Finite.check(Schema.makeFilter((reward) => reward < 0 || reward > 1))
const Text = Schema.NonEmptyString

const given = { id: "1/0", instruction: "i0", question: "q1", step: 1, reward: 0.5 }

const refused = (run: () => unknown) => Effect.flip(Attempt.attempt(run))

describe("instructions and experiences by plain ids", () => {
  it.effect.prop("are refused by field and value, and never with a defect", [Outside], ([reward]) =>
    Effect.gen(function* () {
      assert.deepInclude(yield* refused(() => Experience.make({ ...given, reward })), {
        _tag: "InvalidInput",
        where: "Experience.make",
        field: "reward",
        value: String(reward)
      })
      const fields = {
        id: "trajectoryId",
        instruction: "instructionId",
        question: "questionId",
        dataSource: "dataSource"
      }
      for (const [option, field] of Object.entries(fields))
        assert.include(yield* refused(() => Experience.make({ ...given, [option]: "" })), { field, value: "" })
      assert.include(yield* refused(() => Instruction.make("Answer.", { id: "" })), { field: "id" })
      assert.include(yield* refused(() => Instruction.make("", { id: "i0" })), { field: "text" })
      assert.include(yield* refused(() => Instruction.make("Answer.", { id: "i0", bornAt: -1 })), { field: "bornAt" })
    })
  )

  it.prop("have the ids and texts that they are made of", [Text, Text], ([id, text]) => {
    const seed = Instruction.make(text, { id })
    assert.deepStrictEqual<unknown>(seed, { id, text, generation: 0, parent: null, origin: "seed", bornAt: 0 })
    const child = Instruction.make({ system: text }, { id: `${id}'`, parent: seed, bornAt: 3 })
    assert.deepInclude<object>(child, { generation: 1, parent: id, origin: "proposed", parts: { system: text } })
    const experience = Experience.make({ ...given, instruction: id })
    assert.include<object>(experience, { instructionId: id, dataSource: "questions" })
  })
})
