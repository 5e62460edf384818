import { assert, describe, it } from "@effect/vitest"
import { Presets } from "@inspo/config"
import { Question } from "@inspo/domain"
import * as fc from "fast-check"
import { rareBar, taskResult } from "../src/gate/GateResult.ts"
import * as Records from "../src/gate/Records.ts"
import { answered, measures } from "../src/gate/Measures.ts"
import { configure, tasks } from "../src/gate/Tasks.ts"

const answers = fc.array(
  fc.record({
    task: fc.string(),
    instruction: fc.nat(4),
    question: fc.string({ unit: "grapheme" }),
    reward: fc.double({ min: 0, max: 1, noNaN: true }).map((value) => value + 0),
    answer: fc.option(fc.string({ unit: "grapheme" })),
    promptTokens: fc.nat(),
    responseTokens: fc.nat(),
    text: fc.string({ unit: "binary" }).map((text) => text.toWellFormed())
  }),
  { maxLength: 6 }
)

describe("the answers of a gate", () => {
  it("are complete up to the point where a kill cut the file off", () => {
    fc.assert(
      fc.property(answers, fc.nat(), (answers, cut) => {
        const text = Records.write({ gate: "a1", answers })
        const kept = Records.parse(text.slice(0, cut % (text.length + 1)))
        const whole = text.slice(0, cut % (text.length + 1)).split("\n").length - 2
        if (whole < 0) assert.isNull(kept)
        else assert.deepStrictEqual(kept, { gate: "a1", answers: answers.slice(0, whole) })
      })
    )
  })

  it("fail with the number of an invalid line", () => {
    const text = Records.write({ gate: "a1", answers: [] })
    assert.deepStrictEqual(Records.parse(`${text}{"task":1}\n`), { brokenLine: 2 })
    assert.deepStrictEqual(Records.parse("{}\n"), { brokenLine: 1 })
  })
})

describe("the result of a task", () => {
  const rewards = fc.array(fc.array(fc.constantFrom(0, 1), { minLength: 3, maxLength: 3 }), {
    minLength: 2,
    maxLength: 8
  })
  const task = { name: "format", asks: "", instructions: ["a", "b", "c"] } as const

  it("pairs answers by question and instruction, in any order", () => {
    fc.assert(
      fc.property(rewards, fc.infiniteStream(fc.nat()), (rewards, draws) => {
        const inOrder = rewards.flatMap((row, question) =>
          row.map((reward, instruction) => ({
            task: "format",
            instruction,
            question: `q${question}`,
            reward,
            answer: null,
            promptTokens: 2,
            responseTokens: 1,
            text: ""
          }))
        )
        const dealt = inOrder
          .map((answer) => ({ answer, at: draws.next().value }))
          .toSorted((a, b) => a.at - b.at)
          .map(({ answer }) => answer)
        const found = taskResult(task, dealt, 1)
        const expected = taskResult(task, inOrder, 1)
        assert.deepStrictEqual(found.spread.means, expected.spread.means)
        assert.closeTo(found.spread.between, expected.spread.between, 1e-12)
        assert.strictEqual(found.promptTokens, 2 * inOrder.length)
      }),
      { numRuns: 20 }
    )
  })
})

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
      ["words", "the Ostrel Bay"],
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

describe("a rare task", () => {
  const instructions = ["a", "b", "c"]
  const of = (plain: number, other: number) =>
    taskResult(
      { name: "letter", asks: "", instructions, isRare: true },
      instructions.flatMap((_, instruction) =>
        Array.from({ length: instruction === 0 ? 2000 : 200 }, (_, question) => ({
          task: "letter",
          instruction,
          question: `q${question}`,
          reward: question < (instruction === 0 ? plain : instruction === 1 ? other : 0) ? 1 : 0,
          answer: null,
          promptTokens: 1,
          responseTokens: 1,
          text: ""
        }))
      ),
      1
    )

  it("passes exactly if the plain instruction earns next to nothing and another enough", () => {
    for (const [plain, other] of [
      [0, 20],
      [1, 20],
      [0, 5],
      [3, 20]
    ] as const) {
      const { passes, shares = [], spread } = of(plain, other)
      assert.deepStrictEqual(
        shares.map(({ n, successes }) => [successes, n]),
        [
          [plain, 2000],
          [other, 200],
          [0, 200]
        ]
      )
      assert.strictEqual(spread.n, 200)
      // 0 of 2,000 answers may be as many as 0.18 %, 1 as many as 0.28 %.
      assert.strictEqual(passes, plain === 0 && other / 200 >= rareBar.best)
    }
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

describe.each(tasks)("$name", (task) => {
  const { instructions, name, questions } = task
  const passage = { id: "p", title: "Lumen", text: "Ada founded Lumen." }
  const data = {
    passages: [passage],
    questions: ["p", "p", "absent"].map((support, index) => ({
      id: Question.QuestionId.make(`q${index}`),
      question: "Who founded Lumen?",
      goldenAnswers: ["Ada"] as const,
      dataSource: "test",
      supportIds: [support]
    }))
  }

  it("has different instructions, which all name the tags of the tools of its agent", () => {
    assert.lengthOf(new Set(instructions), instructions.length)
    const { agent, tools } = configure(task, Presets.quick).rollout
    for (const tag of agent.name === "direct" ? [] : ["answer", ...tools])
      for (const text of instructions) assert.include(text, `<${tag}>`)
  })

  it("has the same questions for the same seed, each with a correct answer", () => {
    const asked = questions(data, 30, 1)
    assert.deepStrictEqual(questions(data, 10, 1), asked.slice(0, 10))
    if (name !== "passages") assert.notDeepEqual(questions(data, 30, 2), asked)
    assert.strictEqual(new Set(asked.map(({ id }) => id)).size, asked.length)
    for (const { goldenAnswers, question } of asked) {
      if (name === "passages")
        assert.match(question, /^Lumen: Ada founded Lumen\.\n\nQuestion: Who founded Lumen\?\nAnswer:$/u)
      else if (name === "letter") assert.isTrue(question.startsWith(`${goldenAnswers[0]} gave you `))
      else if (name === "format") for (const part of goldenAnswers[0].split(", ")) assert.include(question, part)
      else {
        const [a = NaN, b = NaN] = (question.match(/\d+/gu) ?? []).map(Number)
        const expected = question.includes("boxes") ? a * b : question.includes("gives away") ? a - b : a + b
        assert.strictEqual(goldenAnswers[0], `${expected}`)
      }
    }
    assert.lengthOf(asked, name === "passages" ? 2 : 30)
  })
})
