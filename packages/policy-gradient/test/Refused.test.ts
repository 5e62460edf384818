import { assert, describe, it } from "@effect/vitest"
import { Instruction, Question } from "@inspo/domain"
import { Advantage, GrpoBatch } from "@inspo/policy-gradient"
import { Schema } from "effect"

const Logprobs = Schema.Array(Schema.Literals([-1, -0.5])).check(Schema.isMinLength(1), Schema.isMaxLength(5))

const sampled = (logprobs: ReadonlyArray<number>): GrpoBatch.Sampled => ({
  instructionId: Instruction.InstructionId.make("i0"),
  questionId: Question.QuestionId.make("q0"),
  reward: 1,
  prompt: [1],
  response: logprobs.map(() => 2),
  logprobs,
  mask: logprobs.map(() => 1)
})

const options = {
  normalization: { name: "token-mean" },
  kl: { name: "loss", coefficient: 0.1 }
} as const

describe("a batch", () => {
  it.prop("requires a log-probability and a mask for every token", [Logprobs], ([logprobs]) => {
    const whole = sampled(logprobs)
    const datums = (trajectory: GrpoBatch.Sampled) => GrpoBatch.datums([{ trajectory, advantage: 1 }], options)
    assert.lengthOf(datums(whole), 1)
    for (const field of ["logprobs", "mask"] as const)
      for (const other of [whole[field].slice(1), [...whole[field], 1 as const]])
        assert.throws(() => datums({ ...whole, [field]: other }), new RegExp(`${field} on q0 is .*; expected`, "u"))
  })

  it.prop("refuses a reference that misses a token or a sequence", [Logprobs], ([logprobs]) => {
    const datums = GrpoBatch.datums([{ trajectory: sampled(logprobs), advantage: 1 }], options)
    const loss = { clipRatio: 0.2, klCoefficient: 0 }
    const optimizer = { learningRate: 1, beta1: 0, beta2: 0, weightDecay: 0, gradientClip: 1 }
    const fold = (reference: ReadonlyArray<ReadonlyArray<number>>) =>
      GrpoBatch.foldKl({ key: "train/1/0", datums, loss, optimizer }, reference, 0.1)
    assert.lengthOf(fold([logprobs]).datums, 1)
    for (const reference of [[], [logprobs.slice(1)], [[...logprobs, -1]], [logprobs, logprobs]])
      assert.throws(() => fold(reference), /is missing/u)
  })
})

describe("an advantage", () => {
  it("refuses rewards that are not finite", () => {
    for (const none of [NaN, Infinity, -Infinity])
      for (const { name } of Advantage.estimators)
        assert.throws(() => Advantage.advantages([1, none], name), /rewards\[1\] is .*a finite number/u)
  })
})
