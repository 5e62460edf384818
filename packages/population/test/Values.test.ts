import { assert, describe, it } from "@effect/vitest"
import { Instruction } from "@inspo/domain"
import { Effect, Option, Result, Schema } from "effect"
import { Population } from "@inspo/population"
import { History, instruction, instructions, mean, stepMeans, toGroups, Window } from "./Histories.ts"

const observeAll = (valuation: Population.Interface, history: History, from = 1): Population.Contents =>
  history.reduce(
    (population, step, index) => valuation.observe(population, from + index, toGroups(step)),
    Population.begin(instructions)
  )

const numbered = (history: History) => history.map((groups, index) => ({ step: index + 1, groups }))

const noRewards = [-1, 5, NaN, Infinity, 1 + Number.EPSILON]

const member = (population: Population.Contents, index: number): Population.Member =>
  Option.getOrThrow(Population.find(population, instruction(index).id))

describe("lastDraws", () => {
  it.prop(
    "Eq. 6: the instruction's own last n step means, summed and divided by n",
    { history: History, window: Window },
    ({ history, window }) => {
      const population = observeAll(Population.lastDraws({ window }), history)
      for (const index of instructions.keys()) {
        const means = stepMeans(numbered(history), index).map((entry) => entry.mean)
        const expected = means.length === 0 ? null : means.slice(-window).reduce((a, b) => a + b, 0) / window
        assert.strictEqual(member(population, index).value, expected)
      }
    }
  )

  it.prop(
    "a never-sampled instruction has the value 0",
    { history: History, window: Window },
    ({ history, window }) => {
      const valuation = Population.lastDraws({ window })
      const population = observeAll(valuation, history)
      for (const [index, { value }] of valuation.values(population).entries())
        if (stepMeans(numbered(history), index).length === 0) assert.strictEqual(value, 0)
    }
  )
})

describe("recentSteps", () => {
  it.prop(
    "Eq. 6: the mean of the step means observed within the last n steps; an empty window keeps the last value, stale",
    { history: History, window: Window },
    ({ history, window }) => {
      const valuation = Population.recentSteps({ window })
      for (const index of instructions.keys()) {
        let expected: number | null = null
        let stale = false
        let population = Population.begin(instructions)
        for (const [at, step] of history.entries()) {
          const now = at + 1
          population = valuation.observe(population, now, toGroups(step))
          const seen = stepMeans(numbered(history.slice(0, now)), index).filter((entry) => entry.step > now - window)
          if (seen.length > 0) expected = mean(seen.map((entry) => entry.mean))
          stale = seen.length === 0 && expected !== null
          assert.strictEqual(member(population, index).value, expected)
          assert.strictEqual(member(population, index).stale, stale)
        }
      }
    }
  )

  it.prop(
    "a never-sampled instruction has the mean of the known values",
    { history: History, window: Window },
    ({ history, window }) => {
      const valuation = Population.recentSteps({ window })
      const population = observeAll(valuation, history)
      const known = population.members.flatMap(({ value }) => (value === null ? [] : [value]))
      for (const [index, { value }] of valuation.values(population).entries())
        if (stepMeans(numbered(history), index).length === 0)
          assert.approximately(value, known.length === 0 ? 0 : mean(known), 1e-12)
    }
  )

  it.prop(
    "right after a reset I* has the highest lifetime mean, or verification score where it was never sampled",
    {
      history: History,
      verified: Schema.Array(Schema.Literals([0, 0.25, 0.5, 1])).check(Schema.isMaxLength(3))
    },
    ({ history, verified }) => {
      const valuation = Population.recentSteps({ window: 3 })
      const newcomers = verified.map((score, index) => ({
        instruction: instruction(index + 10, { bornAt: history.length }),
        verification: { mean: score, groups: 4, rival: null }
      }))
      const population = Population.add(Population.resetWindows(observeAll(valuation, history)), newcomers)
      const rewards = instructions.map((_, index) =>
        history
          .flat()
          .filter((group) => group.member === index)
          .flatMap((group) => group.rewards)
      )
      const scores = [...rewards.map((own) => (own.length === 0 ? 0 : mean(own))), ...verified]
      const best = Option.getOrThrow(valuation.best(population))
      assert.strictEqual(scores[population.members.indexOf(best)], Math.max(...scores))
    }
  )

  it.prop(
    "right after a reset the parent wins every tie with its offspring",
    { history: History.check(Schema.isMinLength(1)), score: Schema.Literals([0, 1]) },
    ({ history, score }) => {
      const valuation = Population.recentSteps({ window: 5 })
      const rolledOut = history.map(() => [{ member: 0, rewards: [score] as const } as const])
      const parent = Population.resetWindows(
        Population.remove(observeAll(valuation, rolledOut), ["i1", "i2", "i3"].map(id))
      )
      const offspring = [0, 1].map((index) => ({
        // Neither an earlier place nor a smaller id helps against the parent's record.
        instruction: instruction(index, { id: id(`a${index}`) }),
        verification: { mean: score, groups: 9, rival: null }
      }))
      const family = Population.add(parent, offspring)
      const population = { ...family, members: family.members.toReversed() }
      assert.strictEqual(Option.getOrThrow(valuation.best(population)).instruction.id, id("i0"))
    }
  )
})

