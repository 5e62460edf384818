import { assert, describe, it } from "@effect/vitest"
import { Conclusion, Presets, type Algorithm, RunState, Strategies, ValueChoices } from "@inspo/coevolution"
import { Instruction } from "@inspo/domain"
import { InstructionValue, Population } from "@inspo/population"
import { Array as Arr, Schema } from "effect"

const Mean = Schema.Literals([0, 0.25, 0.5])

/** What became of an instruction: its mean reward, its verification against one before it, and whether it still lives. */
const Life = Schema.Struct({
  mean: Schema.NullOr(Mean),
  verification: Schema.NullOr(Schema.Struct({ mean: Mean, rival: Schema.Natural, rivalMean: Mean })),
  lives: Schema.Boolean
})
const Lives = Schema.NonEmptyArray(Life).check(Schema.isMinLength(2), Schema.isMaxLength(6))
type Lives = typeof Lives.Type

const name = (index: number) => Instruction.InstructionId.make(`i${index}`)

/** The state at the end, and who I* is: the last, which has the highest value. `names` are the ids, the seed's first. */
const stateOf = (lives: Lives, names: ReadonlyArray<Instruction.InstructionId>): RunState.RunState => {
  const last = lives.length - 1
  const known = lives.map(({ mean, verification, lives }, index) => {
    const id = names[index] ?? assert.fail()
    return {
      id,
      mean,
      lives: lives || index === last,
      value: index === last ? 1 : 0.5,
      verification:
        verification === null || index === 0
          ? null
          : {
              mean: verification.mean,
              groups: 4,
              rival: { id: names[verification.rival % index] ?? assert.fail(), mean: verification.rivalMean }
            },
      instruction: { id, text: id, generation: 0, parent: null, origin: "variant", bornAt: 0 } as const
    }
  })
  return {
    ...RunState.unstarted,
    instructions: known.map(({ instruction }) => instruction),
    removed: known.filter(({ lives }) => !lives),
    population: {
      ...Population.make([]),
      step: 9,
      members: known
        .filter(({ lives }) => lives)
        .map(({ instruction, mean, verification, value }): Population.Member => ({
          instruction,
          entry: 1,
          window: [],
          value,
          stale: false,
          // Three rewards of a mean are not always three times the mean.
          lifetime: {
            ...Population.unobserved,
            groups: mean === null ? 0 : 3,
            trajectories: mean === null ? 0 : 3,
            rewardSum: mean === null ? 0 : mean + mean + mean
          },
          verification
        }))
    }
  }
}

const conclude = (state: RunState.RunState, instruction: Algorithm["evaluation"]["instruction"]) => {
  const algorithm = { ...Presets.quick, evaluation: { ...Presets.quick.evaluation, instruction } }
  return Conclusion.conclude(Strategies.deciding(algorithm), state)
}

const named = (lives: Lives) => lives.map((_, index) => name(index))

describe("the conclusion of a run", () => {
  it.prop("is the seed or I*, and I* exactly where evidence names one that did better", [Lives], ([lives]) => {
    const state = stateOf(lives, named(lives))
    const { best, evidence, instruction, unproven } = conclude(state, "proven")
    assert.strictEqual(best.id, name(lives.length - 1))
    assert.strictEqual(instruction.id, evidence === null ? name(0) : best.id)
    assert.strictEqual(unproven, evidence === null && lives.length > 1 ? best.id : null)
    assert.deepStrictEqual(conclude(state, "best"), { best, evidence, instruction: best, unproven })
    assert.deepStrictEqual(Conclusion.evidenceFor(state, best.id), evidence)
    if (evidence === null) return
    assert.isAbove(evidence.mean, evidence.rivalMean)
    if (evidence.kind === "lifetime") assert.strictEqual(evidence.rival, name(0))
  })

  it.prop(
    "is the seed where all rewards are equal, whoever was seen how often and left",
    [Lives, Schema.Literals([0, 0.1, 1 / 3, 1]), Schema.Natural],
    ([lives, reward, luck]) => {
      const { observe } = InstructionValue.make(ValueChoices.choices(Presets.quick))
      const { instructions } = stateOf(lives, named(lives))
      const newcomers = instructions.map((instruction, index) => ({
        instruction,
        verification:
          index === 0
            ? null
            : {
                mean: reward,
                groups: 4,
                rival: { id: name((luck + index) % index), mean: (reward + reward + reward) / 3 }
              }
      }))
      // Sums of 0.1 round differently for different numbers of them.
      const seen = Arr.makeBy(7, (step) => step).reduce(
        (population, step) =>
          observe(
            population,
            step + 1,
            instructions
              .filter((_, index) => (luck + index * step) % 3 > 0)
              .map(({ id }) => ({ instructionId: id, rewards: [reward] }))
          ),
        Population.add(Population.make([]), newcomers)
      )
      const gone = seen.members.filter((_, index) => index < lives.length - 1 && lives[index]?.lives === false)
      const state = {
        ...RunState.unstarted,
        instructions,
        removed: gone.map((member) => ({ id: member.instruction.id, value: 0, ...RunState.recordOf(member) })),
        population: Population.remove(
          seen,
          gone.map(({ instruction }) => instruction.id)
        )
      }
      assert.strictEqual(conclude(state, "proven").instruction.id, name(0))
    }
  )

  it.prop("does not depend on what instructions are called", [Lives, Schema.Natural], ([lives, turn]) => {
    const names = named(lives)
    const others = Arr.rotate(names, turn % names.length)
    const called = (id: Instruction.InstructionId) => others[names.indexOf(id)]
    const [one, other] = [conclude(stateOf(lives, names), "proven"), conclude(stateOf(lives, others), "proven")]
    assert.strictEqual(called(one.instruction.id), other.instruction.id)
    assert.deepStrictEqual(
      one.evidence === null
        ? null
        : { ...one.evidence, instruction: called(one.evidence.instruction), rival: called(one.evidence.rival) },
      other.evidence
    )
  })

  it.prop("never turns from I* to the seed when I* did better still", [Lives], ([lives]) => {
    const better = Arr.map(lives, (life, index) =>
      index === lives.length - 1 ? { ...life, mean: 0.5 as const } : life
    )
    const raised = conclude(stateOf(better, named(lives)), "proven")
    if (conclude(stateOf(lives, named(lives)), "proven").evidence !== null) assert.isNotNull(raised.evidence)
  })
})
