import { Presets } from "@inspo/config"
import { Instruction, type Question, Trajectory } from "@inspo/domain"
import { ClauseBank } from "@inspo/reflection"
import { Effect, Option, Schema } from "effect"
import { assert, describe, it } from "vitest"
import { blindGate } from "../src/blind/BlindGate.ts"
import { bank, questionsOf, tasks } from "../src/blind/BlindTasks.ts"
import { rewards } from "../src/blind/Rewards.ts"
import { type Asked, InvalidStudy, type Kept } from "../src/Host.ts"

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

describe("the gate of the blind study", () => {
  /** A host with files in memory, whose policy answers with the person's name under one piece of advice. */
  const hostOf = (files: Map<string, string>, asked: Array<number>) => {
    const never = () => Effect.fail(new InvalidStudy({ problem: "not for the gate" }))
    return {
      code: "",
      commit: "",
      program: "research",
      print: () => Effect.void,
      config: () => Effect.succeed(Presets.quick),
      run: never,
      exported: never,
      seconds: never,
      test: never,
      read: (file: string) => Effect.sync(() => files.get(file) ?? null),
      write: (file: string, text: string) => Effect.sync(() => void files.set(file, text)),
      answer: (_: unknown, { instruction, questions }: Asked, { file, lines }: Kept) =>
        Effect.sync(() => {
          asked.push(questions.length)
          const made = questions.map(({ question }) =>
            answerTo(
              question,
              instruction.includes(bank[3]?.text ?? "") ? (question.goldenAnswers[0] ?? "") : "Nothing at all."
            )
          )
          files.set(file, `${files.get(file) ?? ""}${lines(made)}`)
          return made
        })
    }
  }
  const answerTo = (question: Question.Question, text: string): Trajectory.Trajectory => ({
    id: Trajectory.TrajectoryId.make(question.id),
    instructionId: Instruction.InstructionId.make("i0"),
    questionId: question.id,
    reward: 0,
    answer: null,
    toolCalls: 0,
    turns: 1,
    finishReason: "answered",
    promptTokens: 1,
    responseTokens: 1,
    prompt: [],
    response: [],
    logprobs: [],
    mask: [],
    transcript: [{ text, action: { kind: "answer", content: text }, observation: null }]
  })
  const input = { arms: Option.some("r4"), preset: Option.none(), set: [], seed: 1, out: Option.some("out") }

  it("asks the missing questions alone after a kill, with the same result", async () => {
    const [files, asked] = [new Map<string, string>(), new Array<number>()]
    const result = await Effect.runPromise(blindGate(hostOf(files, asked), input))
    const [row = []] = result.tables[0]?.rows ?? []
    assert.strictEqual(row.at(-1), "yes")
    assert.include(row[2], `100.00, again 100.00: ${bank[3]?.text ?? ""}`)
    const whole = files.get("out/answers.jsonl") ?? ""
    const kept = whole.split("\n").slice(0, 3000).join("\n")
    files.set("out/answers.jsonl", `${kept}\n{"instruction":"Wr`)
    asked.length = 0
    assert.deepStrictEqual(await Effect.runPromise(blindGate(hostOf(files, asked), input)), result)
    assert.strictEqual(
      asked.reduce((sum, one) => sum + one, 0),
      whole.trimEnd().split("\n").length - 3000
    )
  })
})