for (const [name, make] of [
  ["lastDraws", Population.lastDraws],
  ["recentSteps", Population.recentSteps]
] as const)
  describe(`${name} and the other alike`, () => {
    it.prop("values lie in [0, 1]", { history: History, window: Window }, ({ history, window }) => {
      const valuation = make({ window })
      for (const { value } of valuation.values(observeAll(valuation, history))) {
        assert.isAtLeast(value, 0)
        assert.isAtMost(value, 1)
      }
    })

    it.prop("the order of a step's groups does not matter", { history: History, window: Window }, (input) => {
      const valuation = make({ window: input.window })
      const reversed = input.history.map((step) => step.toReversed())
      // P(best) may: it compares groups that share no question in the order of the step.
      const valuesOf = (history: History) => valuation.values(observeAll(valuation, history)).map(({ value }) => value)
      assert.deepStrictEqual(valuesOf(reversed), valuesOf(input.history))
    })

    it.prop("lifetime records add up the whole history, resets or not", { history: History }, ({ history }) => {
      const valuation = make({ window: 2 })
      const population = history.reduce(
        (state, step, index) => Population.resetWindows(valuation.observe(state, index + 1, toGroups(step))),
        Population.begin(instructions)
      )
      for (const index of instructions.keys()) {
        const groups = history.flat().filter((group) => group.member === index)
        const rewards = groups.flatMap((group) => group.rewards)
        const means = groups.map((group) => mean(group.rewards))
        const { lifetime } = member(population, index)
        assert.strictEqual(lifetime.groups, groups.length)
        assert.strictEqual(lifetime.trajectories, rewards.length)
        assert.strictEqual(lifetime.rewardSum, rewards.filter((reward) => reward === 1).length)
        const sum = 1 / 2 + means.reduce((total, value) => total + value, 0)
        assert.approximately(lifetime.bounds.low, sum, 1e-9)
        assert.strictEqual(lifetime.bounds.high, lifetime.bounds.low)
        assert.strictEqual(lifetime.bounds.groups, lifetime.groups)
      }
    })

    it.prop("I* has the largest value", { history: History }, ({ history }) => {
      const valuation = make({ window: 5 })
      const population = observeAll(valuation, [...history, [{ member: 2, rewards: [1] }]])
      const best = Option.getOrThrow(valuation.best(population))
      const values = valuation.values(population)
      const largest = Math.max(...values.map(({ value }) => value))
      assert.strictEqual(values.find(({ id }) => id === best.instruction.id)?.value, largest)
    })

    it.prop("a removed instruction leaves no data", { history: History }, ({ history }) => {
      const valuation = make({ window: 5 })
      const population = Population.remove(observeAll(valuation, history), [instruction(3).id])
      assert.notInclude(JSON.stringify(population), `"${instruction(3).id}"`)
    })

    it.prop(
      "an observation is refused, and says why, when its step was known, its instruction left, or a reward is none",
      { history: History },
      ({ history }) => {
        const valuation = make({ window: 5 })
        const population = Population.remove(observeAll(valuation, history), [instruction(3).id])
        const later = history.length + 1
        const group = (index: number, rewards: readonly [number, ...ReadonlyArray<number>]) => [
          { instructionId: instruction(index).id, rewards }
        ]
        for (const known of [...history.keys(), history.length, -1, later - 0.5, NaN, Infinity])
          assert.throws(() => valuation.observe(population, known, group(0, [1])), /: step is .*; expected/u)
        assert.throws(() => valuation.observe(population, later, group(3, [1])), /i3; expected the id of a member/u)
        for (const none of noRewards)
          assert.throws(
            () => valuation.observe(population, later, group(0, [1, none])),
            /rewards of i0\[1\].*\[0, 1\]/u
          )
        assert.strictEqual(valuation.observe(population, later, group(0, [1])).step, later)
      }
    )

    it("10,000 steps of eight instructions take no more memory than a few", { tags: "deep" }, () => {
      const valuation = make({ window: 5 })
      const eight = Array.from({ length: 8 }, (_, index) => instruction(index))
      const size = (steps: number) => {
        let population = Population.begin(eight)
        for (let step = 1; step <= steps; step++)
          population = valuation.observe(
            population,
            step,
            eight.map(({ id }, index) => ({ instructionId: id, rewards: [(step * (index + 3)) % 5 === 0 ? 1 : 0] }))
          )
        return JSON.stringify(population).length
      }
      // Numbers have more digits the longer they are added up.
      assert.isAtMost(size(10_000), 1.5 * size(100))
    })

    it.prop("a population survives JSON unchanged", { history: History, window: Window }, ({ history, window }) => {
      const population = observeAll(make({ window }), history)
      const codec = Schema.fromJsonString(Population.Contents)
      const text = Schema.encodeSync(codec)(population)
      assert.deepStrictEqual(Schema.decodeSync(codec)(text), population)
    })
  })

