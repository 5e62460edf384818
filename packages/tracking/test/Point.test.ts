import { assert, describe, it } from "@effect/vitest"
import { type RunEvent, RunState } from "@inspo/coevolution"
import { Ledger } from "@inspo/ledger"
import { type Group, Instruction, Question, Trajectory } from "@inspo/domain"
import { catalogue, Point } from "@inspo/tracking"
import { Schema } from "effect"

const id = (name: string) => Instruction.InstructionId.make(name)

/** A group with these rewards, the k-th trajectory with k tool calls and 10 + k response tokens. */
const group = (dataSource: string, rewards: readonly [number, ...Array<number>]): Group.Group => {
  const [, ...others] = rewards.map((_, index) => index)
  return {
    instructionId: id("i0"),
    questionId: Question.QuestionId.make(`${dataSource}-q`),
    dataSource,
    promptTokens: 100,
    rewards,
    trajectories: [Trajectory.TrajectoryId.make("t0"), ...others.map((k) => Trajectory.TrajectoryId.make(`t${k}`))],
    toolCalls: [0, ...others],
    responseTokens: [10, ...others.map((k) => 10 + k)]
  }
}

const samplesOf = (event: RunEvent, state = RunState.unstarted) =>
  Object.fromEntries((Point.ofEvent(event, state)?.samples ?? []).map((sample) => [Point.nameOf(sample), sample.value]))

const collected = {
  _tag: "RolloutsCollected",
  step: 3,
  groups: [group("b", [1, 0]), group("a", [1, 1])],
  failed: { trajectories: [Trajectory.TrajectoryId.make("t9")], tokens: 4 }
} as const satisfies RunEvent
const trained: RunEvent = {
  _tag: "StepTrained",
  step: 3,
  metrics: [
    { loss: 1, kl: 0.1, clipFraction: 0, gradientNorm: 2, tokens: 5 },
    { loss: 3, kl: 0.3, clipFraction: 1, gradientNorm: 4, tokens: 5 }
  ]
}

describe("ofEvent", () => {
  it("tells of rollouts by hand-made numbers", () => {
    assert.deepStrictEqual(samplesOf(collected), {
      "reward/mean": 0.75,
      "reward/std": Math.sqrt(3) / 4,
      "reward/a": 1,
      "reward/b": 0.5,
      "groups/mixed": 0.5,
      "tool_calls/mean": 0.5,
      "prompt_length/mean": 100,
      "response_length/mean": 10.5,
      "rollouts/failed": 1
    })
    assert.deepStrictEqual(samplesOf({ _tag: "RolloutsCollected", step: 3, groups: [] }), { "rollouts/failed": 0 })
  })

  it("tells of plan, update, pruning and evolution", () => {
    assert.deepStrictEqual(
      samplesOf({
        _tag: "StepPlanned",
        step: 1,
        questions: [],
        assignment: [],
        values: [
          { id: id("i0"), value: 0.5, chance: 0.4 },
          { id: id("i1"), value: 0.6 }
        ],
        probabilities: { i0: 0.25, i1: 0.75 },
        learningRate: 0.1
      }),
      {
        lr: 0.1,
        "inspo/value/i0": 0.5,
        "inspo/value/i1": 0.6,
        "inspo/best/i0": 0.4,
        "inspo/prob/i0": 0.25,
        "inspo/prob/i1": 0.75
      }
    )
    const state = {
      ...RunState.unstarted,
      spent: {
        rollouts: { train: 8, verification: 4, evaluation: 0 },
        tokens: { train: 80, verification: 40, evaluation: 0 }
      }
    }
    assert.deepStrictEqual(samplesOf(trained, state), {
      loss: 2,
      kl: 0.2,
      clipfrac: 0.5,
      grad_norm: 3,
      "rollouts/train": 8,
      "rollouts/verification": 4,
      "tokens/train": 80,
      "tokens/verification": 40,
      "inspo/population": 0
    })
    assert.notProperty(samplesOf({ _tag: "StepTrained", step: 1, metrics: [] }), "loss")
    assert.deepStrictEqual(
      samplesOf({
        _tag: "Pruned",
        step: 5,
        pruned: [{ id: id("i1"), value: 0, reason: "bottom-half" }],
        kept: [id("i0")]
      }),
      { "inspo/pruned": 1 }
    )
    assert.deepStrictEqual(
      samplesOf({ _tag: "PopulationRefilled", step: 5, parents: [], replaced: [], accepted: [], shortfall: 2 }),
      { "inspo/accepted": 0 }
    )
    assert.deepStrictEqual(samplesOf({ _tag: "Validated", step: 5, instruction: id("i0"), groups: collected.groups }), {
      "val/reward/mean": 0.75,
      "val/reward/a": 1,
      "val/reward/b": 0.5
    })
    const evaluated = { _tag: "Evaluated", policy: "after", instruction: id("i0"), groups: collected.groups } as const
    assert.deepStrictEqual(samplesOf(evaluated, { ...RunState.unstarted, evaluations: [evaluated] }), {
      "test/reward/after/i0": 0.75
    })
    assert.isNull(Point.ofEvent({ _tag: "RunFinished", best: id("i0"), unproven: null }, RunState.unstarted))
  })

  it("tells each metric after the event that the catalogue names", () => {
    for (const event of [collected, trained])
      for (const { name } of Point.ofEvent(event, RunState.unstarted)?.samples ?? [])
        assert.strictEqual(catalogue[name].event, event._tag)
  })
})

