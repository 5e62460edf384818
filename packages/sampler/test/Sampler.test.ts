import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Effect, Schema } from "effect"
import { InstructionId } from "@inspo/domain/Instruction"
import { QuestionId } from "@inspo/domain/Question"
import { Sampler } from "@inspo/sampler"

const Values = Schema.NonEmptyArray(Schema.Literals([0, 0.1, 0.3, 0.5, 0.8, 1])).check(Schema.isMaxLength(7))
const AnyValues = Schema.NonEmptyArray(Schema.Finite).check(Schema.isMaxLength(7))
const Temperature = Schema.Literals([0.05, 0.2, 0.4, 1])
const Sources = Schema.Array(Schema.Literals(["nq", "hotpotqa", "musique"])).check(Schema.isMaxLength(30))

/** `newcomers` are numbers of instructions, of which only those of the population are asked for. */
const Input = Schema.Struct({
  seed: Schema.Int,
  step: Schema.Int,
  values: Values,
  temperature: Temperature,
  sources: Sources,
  newcomers: Schema.Array(Schema.Literals([0, 1, 2, 3, 4, 5, 6])).check(Schema.isMaxLength(8))
})

/** About as many questions as newcomers. */
const Scarce = Schema.Struct({
  ...Input.fields,
  sources: Schema.Array(Schema.Literals(["nq", "hotpotqa"])).check(Schema.isBetweenLength(2, 6)),
  newcomers: Schema.Array(Schema.Literals([0, 1, 2, 3, 4])).check(Schema.isBetweenLength(2, 6))
})

const id = (index: number) => InstructionId.make(`i${index}`)

const toRequest = (input: typeof Input.Type): Sampler.Request => ({
  seed: input.seed,
  step: input.step,
  values: input.values.map((value, index) => ({ id: id(index), value })),
  questions: input.sources.map((dataSource, index) => ({ id: QuestionId.make(`q${index}`), dataSource })),
  newcomers: input.newcomers.filter((index) => index < input.values.length).map(id)
})

const sum = (values: ReadonlyArray<number>) => values.reduce((a, b) => a + b, 0)

const count = (assignment: ReadonlyArray<InstructionId>, wanted: InstructionId) =>
  assignment.filter((held) => held === wanted).length

describe("probabilities", () => {
  it.prop("lie in [0, 1] and sum to 1, for any finite values", [AnyValues, Temperature], ([values, temperature]) => {
    const shares = Sampler.probabilities(values, temperature)
    for (const share of shares) assert.isTrue(share >= 0 && share <= 1)
    assert.approximately(sum(shares), 1, 1e-12)
  })

  it.prop("are e^((w_i - w_j) / τ) apart", [Values, Temperature], ([values, temperature]) => {
    const [first = 0, ...others] = Sampler.probabilities(values, temperature)
    for (const [index, other] of others.entries())
      assert.approximately(Math.log(other / first), ((values[index + 1] ?? 0) - values[0]) / temperature, 1e-9)
  })

  it.prop("grow with the value", [AnyValues, Temperature], ([values, temperature]) => {
    const shares = Sampler.probabilities(values, temperature)
    const ascending = Arr.zip(values, shares).toSorted(([a], [b]) => a - b)
    for (const [index, [, share]] of ascending.slice(1).entries()) assert.isAtLeast(share, ascending[index]?.[1] ?? 0)
  })

  it.prop(
    "do not change when all values shift",
    [Values, Temperature, Schema.Literals([-3, 0.5, 900])],
    ([values, temperature, shift]) => {
      const shifted = Sampler.probabilities(
        values.map((value) => value + shift),
        temperature
      )
      for (const [index, share] of Sampler.probabilities(values, temperature).entries())
        assert.approximately(shifted[index] ?? NaN, share, 1e-9)
    }
  )

  it.prop("follow their values through a permutation", [Values, Temperature], ([values, temperature]) => {
    const reversed = Sampler.probabilities(values.toReversed(), temperature).toReversed()
    for (const [index, share] of Sampler.probabilities(values, temperature).entries())
      assert.approximately(reversed[index] ?? NaN, share, 1e-12)
  })

  it.prop("become uniform as τ grows, and concentrate on the largest values as it vanishes", [Values], ([values]) => {
    const largest = Math.max(...values)
    const winners = values.filter((value) => value === largest).length
    const [hot, cold] = [Sampler.probabilities(values, 1e9), Sampler.probabilities(values, 1e-3)]
    for (const [index, value] of values.entries()) {
      assert.approximately(hot[index] ?? NaN, 1 / values.length, 1e-8)
      assert.approximately(cold[index] ?? NaN, value === largest ? 1 / winners : 0, 1e-8)
    }
  })
})

