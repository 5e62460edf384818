import { assert, describe, it } from "@effect/vitest"
import { type Instruction, RandomStream } from "@inspo/domain"
import { instructionId } from "@inspo/evolution"
import { Array as Arr } from "effect"
import * as Evidence from "../src/Evidence.ts"
import * as Protected from "../src/Protected.ts"

const ids = [instructionId(0), instructionId(1)] as const
const simulations = 300
const most = 0.05 + 3 * Math.sqrt((0.05 * 0.95) / simulations)

const answered = (prompt: Instruction.InstructionId, index: number, sample: number, score: number) =>
  ({ _tag: "Answered", prompt, case: index, sample, score, feedback: null, usd: 0 }) as const

/** A case that both prompts solve in a share of their answers, asked as long as it is open. */
const played = (control: number, other: number, seed: number): Protected.Standing => {
  const stream = RandomStream.make(seed, ["protected"])
  let answers = Evidence.noAnswers
  for (;;) {
    const standing = Protected.standing(answers, ids, [0, 1], 0.05)
    if (standing.asks.length === 0) return standing
    for (const { case: index, prompt, sample } of standing.asks)
      answers = Evidence.add(
        answers,
        answered(prompt, index, sample, Number(stream.next() < (prompt === ids[0] ? control : other)))
      )
  }
}

describe("protected cases", () => {
  it("are marked by true in any case, and by nothing else", () => {
    const marks = [true, "true", "TRUE", " True ", false, "false", "", null, undefined].map((one) => ({
      protected: one
    }))
    assert.deepStrictEqual(Protected.indices([...marks, "text", null]), [0, 1, 2, 3])
    assert.doesNotThrow(() => Protected.assertMarks([...marks, "text", null]))
    for (const value of ["1", 1, "yes", "x"])
      assert.throws(
        () => Protected.assertMarks([{}, { protected: value }]),
        /protected of case 2 is .*; expected true or false/u
      )
  })

  const lost = (control: number, other: number) =>
    Arr.makeBy(simulations, (seed) => played(control, other, seed)).filter((one) => one.lost.length > 0).length

  it.each([0, 0.3, 0.5, 0.9, 1].map((share) => ({ share })))(
    "are lost by chance in at most 5 %, where both solve a share of $share",
    ({ share }) => {
      assert.isAtMost(lost(share, share) / simulations, most)
    }
  )

  it("are found where the control solves them and the prompt does not", () => {
    assert.strictEqual(lost(1, 0), simulations)
    assert.isAbove(lost(0.95, 0.2) / simulations, 0.8)
  })
})
