import { assert, describe, it } from "@effect/vitest"
import { Option, Schema } from "effect"
import * as fc from "fast-check"
import type { Instruction } from "@inspo/domain"
import { Population } from "@inspo/population"
import { instruction, mean, type Step, stepMeans, toGroups } from "./Histories.ts"

/** For each instruction, whether it has a parent and how many places before it that parent stands. */
const Ancestry = Schema.Array(Schema.NullOr(Schema.Literals([1, 2, 3, 8]))).check(Schema.isMaxLength(8))

const family = (ancestry: typeof Ancestry.Type): ReadonlyArray<Instruction.Instruction> =>
  ancestry.map((back, index) => instruction(index, { parent: back === null ? null : instruction(index - back).id }))

describe("Population", () => {
  it.prop(
    "a lineage leads from an ancestor without a known parent, link by link, to the instruction",
    [Ancestry],
    ([ancestry]) => {
      const everyone = family(ancestry)
      const known = new Set(everyone.map(({ id }) => id))
      for (const { id } of everyone) {
        const line = Population.lineage(everyone.toReversed(), id)
        const parents = line.map(({ parent }) => parent)
        assert.strictEqual(line.at(-1)?.id, id)
        assert.deepStrictEqual(
          parents.slice(1),
          line.slice(0, -1).map((ancestor) => ancestor.id)
        )
        assert.isTrue(parents[0] === null || parents[0] === undefined || !known.has(parents[0]))
      }
    }
  )

  it("the lineage of a circular record names each instruction once, and that of an unknown id is empty", () => {
    const circle = [0, 1, 2].map((index) => instruction(index, { parent: instruction((index + 1) % 3).id }))
    const ids = Population.lineage(circle, instruction(1).id).map(({ id }) => id)
    assert.deepStrictEqual(ids, [instruction(0).id, instruction(2).id, instruction(1).id])
    const child = instruction(3, { parent: instruction(0).id })
    assert.lengthOf(Population.lineage([...circle, child], child.id), 4)
    assert.deepStrictEqual(Population.lineage(circle, instruction(9).id), [])
  })

  for (const [name, make] of [
    ["lastDraws", Population.lastDraws],
    ["recentSteps", Population.recentSteps]
  ] as const)
    it(`behaves as a list of raw observations would, under any sequence of calls (${name})`, () => {
      fc.assert(
        fc.property(fc.constantFrom(1, 2, 4), fc.commands(commands, { maxCommands: 40 }), (window, program) => {
          fc.modelRun(
            () => ({
              model: { valuation: name, window, step: 0, steps: [], reset: 0, members: new Map() },
              real: { valuation: make({ window }), population: Population.begin([]) }
            }),
            program
          )
        }),
        { numRuns: 150, seed: Number(process.env["INSPO_SEQUENCES_SEED"] ?? 11) }
      )
    })
})

/** The naive twin: it remembers every raw observation and recomputes whatever is asked. */
interface Model {
  readonly valuation: "lastDraws" | "recentSteps"
  readonly window: number
  step: number
  /** All steps so far, with their raw groups. */
  steps: ReadonlyArray<{ readonly step: number; readonly groups: Step }>
  /** The step after which windows were last reset. */
  reset: number
  /** Number of the instruction to the step after which it entered and the score it came with. */
  readonly members: Map<number, { readonly entered: number; readonly score: number | null }>
}

interface Real {
  readonly valuation: Population.Interface
  population: Population.Contents
}

const expectedValue = (model: Model, index: number, entered: number): number | null => {
  const since = model.steps.filter(({ step }) => step > Math.max(entered, model.reset))
  const seen = stepMeans(since, index)
  if (seen.length === 0) return null
  if (model.valuation === "lastDraws")
    return seen.slice(-model.window).reduce((sum, entry) => sum + entry.mean, 0) / model.window
  for (const now of since.map(({ step }) => step).toReversed()) {
    const within = seen.filter(({ step }) => step <= now && step > now - model.window)
    if (within.length > 0) return mean(within.map((entry) => entry.mean))
  }
  return null
}

const check = (model: Model, real: Real): void => {
  assert.deepStrictEqual(
    Population.ids(real.population),
    [...model.members.keys()].map((index) => instruction(index).id)
  )
  for (const [index, { entered, score }] of model.members) {
    const member = Option.getOrThrow(Population.find(real.population, instruction(index).id))
    const groups = model.steps
      .filter(({ step }) => step > entered)
      .flatMap((step) => step.groups.filter((group) => group.member === index))
    assert.strictEqual(member.value, expectedValue(model, index, entered))
    assert.strictEqual(member.lifetime.groups, groups.length)
    assert.strictEqual(member.lifetime.trajectories, groups.flatMap(({ rewards }) => rewards).length)
    assert.strictEqual(member.verification?.mean ?? null, score)
  }
}

const command = <Input>(
  name: string,
  input: fc.Arbitrary<Input>,
  run: (input: Input, model: Model, real: Real) => void
): fc.Arbitrary<fc.Command<Model, Real>> =>
  input.map((value) => ({
    check: () => true,
    run: (model, real) => {
      run(value, model, real)
      check(model, real)
    },
    toString: () => `${name}(${fc.stringify(value)})`
  }))

const anyMember = fc.constantFrom(0, 1, 2, 3 as const)

const anyStep: fc.Arbitrary<Step> = fc.array(
  fc.record({
    member: fc.constantFrom(0 as const, 1 as const, 2 as const, 3 as const),
    rewards: fc.tuple(fc.constantFrom(0 as const, 1 as const), fc.constantFrom(0 as const, 1 as const))
  }),
  { maxLength: 5 }
)

const commands = [
  command("observe", fc.tuple(fc.integer({ min: 1, max: 2 }), anyStep), ([later, groups], model, real) => {
    model.step += later
    const known = groups.filter(({ member }) => model.members.has(member))
    model.steps = [...model.steps, { step: model.step, groups: known }]
    real.population = real.valuation.observe(real.population, model.step, toGroups(known))
  }),
  command("add", fc.tuple(anyMember, fc.constantFrom(null, 0, 0.5, 1)), ([index, score], model, real) => {
    const verification = score === null ? null : { mean: score, groups: 4, rival: null }
    const add = () => Population.add(real.population, [{ instruction: instruction(index), verification }])
    if (model.members.has(index)) return assert.throws(add, /expected an id that is not a member's/u)
    model.members.set(index, { entered: model.step, score })
    real.population = add()
  }),
  command("remove", anyMember, (index, model, real) => {
    const remove = () => Population.remove(real.population, [instruction(index).id])
    if (!model.members.delete(index)) return assert.throws(remove, /expected the id of a member/u)
    real.population = remove()
  }),
  command("resetWindows", fc.constant(null), (_, model, real) => {
    model.reset = model.step
    real.population = Population.resetWindows(real.population)
  })
]