describe("invalid values and temperatures", () => {
  const refused = /Sampler: .*; expected/u

  it.prop(
    "is refused: a temperature that is not finite and above 0, and a value that is not finite",
    [Values],
    ([values]) => {
      for (const none of [0, -1, NaN, Infinity]) assert.throws(() => Sampler.probabilities(values, none), refused)
      for (const none of [NaN, Infinity, -Infinity])
        assert.throws(() => Sampler.probabilities([...values, none], 0.2), refused)
    }
  )

  it.prop("is refused: an id that no value has, and one that two have", [Input], ([input]) => {
    const request = toRequest(input)
    for (const sampler of [Sampler.independent(input), Sampler.stratified(input)]) {
      assert.throws(() => sampler.assign({ ...request, newcomers: [...request.newcomers, id(99)] }), refused)
      assert.throws(() => sampler.assign({ ...request, values: [...request.values, ...request.values] }), refused)
    }
  })
})

for (const [name, make] of [
  ["independent", Sampler.independent],
  ["stratified", Sampler.stratified]
] as const)
  describe(`${name} and the other alike`, () => {
    it.prop("every question gets one instruction of the population", [Input], ([input]) => {
      const sampler = make(input)
      const request = toRequest(input)
      const assignment = sampler.assign(request)
      assert.strictEqual(assignment.length, request.questions.length)
      const members = request.values.map((value) => value.id)
      for (const held of assignment) assert.include(members, held)
    })

    it.prop("equal requests give equal assignments, and so do reordered values", [Input], ([input]) => {
      const sampler = make(input)
      const request = toRequest(input)
      const assignment = sampler.assign(request)
      assert.deepStrictEqual(sampler.assign(request), assignment)
      assert.deepStrictEqual(sampler.assign({ ...request, values: request.values.toReversed() }), assignment)
    })

    it.prop("steps and seeds have their own streams", [Schema.Int, Schema.Int], ([seed, step]) => {
      const sampler = make({ temperature: 1 })
      const request = toRequest({
        seed,
        step,
        values: [0, 0, 0, 0],
        temperature: 1,
        sources: Arr.replicate("nq", 60),
        newcomers: []
      })
      const assignment = sampler.assign(request)
      assert.notDeepEqual(sampler.assign({ ...request, step: step + 1 }), assignment)
      assert.notDeepEqual(sampler.assign({ ...request, seed: seed + 1 }), assignment)
    })

    it("without values nothing is assigned", () => {
      const sampler = make({ temperature: 1 })
      const request = toRequest({ seed: 1, step: 1, values: [0], temperature: 1, sources: ["nq"], newcomers: [0] })
      assert.deepStrictEqual(sampler.assign({ ...request, values: [], newcomers: [] }), [])
    })

    it("each question gets each instruction with the probability of Eq. 4", () => {
      const sampler = make({ temperature: 0.4 })
      const request = toRequest({
        seed: 3,
        step: 0,
        values: [0.5, 0.1, 0.3, 0.8],
        temperature: 0.4,
        sources: ["nq", "musique", "nq", "nq", "hotpotqa", "musique", "nq"],
        newcomers: []
      })
      const steps = 2000
      const assignments = Arr.makeBy(steps, (step) => sampler.assign({ ...request, step }))
      const shares = sampler.probabilities(request.values)
      assert.deepStrictEqual(shares, Sampler.probabilities([0.5, 0.1, 0.3, 0.8], 0.4))
      for (const index of request.questions.keys()) {
        const held = assignments.flatMap((assignment) => assignment[index] ?? [])
        for (const [member, share] of shares.entries())
          // Four and a half standard errors of a frequency.
          assert.approximately(count(held, id(member)) / steps, share, 4.5 * Math.sqrt((share * (1 - share)) / steps))
      }
    })
  })

