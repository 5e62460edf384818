import { assert, describe, it } from "@effect/vitest"
import { WorldQuestion } from "@inspo/datasets"
import { Instruction, Trajectory } from "@inspo/domain"
import { ClauseBank } from "@inspo/reflection"
import { ActionParser } from "@inspo/rollout"
import { Effect } from "effect"
import { subjects, summarize, table } from "../src/Probe.ts"

const questions = Effect.runSync(
  WorldQuestion.generate({
    seed: 7,
    mix: { oneHop: 1, twoHop: 1, threeHop: 0, fourHop: 0, comparison: 0 },
    counts: { train: 4, validation: 0, test: 0 }
  })
).questions.train

/** A trajectory of these turns; an observation follows each but the last. */
const trajectory = (
  question: WorldQuestion.WorldQuestion,
  reward: number,
  turns: ReadonlyArray<readonly [text: string, observation: string | null]>
): Trajectory.Trajectory => {
  const transcript = turns.map(([text, observation]) => ({ text, action: ActionParser.parse(text), observation }))
  const last = transcript.at(-1)?.action
  return {
    id: Trajectory.TrajectoryId.make(question.id),
    instructionId: Instruction.InstructionId.make("i0"),
    questionId: question.id,
    reward,
    answer: last?.kind === "answer" ? last.content : null,
    toolCalls: transcript.filter((turn) => turn.action.kind === "search").length,
    turns: turns.length,
    finishReason: last?.kind === "answer" ? "answered" : "turns-exhausted",
    promptTokens: 1,
    responseTokens: 1,
    prompt: [],
    response: [],
    logprobs: [],
    mask: [],
    transcript
  }
}

describe("summarize", () => {
  it("counts each behaviour among the trajectories that can show it", () => {
    const row = summarize(
      "seed",
      questions,
      questions.map((question, index) => {
        if (index === 0) return trajectory(question, 1, [["<answer> Ostrel Bay</answer>", null]])
        if (index === 1) return trajectory(question, 0, [["<answer> The answer is Ostrel Bay.</answer>", null]])
        if (index === 2) return trajectory(question, 0, [[`<search> ${question.question}</search>`, "nothing"]])
        return trajectory(question, 1, [
          ["<search> Ira Volst</search>", "<information> Ira Volst works at Denco Mills.</information>"],
          ["<think> Ira Volst works at Denco Salt.</think><answer> Denco Salt</answer>", null]
        ])
      })
    )
    const { bySource, ...rest } = row
    assert.deepStrictEqual(rest, {
      name: "seed",
      exactMatch: 0.5,
      searches: 0.5,
      searched: 0.5,
      oneEntity: 0.5,
      stated: 0.5,
      bare: 2 / 3,
      copied: 0.5
    })
    assert.sameMembers(Object.keys(bySource), ["world-1hop", "world-2hop"])
  })

  it("shows shares of nothing as a dash, in columns of equal width", () => {
    const row = summarize(
      "seed",
      questions,
      questions.map((question) => trajectory(question, 0, []))
    )
    const lines = table([row]).split("\n")
    assert.lengthOf(new Set(lines.map((line) => line.length)), 1)
    assert.match(lines[1] ?? "", /^seed +0\.00 +0\.00 +0\.00 +0\.00 +0\.00 +- +- +- +-$/u)
  })
})

describe("subjects", () => {
  it("are the seed instruction, each clause alone, and all useful clauses", () => {
    assert.deepStrictEqual(
      subjects.map(({ instruction }) => ClauseBank.clausesIn(instruction).length),
      [0, ...Array.from({ length: subjects.length - 2 }, () => 1), 4]
    )
  })
})
