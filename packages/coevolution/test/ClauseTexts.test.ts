import { assert, describe, it } from "@effect/vitest"
import { ClauseTexts } from "@inspo/coevolution"
import { Arbitrary, Schema } from "effect"

const clause = Schema.Literals([
  "Answer the question.",
  "If nothing is found, search again.",
  "When two names fit, name both of them!",
  "The corpus is about towns.",
  "Put a query between <search> and </search>",
  "…"
])
const instruction = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(clause), { minLength: 0, maxLength: 6 }),
  (clauses) => clauses.map((one, index) => `${one}${index % 2 === 0 ? "\n" : ". "}`).join("")
)

describe("texts about an instruction", () => {
  it.prop("cover each clause that is not known, and invent none", [instruction, instruction], ([text, known]) => {
    const texts = ClauseTexts.of(text, known)
    const others = new Set(ClauseTexts.clausesOf(known))
    const wanted = ClauseTexts.clausesOf(text).filter((one) => !others.has(one))
    assert.deepStrictEqual([...new Set(texts.map((one) => one.clause))], wanted)
    for (const { answer, clause } of texts) {
      assert.include(clause, answer)
      assert.include(text, clause)
    }
    for (const one of wanted) assert.isTrue(texts.some(({ answer, clause }) => clause === one && answer === one))
    assert.strictEqual(ClauseTexts.of(text, text).length, 0)
  })

  it("ask by the kind of a clause", () => {
    const texts = ClauseTexts.of("If nothing is found, search again. The corpus is about towns. Be brief.")
    assert.deepStrictEqual(
      texts.filter((_, index) => index % 2 === 1).map(({ answer, question }) => [question, answer]),
      [
        ["What do you do if nothing is found?", "search again."],
        ["What do you know of your task?", "The corpus is about towns."],
        ["How do you work?", "Be brief."]
      ]
    )
  })
})