describe("independent", () => {
  it("draws questions independently: the number of groups of an instruction varies as a binomial does", () => {
    const request = toRequest({
      seed: 5,
      step: 0,
      values: [0, 0],
      temperature: 1,
      sources: Arr.replicate("nq", 20),
      newcomers: []
    })
    const sampler = Sampler.independent({ temperature: 1 })
    const counts = Arr.makeBy(2000, (step) => count(sampler.assign({ ...request, step }), id(0)))
    const mean = sum(counts) / counts.length
    const variance = sum(counts.map((value) => (value - mean) ** 2)) / (counts.length - 1)
    assert.approximately(variance, 20 * 0.25, 0.6)
  })
})

describe("stratified", () => {
  it.prop(
    "within a source each instruction gets its expected number of groups, rounded down or up",
    [Input],
    ([input]) => {
      const request = { ...toRequest(input), newcomers: [] }
      const assignment = Sampler.stratified(input).assign(request)
      const shares = Sampler.probabilities(input.values, input.temperature)
      for (const source of new Set(input.sources)) {
        const held = assignment.filter((_, index) => input.sources[index] === source)
        for (const [member, share] of shares.entries())
          assert.isBelow(Math.abs(count(held, id(member)) - share * held.length), 1 + 1e-9)
      }
    }
  )

  it.prop("gives every newcomer a group, or one per question when there are too few", [Scarce], ([input]) => {
    const request = toRequest(input)
    const served = new Set(Sampler.stratified(input).assign(request))
    const guaranteed = new Set(
      request.newcomers.filter((wanted) => request.values.some((value) => value.id === wanted))
    )
    const expected = Math.min(guaranteed.size, request.questions.length)
    assert.strictEqual([...guaranteed].filter((wanted) => served.has(wanted)).length, expected)
  })

  it.prop(
    "a guarantee moves one question per instruction that came away empty, and nothing else",
    [Scarce],
    ([input]) => {
      const request = toRequest(input)
      const without = Sampler.stratified(input).assign({ ...request, newcomers: [] })
      const assignment = Sampler.stratified(input).assign(request)
      const moved = assignment.filter((held, index) => held !== without[index])
      for (const held of moved) {
        assert.include(request.newcomers, held)
        assert.notInclude(without, held)
      }
      assert.strictEqual(new Set(moved).size, moved.length)
    }
  )
})

describe("everyone", () => {
  it.prop("gives every instruction a group, or one per question when there are too few", [Scarce], ([input]) => {
    const sampler = Sampler.make({ temperature: input.temperature, assignment: "stratified", newcomers: "everyone" })
    const request = toRequest(input)
    const all = request.values.map((value) => value.id)
    assert.strictEqual(new Set(sampler.assign(request)).size, Math.min(all.length, request.questions.length))
    assert.deepStrictEqual(sampler.assign(request), sampler.assign({ ...request, newcomers: all }))
  })
})

describe("layer", () => {
  const choices = { temperature: 0.05, assignment: "stratified", newcomers: "guaranteed" } as const

  it.effect("provides the strategy of its options", () =>
    Effect.gen(function* () {
      const sampler = yield* Sampler.Sampler
      const request = toRequest({
        seed: 1,
        step: 1,
        values: [1, 0],
        temperature: 0.05,
        sources: ["nq", "nq"],
        newcomers: [1]
      })
      assert.strictEqual(count(sampler.assign(request), id(1)), 1)
      const { assignment, ...parameters } = choices
      assert.deepStrictEqual(sampler.identity, { name: assignment, parameters })
    }).pipe(Effect.provide(Sampler.layer(choices)))
  )
})
