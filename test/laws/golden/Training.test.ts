import { assert, describe, it } from "@effect/vitest"
import { type Algorithm, Selection } from "@inspo/coevolution"
import { Instruction, Question } from "@inspo/domain"
import { GrpoBatch } from "@inspo/policy-gradient"
import { Prompt } from "@inspo/rollout"
import { both, every, small } from "../support/Golden.ts"
import { play } from "../support/Trace.ts"

describe("training", () => {
  const advantages = (preset: Algorithm, rewards: ReadonlyArray<readonly [instruction: number, reward: number]>) =>
    GrpoBatch.groups(rewards.map(([instruction, reward]) => sampled(instruction, 0, reward)))
      .flatMap((group) => GrpoBatch.score(group, preset.train.advantage))
      .map(({ advantage }) => advantage)

  const assertNear = (actual: ReadonlyArray<number>, expected: ReadonlyArray<number>) => {
    assert.strictEqual(actual.length, expected.length)
    for (const [index, value] of expected.entries()) assert.approximately(actual[index] ?? NaN, value, 1e-12)
  }

  for (const [reading, preset] of both) {
    it(`row 16: equal rewards have advantage 0 (${reading})`, () => {
      for (const reward of [0, 0.1, 1])
        assert.deepStrictEqual(
          advantages(
            preset,
            Array.from({ length: 3 }, () => [0, reward] as const)
          ),
          [0, 0, 0]
        )
      assert.deepStrictEqual(advantages(preset, [[0, 1]]), [0])
    })

    it(`row 17: a group is an instruction on a question (${reading})`, () => {
      // i0 has 1 and 0 on q0: deviations ±.5, std √(.25 + .25). i1 has 0 and 0 on it, and nothing to learn.
      const unit = 0.5 / (Math.SQRT1_2 + 1e-6)
      assertNear(
        advantages(preset, [
          [0, 1],
          [1, 0],
          [0, 0],
          [1, 0]
        ]),
        [unit, -unit, 0, 0]
      )
    })

    it(`row 25: mini-batches count trajectories, or questions (${reading})`, () => {
      const updates = (questions: number, groupSize: number, size: number) =>
        GrpoBatch.miniBatches(
          Array.from({ length: questions }, (_, question) => every(groupSize, question)),
          size,
          preset.train.miniBatch.name
        )
      assert.deepStrictEqual(
        updates(3, 2, 2),
        reading === "paper"
          ? [
              [0, 0],
              [1, 1],
              [2, 2]
            ]
          : [
              [0, 0, 1, 1],
              [2, 2]
            ]
      )
      const { batchSize, miniBatch } = preset.train
      // 512 × 5 / 256, or 512 / 256.
      assert.strictEqual(
        updates(batchSize, preset.rollout.groupSize, miniBatch.size).length,
        reading === "paper" ? 10 : 2
      )
    })

    it(`row 26: the deviation has n - 1 in its denominator (${reading})`, () => {
      // Mean .2; squares .8² + 4 × .2² = .8, over 4.
      const deviation = Math.sqrt(0.2) + 1e-6
      const rewards = [1, 0, 0, 0, 0].map((reward) => [0, reward] as const)
      assertNear(
        advantages(preset, rewards),
        [0.8, -0.2, -0.2, -0.2, -0.2].map((value) => value / deviation)
      )
      const centred = { ...preset, train: { ...preset.train, advantage: { name: "centred" } as const } }
      assertNear(advantages(centred, rewards), [0.8, -0.2, -0.2, -0.2, -0.2])
    })

    it(`row 27: the optimizer is Search-R1's (${reading})`, () => {
      const [request] = GrpoBatch.trainRequests([sampled(0, 0, 1), sampled(0, 0, 0)], preset.train, {
        key: "train/1",
        learningRate: 1e-7
      })
      assert.deepInclude(request?.optimizer, {
        learningRate: 1e-7,
        beta1: 0.9,
        beta2: 0.999,
        weightDecay: 0.01,
        gradientClip: 1
      })
      assert.deepInclude(request?.loss, { clipRatio: 0.2, klCoefficient: 0.001 })
    })

    it(`row 24: the instruction is before the question, in the user message (${reading})`, () => {
      const ask = (role: Algorithm["rollout"]["texts"]["role"]) =>
        Prompt.messages({ text: "Search first." }, { question: "Who?" }, { texts: { ...preset.rollout.texts, role } })
      assert.strictEqual(preset.rollout.texts.role, "user")
      assert.deepStrictEqual(ask("user"), [{ role: "user", content: "Search first. Question: Who?" }])
      assert.deepStrictEqual(ask("system"), [
        { role: "system", content: "Search first." },
        { role: "user", content: "Question: Who?" }
      ])
    })

    it(`row 22: the last policy before a collapse is returned, or the last one where asked for (${reading})`, () => {
      const algorithm = small(preset, {
        population: { size: 1 },
        schedule: { steps: 20 },
        evaluation: { every: 5, select: preset.evaluation.select }
      })
      const { state } = play(algorithm, {
        rewards: Array.from({ length: 20 }, (_, index) => ({ i0: [[index < 10 ? 0.4 : 0]] }))
      })
      // The 10-step mean is .4 at step 10 and .04 × (20 - t) after it: below half of .4 from step 16 on.
      const { best, collapse } = state.rewardTrend
      assert.strictEqual(best?.step, 10)
      assert.approximately(best?.mean ?? NaN, 0.4, 1e-12)
      assert.strictEqual(collapse?.step, 16)
      assert.strictEqual(Selection.selected(algorithm, state).step, 10)
      const last = { ...algorithm, evaluation: { ...algorithm.evaluation, select: "last" as const } }
      assert.strictEqual(Selection.selected(last, state).step, 20)
    })
  }
})

const sampled = (instruction: number, question: number, reward: number): GrpoBatch.Sampled => ({
  instructionId: Instruction.InstructionId.make(`i${instruction}`),
  questionId: Question.QuestionId.make(`q${question}`),
  reward,
  prompt: [0],
  response: [1],
  logprobs: [-0.5],
  mask: [1]
})
