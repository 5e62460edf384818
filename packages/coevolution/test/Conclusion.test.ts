import { assert, describe, it } from "@effect/vitest"
import { apply, Conclusion, Presets, type Algorithm, RunState, Strategies } from "@inspo/coevolution"
import { type Group, Instruction, Question, Trajectory } from "@inspo/domain"
import { Difference, Population } from "@inspo/population"
import { Array as Arr, Schema } from "effect"

/** How often seed and rival are right, of four times, one row for each step. */
const Rewards = Schema.Array(Schema.Tuple([Schema.Literals([0, 1, 2, 3, 4]), Schema.Literals([0, 1, 2, 3, 4])])).check(
  Schema.isMinLength(1),
  Schema.isMaxLength(30)
)

const id = (index: number) => Instruction.InstructionId.make(`i${index}`)

const algorithm = (instruction: Algorithm["selection"]["instruction"]): Algorithm => ({
  ...Presets.quick,
  selection: { ...Presets.quick.selection, instruction }
})

const instructions = Arr.makeBy(2, (index) => ({
  id: id(index),
  text: `text ${index}`,
  generation: 0,
  parent: null,
  origin: index === 0 ? ("seed" as const) : ("variant" as const),
  bornAt: 0
}))

const group = (index: number, step: number, right: number): Group.Group => {
  const members = Arr.makeBy(4, (sample) => sample)
  return {
    instructionId: id(index),
    questionId: Question.QuestionId.make(`q${step}`),
    dataSource: "test",
    promptTokens: 1,
    rewards: Arr.map(members, (sample) => (sample < right ? 1 : 0)),
    trajectories: Arr.map(members, (sample) => Trajectory.TrajectoryId.make(`${index}/${step}/${sample}`)),
    toolCalls: Arr.map(members, () => 0),
    responseTokens: Arr.map(members, () => 1)
  }
}

/** The state after a step with these groups. */
const observe = (state: RunState.RunState, step: number, groups: ReadonlyArray<Group.Group>): RunState.RunState => {
  const plan = {
    _tag: "StepPlanned",
    step,
    questions: [],
    assignment: [],
    values: [],
    probabilities: {},
    learningRate: 0
  } as const
  return apply(
    { algorithm: algorithm("proven") },
    { ...state, phase: { _tag: "Collect", plan } },
    { _tag: "RolloutsCollected", step, groups }
  )
}

/** The state after steps in which both instructions answer the same question. */
const after = (rewards: typeof Rewards.Type): RunState.RunState =>
  rewards.reduce<RunState.RunState>(
    (state, [seed, other], index) => observe(state, index + 1, [group(0, index + 1, seed), group(1, index + 1, other)]),
    { ...RunState.unstarted, instructions, population: Population.begin(instructions) }
  )

const conclude = (state: RunState.RunState, instruction: Algorithm["selection"]["instruction"]) =>
  Conclusion.conclude(Strategies.deciding(algorithm(instruction)), state)

describe("the conclusion of a run", () => {
  it.prop("is the seed unless the best instruction is above it within questions", [Rewards], ([rewards]) => {
    const state = after(rewards)
    const { best, evidence, instruction, unproven } = conclude(state, "proven")
    const difference = Difference.between(state.population, id(1), id(0)) ?? assert.fail()
    assert.strictEqual(evidence !== null, best.id === id(1) && difference.lower > 0)
    assert.strictEqual(instruction.id, evidence === null ? id(0) : id(1))
    assert.strictEqual(unproven, evidence === null && best.id === id(1) ? id(1) : null)
    assert.deepStrictEqual(conclude(state, "best"), { best, evidence, instruction: best, unproven })
    if (evidence !== null)
      assert.deepStrictEqual(evidence, {
        step: rewards.length,
        instruction: id(1),
        rival: id(0),
        difference: difference.mean,
        lower: difference.lower,
        upper: difference.upper
      })
  })

  it.prop("is the seed where both did equally well", [Rewards], ([rewards]) => {
    const { evidence, instruction } = conclude(after(Arr.map(rewards, ([seed]) => [seed, seed] as const)), "proven")
    assert.isNull(evidence)
    assert.strictEqual(instruction.id, id(0))
  })

  it.prop("keeps what was known when the seed left", [Rewards, Rewards], ([rewards, later]) => {
    const before = after(rewards)
    const state = { ...before, population: Population.remove(before.population, [id(0)]) }
    const next = later.reduce<RunState.RunState>((known, [, other], index) => {
      const step = rewards.length + index + 1
      return observe(known, step, [group(1, step, other)])
    }, state)
    assert.deepStrictEqual(next.evidence, before.evidence)
  })
})
