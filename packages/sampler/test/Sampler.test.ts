import { assert, describe, it } from "@effect/vitest"
import { Array as Arr, Effect, Schema } from "effect"
import { Instruction, Question } from "@inspo/domain"
import { Sampler, Shares } from "@inspo/sampler"

const Values = Schema.NonEmptyArray(Schema.Literals([0, 0.1, 0.3, 0.5, 0.8, 1])).check(Schema.isMaxLength(7))
const AnyValues = Schema.NonEmptyArray(Schema.Finite).check(Schema.isMaxLength(7))
const Temperature = Schema.Literals([0.05, 0.2, 0.4, 1])
const Sources = Schema.Array(Schema.Literals(["nq", "hotpotqa", "musique"])).check(Schema.isMaxLength(30))

const Input = Schema.Struct({
  seed: Schema.Int,
  step: Schema.Int,
  values: Values,
  temperature: Temperature,
  sources: Sources
})

const id = (index: number) => Instruction.InstructionId.make(`i${index}`)

const toRequest = (input: typeof Input.Type): Sampler.Request => ({
  seed: input.seed,
  step: input.step,
  values: input.values.map((value, index) => ({ id: id(index), value })),
  questions: input.sources.map((dataSource, index) => ({ id: Question.QuestionId.make(`q${index}`), dataSource }))
})

/** One draw for each question by Eq. 4. */
const single =
  (assignment: "independent" | "stratified") =>
  ({ temperature }: Pick<typeof Input.Type, "temperature">): Sampler.Interface =>
    Sampler.make({ rule: "softmax", temperature, assignment })
const [independent, stratified] = [single("independent"), single("stratified")]

const sum = (values: ReadonlyArray<number>) => values.reduce((a, b) => a + b, 0)

const count = (assignment: ReadonlyArray<Instruction.InstructionId>, wanted: Instruction.InstructionId) =>
  assignment.filter((held) => held === wanted).length

describe("probabilities", () => {
  it.prop("lie in [0, 1] and sum to 1, for any finite values", [AnyValues, Temperature], ([values, temperature]) => {
    const shares = Shares.softmax(values, temperature)
    for (const share of shares) assert.isTrue(share >= 0 && share <= 1)
    assert.approximately(sum(shares), 1, 1e-12)
  })

  it.prop("are e^((w_i - w_j) / τ) apart", [Values, Temperature], ([values, temperature]) => {
    const [first = 0, ...others] = Shares.softmax(values, temperature)
    for (const [index, other] of others.entries())
      assert.approximately(Math.log(other / first), ((values[index + 1] ?? 0) - values[0]) / temperature, 1e-9)
  })

  it.prop("grow with the value", [AnyValues, Temperature], ([values, temperature]) => {
    const shares = Shares.softmax(values, temperature)
    const ascending = Arr.zip(values, shares).toSorted(([a], [b]) => a - b)
    for (const [index, [, share]] of ascending.slice(1).entries()) assert.isAtLeast(share, ascending[index]?.[1] ?? 0)
  })

  it.prop(
    "do not change when all values shift",
    [Values, Temperature, Schema.Literals([-3, 0.5, 900])],
    ([values, temperature, shift]) => {
      const shifted = Shares.softmax(
        values.map((value) => value + shift),
        temperature
      )
      for (const [index, share] of Shares.softmax(values, temperature).entries())
        assert.approximately(shifted[index] ?? NaN, share, 1e-9)
    }
  )

  it.prop("follow their values through a permutation", [Values, Temperature], ([values, temperature]) => {
    const reversed = Shares.softmax(values.toReversed(), temperature).toReversed()
    for (const [index, share] of Shares.softmax(values, temperature).entries())
      assert.approximately(reversed[index] ?? NaN, share, 1e-12)
  })

  it.prop("become uniform as τ grows, and concentrate on the largest values as it vanishes", [Values], ([values]) => {
    const largest = Math.max(...values)
    const winners = values.filter((value) => value === largest).length
    const [hot, cold] = [Shares.softmax(values, 1e9), Shares.softmax(values, 1e-3)]
    for (const [index, value] of values.entries()) {
      assert.approximately(hot[index] ?? NaN, 1 / values.length, 1e-8)
      assert.approximately(cold[index] ?? NaN, value === largest ? 1 / winners : 0, 1e-8)
    }
  })
})

