import { assert, describe, it } from "@effect/vitest"
import { Presets } from "@inspo/config"
import * as fc from "fast-check"
import { answered, measures } from "../src/gate/Measures.ts"
import { arithmetic, configure, format, letter } from "../src/gate/Tasks.ts"

describe("the measure of an answer", () => {
  const text = fc.string({ unit: "grapheme" })

  it("is in [0, 1], and 1 for a golden answer, with or without tags", () => {
    fc.assert(
      fc.property(text, text, (written, golden) => {
        for (const measure of Object.values(measures)) {
          const score = measure(written, [golden])
          assert.isTrue(score >= 0 && score <= 1)
        }
      })
    )
    for (const [measure, golden] of [
      ["parts", "Brown, Peter, 1931, Rome"],
      ["calculated", "-372"]
    ] as const)
      for (const written of [`${golden}<|im_end|>`, `So. <answer>${golden}</answer><|im_end|>`]) {
        const answer = /<answer>(.*)<\/answer>/u.exec(written)?.[1] ?? null
        assert.strictEqual(measures[measure](answered(written, answer), [golden]), 1, measure)
      }
  })

  it("does not count other text", () => {
    assert.strictEqual(measures.parts("Peter, Brown, 1931, Rome", ["Brown, Peter, 1931, Rome"]), 0.5)
    assert.strictEqual(measures.parts("Brown, Peter, 1931, Rome, Italy", ["Brown, Peter, 1931, Rome"]), 0.8)
    assert.strictEqual(measures.parts("Brown\nPeter, 1931, Rome", ["Brown, Peter, 1931, Rome"]), 0.25)
    assert.strictEqual(measures.calculated("It is 1,372 in all, not 51", ["1372"]), 0)
    assert.strictEqual(measures.calculated("It is 1,372 in all", ["1372"]), 1)
    const response = "<calculate>345 + 27</calculate><information>372</information>I cannot say."
    assert.strictEqual(measures.calculated(answered(response, null), ["372"]), 0)
    assert.strictEqual(measures.calculated(answered("<calculate>300 + 72</calculate>", null), ["72"]), 0)
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
          assert.strictEqual(measures.letter(of(before, "Dear", name, after, word, end), [name]), 1)
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
          assert.strictEqual(measures.letter(written, ["Anna"]), 0, why)
      })
    )
  })
})

describe("a calculation within an answer", () => {
  const whole = fc.integer({ min: 1, max: 999 })

  it("counts with the result of the calculator, not of the policy", () => {
    fc.assert(
      fc.property(whole, whole, fc.constantFrom("+", "-", "*", "×", "x", "−"), whole, (left, right, sign, wrong) => {
        const value = sign === "+" ? left + right : /[-−]/u.test(sign) ? left - right : left * right
        const written = `So it is ${left} ${sign} ${right} = ${wrong} in all.`
        assert.strictEqual(measures.calculated(written, [`${value}`]), 1)
        assert.strictEqual(measures.calculated(written, [`${value + 1}`]), value + 1 === wrong ? 1 : 0)
      })
    )
    assert.strictEqual(measures.calculated("7 / 0 = 3", ["3"]), 1)
    assert.strictEqual(measures.calculated("2 + 2 = 4, then 4 * 3 = 11", ["12"]), 0)
  })
})

describe.each([format, arithmetic, letter])("$name", (task) => {
  const { instructions, name, questions } = task
  it("has different instructions, which all name the tags of the tools of its agent", () => {
    assert.lengthOf(new Set(instructions), instructions.length)
    const { agent, tools } = configure(task, Presets.quick).rollout
    for (const tag of agent.name === "direct" ? [] : ["answer", ...tools])
      for (const text of instructions) assert.include(text, `<${tag}>`)
  })

  it("has the same questions for the same seed, each with a correct answer", () => {
    const asked = questions(30, 1)
    assert.deepStrictEqual(questions(10, 1), asked.slice(0, 10))
    assert.notDeepEqual(questions(30, 2), asked)
    assert.strictEqual(new Set(asked.map(({ id }) => id)).size, asked.length)
    for (const { goldenAnswers, question } of asked) {
      if (name === "letter") assert.isTrue(question.startsWith(`${goldenAnswers[0]} gave you `))
      else if (name === "format") for (const part of goldenAnswers[0].split(", ")) assert.include(question, part)
      else {
        const [a = NaN, b = NaN] = (question.match(/\d+/gu) ?? []).map(Number)
        const expected = question.includes("boxes") ? a * b : question.includes("gives away") ? a - b : a + b
        assert.strictEqual(goldenAnswers[0], `${expected}`)
      }
    }
    assert.lengthOf(asked, 30)
  })
})
