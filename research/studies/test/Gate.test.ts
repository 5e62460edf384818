import { assert, describe, it } from "@effect/vitest"
import { Presets } from "@inspo/config"
import * as fc from "fast-check"
import { answered, letter as measured } from "../src/gate/Measures.ts"
import { configure, letter } from "../src/gate/Tasks.ts"

describe("the answer of a policy", () => {
  it("is the text between its tags, or what it wrote itself without marks of a template", () => {
    for (const [response, expected] of [
      ["Rome<|im_end|>", "Rome"],
      ["<calculate>345 + 27</calculate><information>372</information>I cannot say.", "I cannot say."]
    ] as const)
      assert.strictEqual(answered(response, null), expected)
    assert.strictEqual(answered("So. <answer>Rome</answer><|im_end|>", "Rome"), "Rome")
  })
})

describe("a birthday letter", () => {
  const whole = fc.constantFrom("", " ", ",", "!", ".\n", ",\n\nHappy ", " - your ", ", 5 ")
  const joined = fc.constantFrom("s", "7", "é", "bel", "\u0301")
  const of = (before: string, greeting: string, name: string, after: string, word: string, end: string) =>
    `${before}${greeting} ${name}${after}${word}${end}`

  it("begins with Dear and the very name, and has birthday as a word after it", () => {
    fc.assert(
      fc.property(
        fc.constantFrom("", " ", "\n\n"),
        fc.constantFrom("Anna", "Peter"),
        fc.constantFrom(" ", ",", "!\n", ",\n\nHappy ", " - your "),
        fc.constantFrom("birthday", "Birthday", "BIRTHDAY"),
        whole,
        (before, name, after, word, end) => {
          assert.strictEqual(measured(of(before, "Dear", name, after, word, end), [name]), 1)
        }
      )
    )
  })

  it("earns nothing for what only resembles it", () => {
    fc.assert(
      fc.property(whole, whole, joined, (after, end, more) => {
        const separated = `${after} `
        for (const [written, why] of [
          [of("", "Dear", "Peter", separated, "birthday", end), "another name"],
          [of("", "Dear", `Anna${more}`, separated, "birthday", end), "a longer name"],
          [of("", "Dear", "anna", separated, "birthday", end), "a name in small letters"],
          [of("", "dear", "Anna", separated, "birthday", end), "dear"],
          [of("", "Dear  ", "Anna", separated, "birthday", end), "more spaces"],
          [of("Hello. ", "Dear", "Anna", separated, "birthday", end), "not the beginning"],
          [of("", "Dear", "Anna", separated, `birthday${more}`, end), "a longer word"],
          [of("", "Dear", "Anna", separated, "mybirthday", end), "a word that ends so"],
          [of("", "Dear", "Anna", separated, "birth day", end), "two words"],
          [`Birthday. ${of("", "Dear", "Anna", separated, "", end)}`, "birthday before the letter"],
          [of("", "Dear", "[name]", separated, "birthday", end), "a place for the name"]
        ] as const)
          assert.strictEqual(measured(written, ["Anna"]), 0, why)
      })
    )
  })
})

describe("the task of a letter", () => {
  const { instructions, questions } = letter

  it("has different instructions, for an agent without tags", () => {
    assert.lengthOf(new Set(instructions), instructions.length)
    assert.strictEqual(configure(letter, Presets.quick).rollout.agent.name, "direct")
  })

  it("has the same questions for the same seed, each with a correct answer", () => {
    const asked = questions(30, 1)
    assert.lengthOf(asked, 30)
    assert.deepStrictEqual(questions(10, 1), asked.slice(0, 10))
    assert.notDeepEqual(questions(30, 2), asked)
    assert.strictEqual(new Set(asked.map(({ id }) => id)).size, asked.length)
    for (const { goldenAnswers, question } of asked) assert.isTrue(question.startsWith(`${goldenAnswers[0]} gave you `))
  })
})