describe("invalid values and temperatures", () => {
  const refused = /(?:Sampler|Shares): .*; expected/u

  it.prop(
    "is refused: a temperature that is not finite and above 0, and a value that is not finite",
    [Values],
    ([values]) => {
      for (const none of [0, -1, NaN, Infinity]) assert.throws(() => Shares.softmax(values, none), refused)
      for (const none of [NaN, Infinity, -Infinity])
        assert.throws(() => Shares.softmax([...values, none], 0.2), refused)
    }
  )

  it.prop("is refused: an id that two values have", [Input], ([input]) => {
    const request = toRequest(input)
    for (const sampler of [independent(input), stratified(input)])
      assert.throws(() => sampler.assign({ ...request, values: [...request.values, ...request.values] }), refused)
  })
})

for (const [name, make] of [
  ["independent", independent],
  ["stratified", stratified]
] as const)
  describe(`${name} and the other alike`, () => {
    it.prop("every question gets one instruction of the population", [Input], ([input]) => {
      const sampler = make(input)
      const request = toRequest(input)
      const assignment = sampler.assign(request)
      assert.strictEqual(assignment.length, request.questions.length)
      const members = request.values.map((value) => value.id)
      for (const held of assignment) {
        assert.lengthOf(held, 1)
        assert.includeMembers(members, [...held])
      }
    })

    it.prop("steps and seeds have their own streams", [Schema.Int, Schema.Int], ([seed, step]) => {
      const sampler = make({ temperature: 1 })
      const request = toRequest({
        seed,
        step,
        values: [0, 0, 0, 0],
        temperature: 1,
        sources: Arr.replicate("nq", 60)
      })
      const assignment = sampler.assign(request)
      assert.notDeepEqual(sampler.assign({ ...request, step: step + 1 }), assignment)
      assert.notDeepEqual(sampler.assign({ ...request, seed: seed + 1 }), assignment)
    })

    it("each question gets each instruction with the probability of Eq. 4", () => {
      const sampler = make({ temperature: 0.4 })
      const request = toRequest({
        seed: 3,
        step: 0,
        values: [0.5, 0.1, 0.3, 0.8],
        temperature: 0.4,
        sources: ["nq", "musique", "nq", "nq", "hotpotqa", "musique", "nq"]
      })
      const steps = 2000
      const assignments = Arr.makeBy(steps, (step) => sampler.assign({ ...request, step }))
      const shares = sampler.probabilities(request.values)
      assert.deepStrictEqual(shares, Shares.softmax([0.5, 0.1, 0.3, 0.8], 0.4))
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
      sources: Arr.replicate("nq", 20)
    })
    const sampler = independent({ temperature: 1 })
    const counts = Arr.makeBy(2000, (step) => count(sampler.assign({ ...request, step }).flat(), id(0)))
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
      const assignment = stratified(input).assign(toRequest(input))
      const shares = Shares.softmax(input.values, input.temperature)
      for (const source of new Set(input.sources)) {
        const held = assignment.filter((_, index) => input.sources[index] === source).flat()
        for (const [member, share] of shares.entries())
          assert.isBelow(Math.abs(count(held, id(member)) - share * held.length), 1 + 1e-9)
      }
    }
  )
})

/** Questions, a rule, and values with chances of being the best, some of them 0. */
const Shared = Schema.Struct({
  seed: Schema.Int,
  rule: Sampler.Rule,
  weights: Schema.NonEmptyArray(Schema.Literals([0, 0, 1, 2, 5, 40])).check(Schema.isMaxLength(7)),
  temperature: Temperature,
  questions: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 24 })),
  draws: Schema.Int.check(Schema.isBetween({ minimum: 2, maximum: 8 }))
})

const sharedRequest = ({ questions, seed, weights }: typeof Shared.Type): Sampler.Request => {
  const total = sum(weights)
  return {
    seed,
    step: 1,
    values: weights.map((weight, index) => ({
      id: id(index),
      value: weight / 40,
      chance: total === 0 ? 1 / weights.length : weight / total
    })),
    questions: Arr.makeBy(questions, (index) => ({ id: Question.QuestionId.make(`q${index}`), dataSource: "one" }))
  }
}

const shared = ({ rule, temperature }: typeof Shared.Type, sharing: Sampler.Sharing) =>
  Sampler.make({ rule, temperature, assignment: "stratified", sharing })