describe("the schema of a population", () => {
  const decode = Schema.decodeUnknownResult(Population.Contents)
  const damages: Readonly<Record<string, (population: Population.Contents) => unknown>> = {
    "members with different ids": (one) => ({ ...one, members: one.members.map(() => one.members[0]) }),
    "no window after the last step": (one) => ({ ...one, step: 0 }),
    "a comparison of as many": ({ comparison, ...one }) => ({
      ...one,
      comparison: { ...comparison, chances: comparison.chances.slice(1) }
    }),
    "an incumbent among the members": ({ comparison, ...one }) => ({
      ...one,
      comparison: { ...comparison, incumbent: one.members.length }
    }),
    "a window whose steps increase": (one) => ({
      ...one,
      members: one.members.map((member) => ({ ...member, window: member.window.toReversed() }))
    }),
    "a value of its window": (one) => ({
      ...one,
      members: one.members.map((member) => ({ ...member, window: [], stale: false }))
    })
  }
  const everyMember = [0, 1, 2, 3] as const
  const observed = observeAll(Population.make(), [
    everyMember.map((member) => ({ member, rewards: [1] })),
    everyMember.map((member) => ({ member, rewards: [0] }))
  ])

  it.each(Object.keys(damages))("refuses what no function makes: it expects %s", (expected) => {
    const found = decode(damages[expected]?.(observed))
    assert.include(Result.isFailure(found) ? found.failure.message : "accepted", expected)
  })

  it.prop("accepts what the functions make", { history: History, window: Window }, ({ history, window }) => {
    const valuation = Population.make({ window })
    const grown = observeAll(valuation, history)
    const smaller = Population.remove(grown, [instruction(1).id, instruction(2).id])
    for (const one of [grown, smaller, Population.resetWindows(smaller), Population.begin([])])
      assert.isTrue(Result.isSuccess(decode(one)))
  })
})

describe("layer", () => {
  it.effect("provides the strategy of its options", () =>
    Effect.gen(function* () {
      const { best, identity, values } = yield* Population.Population
      const made = Population.make(choices)
      const population = observeAll(made, [[{ member: 0, rewards: [1] }]])
      assert.deepStrictEqual(values(population), made.values(population))
      assert.deepStrictEqual(best(population), made.best(population))
      assert.deepStrictEqual(identity, { name: "moving-average", parameters: choices })
    }).pipe(Effect.provide(Population.layer(choices)))
  )

  it.effect("fails on a window out of range, without a defect", () =>
    Effect.gen(function* () {
      for (const window of [0, -1, 1.5, NaN]) {
        const layer = Population.layer({ window })
        const refused = yield* Effect.flip(Effect.provide(Population.Population, layer))
        assert.include(refused, { _tag: "InvalidInput", field: "window" })
      }
    })
  )
})

const choices = { window: 4, average: "window", span: "draws", unseen: "mean", ties: "order", best: "value" } as const

const id = (text: string) => Instruction.InstructionId.make(text)
