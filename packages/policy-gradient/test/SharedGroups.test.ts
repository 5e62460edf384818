/** Advantages where several instructions share a group, by enumeration of all samples of a question. */
import { assert, describe, it } from "@effect/vitest"
import { Instruction, Question } from "@inspo/domain"
import { GrpoBatch, type TrainConfig } from "@inspo/policy-gradient"
import { Schema } from "effect"
import { update } from "./support/Update.ts"

const Three = <A extends Schema.Top>(of: A) => Schema.Tuple([of, of, of])

/** A softmax over three actions for each of three instructions, and who draws each sample of a question. */
const Setup = Schema.Struct({
  logits: Three(Three(Schema.Literals([-1, 0, 0.5, 2]))),
  rewards: Three(Three(Schema.Literals([0, 0.25, 1]))),
  levels: Three(Schema.Literals([0, 0.3, 0.7, 1])),
  samples: Schema.Array(Schema.Literals([0, 1, 2])).check(Schema.isBetweenLength(2, 4))
})
type Setup = typeof Setup.Type

const actions = [0, 1, 2]
const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, one) => total + one, 0)
const idOf = (index: number) => Instruction.InstructionId.make(`i${index}`)

const policy = (logits: ReadonlyArray<number>) => {
  const scores = logits.map(Math.exp)
  return scores.map((score) => score / sum(scores))
}

const config: TrainConfig = {
  ...update,
  optimizer: { ...update.optimizer, warmup: 0, decay: "constant", weightDecay: 0 },
  advantage: { name: "centred" }
}

const levelsOf = ({ levels }: Pick<Setup, "levels">): GrpoBatch.Levels =>
  Object.fromEntries(levels.map((level, index) => [idOf(index), level]))

/** One token each: the prompt is the instruction, the response the action. */
const sampled = (instruction: number, action: number, reward: number): GrpoBatch.Sampled => ({
  instructionId: idOf(instruction),
  questionId: Question.QuestionId.make("q"),
  reward,
  prompt: [instruction],
  response: [action],
  logprobs: [0],
  mask: [1]
})

const datumsOf = (
  trajectories: ReadonlyArray<GrpoBatch.Sampled>,
  setup: Pick<Setup, "levels">,
  keep: TrainConfig["keep"] = config.keep
) => {
  const step = { key: "step", learningRate: 1e-3, levels: levelsOf(setup) }
  return GrpoBatch.trainRequests(trajectories, { ...config, keep }, step).flatMap(({ datums }) => datums)
}

/** Every way in which so many samples can act. */
const outcomes = (count: number): ReadonlyArray<ReadonlyArray<number>> =>
  count === 0 ? [[]] : outcomes(count - 1).flatMap((rest) => actions.map((action) => [...rest, action]))

describe("the advantage of shared groups", () => {
  it.prop(
    "has the expected gradient of the mean reward over the samples' instructions, times (M - 1) / M",
    [Setup],
    ([setup]) => {
      const { logits, rewards, samples } = setup
      const policies = logits.map(policy)
      const chance = (instruction: number, action: number) => policies[instruction]?.[action] ?? NaN
      const reward = (instruction: number, action: number) => rewards[instruction]?.[action] ?? NaN
      const found = logits.map(() => actions.map(() => 0))
      for (const outcome of outcomes(samples.length)) {
        const likelihood = outcome.reduce((product, action, at) => product * chance(samples[at] ?? NaN, action), 1)
        const trajectories = samples.map((one, at) => sampled(one, outcome[at] ?? NaN, reward(one, outcome[at] ?? NaN)))
        for (const { advantages, prompt, response, weights } of datumsOf(trajectories, setup)) {
          const [own = NaN] = prompt
          const gradient = found[own] ?? []
          for (const action of actions)
            gradient[action] =
              (gradient[action] ?? NaN) +
              likelihood *
                (weights[0] ?? NaN) *
                (advantages[0] ?? NaN) *
                ((response[0] === action ? 1 : 0) - chance(own, action))
        }
      }
      for (const instruction of logits.keys()) {
        const mean = sum(actions.map((action) => chance(instruction, action) * reward(instruction, action)))
        const share = samples.filter((one) => one === instruction).length / samples.length
        for (const action of actions)
          assert.approximately(
            found[instruction]?.[action] ?? NaN,
            ((samples.length - 1) / samples.length) *
              share *
              chance(instruction, action) *
              (reward(instruction, action) - mean),
            1e-12
          )
      }
    }
  )

  it.prop("is 0 where every sample earns what its instruction is worth", [Setup], ([setup]) => {
    const trajectories = setup.samples.map((one) => sampled(one, 0, setup.levels[one]))
    for (const { advantages } of datumsOf(trajectories, setup)) assert.approximately(advantages[0] ?? NaN, 0, 1e-12)
    const equal = setup.samples.map((one) => sampled(one, 0, 0.5))
    assert.deepStrictEqual(datumsOf(equal, { levels: [0.3, 0.3, 0.3] }), [])
  })

  it.prop("differs with what its members earn above their levels", [Setup], ([setup]) => {
    const trajectories = setup.samples.map((one, at) => sampled(one, at % 3, setup.rewards[one][at % 2] ?? NaN))
    assert.deepStrictEqual(
      datumsOf(trajectories, setup, { name: "differing", draws: 0 }),
      datumsOf(trajectories, setup, { name: "all" })
    )
  })

  it.prop("does not change when the rewards and the level of an instruction rise alike", [Setup], ([setup]) => {
    const { levels, samples } = setup
    const [raised] = levels
    const trajectories = samples.map((one, at) => sampled(one, at, [0, 0.25, 1, 0.5][at] ?? NaN))
    const higher = trajectories.map((one, at) => ({ ...one, reward: one.reward + (samples[at] === 0 ? 2 : 0) }))
    const advantagesOf = (some: typeof trajectories, of: GrpoBatch.Levels) =>
      GrpoBatch.score(some, "centred", of).map(({ advantage }) => advantage)
    const after = advantagesOf(higher, { ...levelsOf(setup), [idOf(0)]: raised + 2 })
    for (const [at, advantage] of advantagesOf(trajectories, levelsOf(setup)).entries())
      assert.approximately(after[at] ?? NaN, advantage, 1e-12)
  })

  it("gathers the samples of a question, or those of an instruction on it", () => {
    const trajectories = [sampled(0, 0, 1), sampled(1, 0, 0), sampled(0, 1, 1)]
    assert.deepStrictEqual(
      GrpoBatch.sharedGroups(trajectories).map((group) => group.length),
      [3]
    )
    assert.deepStrictEqual(
      GrpoBatch.groups(trajectories).map((group) => group.length),
      [2, 1]
    )
  })
})