describe("news", () => {
  const Samples = Schema.Array(Schema.Tuple([Schema.Literals(["a", "b", "c"]), Schema.Literals([0, 1])]))
  const Points = Schema.Array(Schema.Tuple([Schema.Literals([1, 2]), Samples]))

  it.prop("leaves out what the same step was shown already, and nothing else", [Points], ([drawn]) => {
    const points = drawn
      .toSorted(([a], [b]) => a - b)
      .map(([step, samples]) => ({
        step,
        samples: [...new Map(samples)].map(([label, value]) => ({ name: "inspo/value" as const, label, value }))
      }))
    const latest = (reported: ReadonlyArray<Point.Point>) =>
      new Map(
        reported.flatMap(({ samples, step }) => samples.map(({ label, value }) => [`${step} ${label}`, value] as const))
      )
    const reported = points.map(Point.news())
    assert.deepStrictEqual(latest(reported), latest(points))
    for (const [label, values] of Map.groupBy(
      reported.flatMap(({ samples, step }) => samples.map((sample) => ({ ...sample, step }))),
      ({ label, step }) => `${step} ${label}`
    ))
      assert.isTrue(
        values.every(({ value }, at) => value !== values[at - 1]?.value),
        label
      )
  })
})

describe("ofTrajectories", () => {
  const turnsOf = (records: Iterable<unknown>) => Point.ofTrajectories(3, records).samples.map(({ value }) => value)
  const Turns = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 }))

  it.prop(
    "reports the mean of their turns, whatever else they hold and in whatever order",
    [Schema.NonEmptyArray(Turns)],
    ([turns]) => {
      const records = turns.map((one) => ({ turns: one, reward: 1, transcript: [] }))
      const [reported] = turnsOf(records)
      assert.closeTo(reported ?? Number.NaN, turns.reduce((sum, one) => sum + one, 0) / turns.length, 1e-9)
      assert.deepStrictEqual(turnsOf(records.toReversed()), turnsOf(records))
    }
  )

  const Token = Schema.Struct({
    logprob: Schema.Finite.check(Schema.isBetween({ minimum: -9, maximum: 0 })),
    isAction: Schema.Boolean
  })

  it.prop(
    "reports the mean surprise of the tokens that the policy sampled, in all segments, and of no others",
    [Schema.NonEmptyArray(Schema.NonEmptyArray(Schema.Array(Token)))],
    ([trajectories]) => {
      const records = trajectories.map((segments) => {
        const [last, ...earlier] = segments
          .map((tokens) => ({
            logprobs: tokens.map(({ logprob }) => logprob),
            mask: tokens.map(({ isAction }) => Number(isAction))
          }))
          .toReversed()
        return { turns: 1, ...last, ...(earlier.length === 0 ? {} : { earlier: earlier.toReversed() }) }
      })
      const sampled = trajectories.flat(2).filter(({ isAction }) => isAction)
      const { samples } = Point.ofTrajectories(3, records)
      const entropy = samples.find(({ name }) => name === "entropy")?.value
      if (sampled.length === 0) assert.isUndefined(entropy)
      else {
        const surprise = -sampled.reduce((sum, { logprob }) => sum + logprob, 0) / sampled.length
        assert.closeTo(entropy ?? Number.NaN, surprise, 1e-9)
      }
    }
  )

  it("tells nothing of none, and leaves out what cannot be read", () => {
    assert.deepStrictEqual(turnsOf([]), [])
    assert.deepStrictEqual(turnsOf([{ turns: 1 }, { turns: 4 }, { turns: "2" }, null, {}]), [2.5])
  })
})

describe("ofSpending", () => {
  it("tells what was spent, in the units of the budget", () => {
    const { samples, step } = Point.ofSpending(4, { ...Ledger.nothing, rollouts: 3, seconds: 90, usd: 0.5 })
    assert.strictEqual(step, 4)
    assert.deepStrictEqual(Object.fromEntries(samples.map(({ name, value }) => [name, value])), {
      "budget/rollouts": 3,
      "budget/tokens": 0,
      "budget/calls": 0,
      "budget/usd": 0.5,
      "budget/minutes": 1.5
    })
  })
})

describe("nameOf", () => {
  it("never gives two metrics one name", () => {
    assert.strictEqual(Point.nameOf({ name: "inspo/value", label: "i3" }), "inspo/value/i3")
    const names = Point.names.map((name) => Point.nameOf({ name, label: catalogue[name].label === null ? null : "x" }))
    assert.strictEqual(new Set(names).size, names.length)
  })
})