describe("Thompson shares", () => {
  it.prop("have a floor, follow P(best), and sum to 1", [Shared], ([input]) => {
    const { values } = sharedRequest(input)
    const shares = Shares.thompson(values)
    assert.approximately(sum(shares), 1, 1e-12)
    for (const [index, { chance = NaN }] of values.entries()) {
      assert.isAtLeast(shares[index] ?? NaN, 0.02 / (1 + 0.02 * values.length) - 1e-12)
      for (const [other, share] of shares.entries())
        assert.approximately(
          (shares[index] ?? NaN) - share,
          (chance - (values[other]?.chance ?? NaN)) / (1 + 0.02 * values.length),
          1e-12
        )
    }
  })

  it("refuse a value without a chance", () => {
    assert.throws(() => Shares.thompson([{ id: id(0), value: 1 }]), /chance of i0 is nothing; expected P\(best\)/u)
  })
})

describe("several instructions on a question", () => {
  it.prop(
    "Groups: as many draws as questions, no instruction twice on one, the last questions not asked",
    [Shared],
    ([input]) => {
      const request = sharedRequest(input)
      const sampler = shared(input, { _tag: "Groups", instructionsPerQuestion: input.draws })
      const shares = sampler.probabilities(request.values)
      const drawn = sampler.assign(request)
      const most = Math.min(input.draws, shares.length)
      assert.lengthOf(drawn.flat(), input.questions)
      assert.lengthOf(drawn, input.questions)
      const asked = Math.round(input.questions / Sampler.drawsPerQuestion(shares, input.questions, input.draws))
      for (const [index, held] of drawn.entries()) {
        assert.strictEqual(new Set(held).size, held.length)
        assert.isAtMost(held.length, most)
        assert.strictEqual(held.length > 0, index < asked)
      }
    }
  )

  it.prop(
    "Samples: so many draws on every question, an instruction its share of them, rounded down or up",
    [Shared],
    ([input]) => {
      const request = sharedRequest(input)
      const sampler = shared(input, { _tag: "Samples", samples: input.draws })
      const shares = sampler.probabilities(request.values)
      const drawn = sampler.assign(request)
      assert.lengthOf(drawn, input.questions)
      for (const held of drawn) {
        assert.lengthOf(held, input.draws)
        for (const [member, share] of shares.entries())
          assert.isBelow(Math.abs(count(held, id(member)) - share * input.draws), 1 + 1e-9)
      }
    }
  )

  const population: typeof Shared.Type = {
    seed: 11,
    rule: "thompson",
    weights: [0, 1, 5, 40],
    temperature: 1,
    questions: 7,
    draws: 3
  }
  const steps = 4000

  it("Groups: an asked question gets an instruction with the probability share × drawsPerQuestion", () => {
    for (const weights of [population.weights, [1, 1, 1, 1, 1], [2, 5, 5]] as const) {
      const input = { ...population, weights }
      const request = sharedRequest(input)
      const sampler = shared(input, { _tag: "Groups", instructionsPerQuestion: input.draws })
      const shares = sampler.probabilities(request.values)
      const factor = Sampler.drawsPerQuestion(shares, input.questions, input.draws)
      const all = Arr.makeBy(steps, (step) => sampler.assign({ ...request, step }))
      for (let index = 0; index < Math.round(input.questions / factor); index++)
        for (const [member, share] of shares.entries()) {
          const met = all.filter((drawn) => drawn[index]?.includes(id(member)) === true).length
          assertFrequency(met / steps, share * factor)
        }
    }
  })

  it("Samples: an instruction is expected M p times on every question", () => {
    const request = sharedRequest(population)
    const sampler = shared(population, { _tag: "Samples", samples: 5 })
    const shares = sampler.probabilities(request.values)
    const all = Arr.makeBy(steps, (step) => sampler.assign({ ...request, step }))
    for (let index = 0; index < population.questions; index++)
      for (const [member, share] of shares.entries()) {
        const counts = all.map((drawn) => count(drawn[index] ?? [], id(member)))
        // The count is one of two neighbours, so its fraction decides how it varies.
        assertFrequency(sum(counts) / steps - Math.floor(5 * share), 5 * share - Math.floor(5 * share))
      }
  })

  it("Groups: which instructions meet on a question varies, so that every pair is compared", () => {
    const input = { ...population, weights: [1, 1, 1, 1, 1, 1] as const, draws: 2 }
    const request = sharedRequest(input)
    const sampler = shared(input, { _tag: "Groups", instructionsPerQuestion: 2 })
    const pairs = new Set(
      Arr.makeBy(300, (step) => sampler.assign({ ...request, step }))
        .flat()
        .flatMap((held) => (held.length === 2 ? [held.toSorted().join(" ")] : []))
    )
    assert.strictEqual(pairs.size, 15)
  })
})

