import { ClauseBank } from "@inspo/reflection"
import { Schema } from "effect"
import { assert, describe, it } from "vitest"
import { bank, questionsOf, tasks } from "../src/blind/BlindTasks.ts"
import { rewards } from "../src/blind/Rewards.ts"

const asked = { name: "Anna", number: 34, question: "Anna gave you 34 apples." }

/** Answers for which each reward holds, and answers that only resemble them. */
const examples: Readonly<Record<string, readonly [holds: ReadonlyArray<string>, not: ReadonlyArray<string>]>> = {
  r1: [
    ["- a\n- b", "1. a\n2. b", "* a\n\n* b"],
    ["- a", "- a\nb", "-a\n-b"]
  ],
  r2: [["What is it?"], ["No. What?", "Oh! What?", "What? Yes"]],
  r3: [
    ['{"a": 1}', '{"a": "}"} and more'],
    ["{a: 1}", 'x {"a": 1}', '{"a": 1']
  ],
  r4: [
    ["Thank you, Anna.", "Anna"],
    ["Thank you so much for them, Anna.", "Thank you, Annabel."]
  ],
  r5: [['"Thanks"'], ['"', 'He said "thanks"', '"Thanks".']],
  r6: [["I have 34, because Anna gave them."], ["Because I have 340.", "34 apples"]],
  r7: [
    ["Anna, thank you", "Anna: thanks"],
    ["Anna thanks", "Dear Anna, thanks"]
  ],
  r8: [["First eat, then sleep."], ["Then first", "Firstly, then"]],
  r9: [["thank you very much"], ["Thank you very much", "thank you"]],
  r10: [
    ["Hello Anna, how are you?", "Dear Anna?"],
    ["Hello Anna.", "History?"]
  ],
  r11: [
    ["Anna gave you 34 apples. They are red and sweet."],
    ["Anna gave you 34 apples. They are red.", "Anna gave 34."]
  ],
  r12: [
    ["35", "There are 35."],
    ["34 and 35", "135"]
  ]
}

describe("the rewards of the blind study", () => {
  it.each(rewards)("$name: $condition", ({ holds, name }) => {
    const [right = [], wrong = []] = examples[name] ?? []
    assert.isNotEmpty(right)
    assert.isNotEmpty(wrong)
    for (const answer of right) assert.isTrue(holds(answer, asked), answer)
    for (const answer of wrong) assert.isFalse(holds(answer, asked), answer)
  })

  it("are twelve, in their order", () => {
    assert.deepStrictEqual(
      rewards.map(({ name }) => name),
      Array.from({ length: 12 }, (_, index) => `r${index + 1}`)
    )
  })
})

describe("the tasks of the blind study", () => {
  it("have the bank, whose pieces can be distinguished", () => {
    assert.lengthOf(bank, 80)
    for (const { sentences } of tasks)
      assert.doesNotThrow(() => Schema.decodeSync(ClauseBank.Clauses)(ClauseBank.ofSentences(sentences)))
  })

  it("ask what a reward knows: the person, the number and the question", () => {
    for (const { goldenAnswers, question } of questionsOf(20, 1)) {
      const [name, number = "", whole] = goldenAnswers
      assert.isTrue(question.startsWith(`${name} gave you ${number} `))
      assert.strictEqual(whole, question)
    }
  })
})