describe("distinct instructions for one question", () => {
  it.prop("are returned with their probability, share × expectedDraws, none twice", [Shared], ([input]) => {
    const request = sharedRequest(input)
    const values = shared(input, { _tag: "Samples", samples: 1 }).probabilities(request.values)
    const shares = Arr.zipWith(request.values, values, ({ id }, probability) => ({ id, probability }))
    const draws = Sampler.expectedDraws(values, input.draws)
    const drawn = Sampler.distinct({ seed: input.seed, path: ["one"], shares, instructionsPerQuestion: input.draws })
    assert.strictEqual(new Set(drawn.map(({ id }) => id)).size, drawn.length)
    for (const { id, probability } of drawn)
      assert.strictEqual(probability, (shares.find((share) => share.id === id)?.probability ?? NaN) * draws)
  })

  it("are drawn as often as the probability they are returned with", () => {
    const shares = [0.5, 0.3, 0.15, 0.05].map((probability, index) => ({ id: id(index), probability }))
    const draws = Arr.makeBy(4000, (index) =>
      Sampler.distinct({ seed: 7, path: [index], shares, instructionsPerQuestion: 3 })
    )
    for (const share of shares) {
      const stated = draws.flat().find((drawn) => drawn.id === share.id)?.probability ?? NaN
      assertFrequency(draws.filter((drawn) => drawn.some((one) => one.id === share.id)).length / 4000, stated)
    }
  })
})

/** Within four and a half standard errors of a frequency. */
const assertFrequency = (found: number, expected: number) =>
  assert.approximately(found, expected, 4.5 * Math.sqrt((expected * Math.max(0, 1 - expected)) / 4000) + 1e-9)

describe("layer", () => {
  const choices = { rule: "softmax", temperature: 0.05, assignment: "stratified" } as const

  it.effect("provides the strategy of its options", () =>
    Effect.gen(function* () {
      const sampler = yield* Sampler.Sampler
      const request = toRequest({ seed: 1, step: 1, values: [1, 0], temperature: 0.05, sources: ["nq", "nq"] })
      assert.deepStrictEqual(sampler.assign(request), Sampler.make(choices).assign(request))
      const { rule, ...parameters } = choices
      assert.deepStrictEqual(sampler.identity, { name: rule, parameters })
    }).pipe(Effect.provide(Sampler.layer(choices)))
  )

  it.effect("fails on options out of range, without a defect", () =>
    Effect.gen(function* () {
      const wrong: ReadonlyArray<Partial<Sampler.Choices>> = [
        ...[0, -1, NaN, Infinity].map((temperature) => ({ rule: "softmax" as const, temperature })),
        { sharing: { _tag: "Groups", instructionsPerQuestion: 0 } },
        { sharing: { _tag: "Samples", samples: 0.5 } }
      ]
      for (const choices of wrong) {
        const refused = yield* Effect.flip(Effect.provide(Sampler.Sampler, Sampler.layer(choices)))
        assert.strictEqual(refused._tag, "InvalidInput")
      }
    })
  )

  it("names what decides its draws", () => {
    const named = (more: Partial<Sampler.Choices>) => Sampler.make({ ...choices, rule: "thompson", ...more }).identity
    assert.deepStrictEqual(named({}), { name: "thompson", parameters: { assignment: "stratified" } })
    assert.deepStrictEqual(named({ sharing: { _tag: "Groups", instructionsPerQuestion: 3 } }), {
      name: "thompson",
      parameters: { instructionsPerQuestion: 3 }
    })
    assert.deepStrictEqual(named({ sharing: { _tag: "Samples", samples: 5 } }), {
      name: "thompson",
      parameters: { samplesPerQuestion: 5 }
    })
  })
})
