import { assert, describe, it } from "@effect/vitest"
import { Array as Arr } from "effect"
import type { Population } from "@inspo/population"
import { Sampler } from "@inspo/sampler"
import { Removal } from "@inspo/successive-halving"
import * as Drift from "../../src/simulation/Drift.ts"
import * as Evolving from "../../src/simulation/Evolving.ts"
import * as Loop from "../../src/simulation/Loop.ts"
import * as Oracle from "../../src/simulation/Oracle.ts"
import { type Budget, type Name, type Rule, rulesFor } from "../../src/simulation/Rules.ts"
import * as World from "../../src/simulation/World.ts"

const budget: Budget = { steps: 6, questions: 16, groupSize: 5 }
const rules = rulesFor(budget)
const worldOf = (...values: ReadonlyArray<number>) => World.make({ values, question: 0.25, interaction: 0.05 })
const simulations = (world: World.World, rule: Rule, count: number, at = budget) =>
  Arr.makeBy(count, (seed) => Loop.simulate(world, rule, at, seed))
const lost = (outcomes: ReadonlyArray<Loop.Outcome>) => outcomes.filter((outcome) => outcome.lost).length

describe("simulate", () => {
  it("repeats with the same seed, and keeps at least one instruction, under every rule", () => {
    for (const rule of Object.values(rules)) {
      const [first, again] = [0, 0].map(() => Loop.simulate(worldOf(0.5, 0.3, 0.2), rule, budget, 7))
      assert.deepStrictEqual(first, again)
      assert.isAtLeast(first?.left ?? 0, 1)
      assert.isTrue(first?.removed !== true || first.lost)
    }
  })

  it("has the rollouts of the budget under every rule", () => {
    const values = [{ id: World.instruction(0).id, value: 0, chance: 1 }]
    for (const rule of Object.values(rules)) {
      const draws = Loop.assign(rule, budget, values, { seed: 1, step: 1 }).flat()
      assert.strictEqual(draws.length * rule.samples(budget), budget.questions * budget.groupSize)
    }
  })

  it("a rule that knows the values loses nothing and has no regret", () => {
    const world = worldOf(0.35, 0.378, 0.35, 0.35)
    // The texts of instructions do not say their values, which are assigned at random: the seed does.
    for (let seed = 0; seed < 10; seed++) {
      const outcome = Loop.simulate(world, knowing(Loop.valuesAt(world, seed)), budget, seed)
      assert.isFalse(outcome.lost || outcome.removed)
      assert.strictEqual(outcome.regret, 0)
    }
  })

  it("halving removes a given one of equal instructions as often as chance", () => {
    const world = worldOf(0.4, 0.4 - 1e-9, 0.4 - 1e-9, 0.4 - 1e-9)
    const outcomes = simulations(world, { ...rules.paired, pruneEvery: 2 }, 300)
    assert.isTrue(outcomes.every(({ decidedAt }) => decidedAt === 4))
    assert.approximately(outcomes.filter(({ removed }) => removed).length / 300, 3 / 4, 0.08)
  })

  it("the rules are in the order that the design expects, with wide margins", () => {
    const world = worldOf(0.5, ...Arr.replicate(0.35, 6))
    const losses = (name: Name) => lost(simulations(world, rules[name], 100))
    assert.isAbove(losses("paper"), losses("groups") + 10)
    assert.isAtLeast(losses("groups") + 6, losses("samples"))
  })
})

const knowing = (values: ReadonlyArray<number>): Rule => {
  const valuation: Omit<Population.Interface, "observe"> = {
    identity: { name: "knows", parameters: {} },
    values: ({ members }) =>
      members.map(({ instruction: { id } }) => ({ id, value: values[Number(id.slice(1))] ?? Number.NaN })),
    best: ({ members }) =>
      Arr.head(members.toSorted((a, b) => valueOf(values, b.instruction.id) - valueOf(values, a.instruction.id)))
  }
  return {
    ...rules.paper,
    valuation,
    sampler: Sampler.make({ rule: "softmax", temperature: 1e-6, assignment: "independent" }),
    removal: Removal.bottomHalf({ parents: 1 }),
    pruneEvery: 2
  }
}
const valueOf = (values: ReadonlyArray<number>, id: string) => values[Number(id.slice(1))] ?? Number.NaN

describe("lost by the static allocation", () => {
  it("falls with the rollouts to nothing", () => {
    const world = worldOf(0.378, ...Arr.replicate(0.35, 6))
    const shares = [1, 4800, 1e6].map((rollouts) => Oracle.lost(world, rollouts, 4000, 1) / 4000)
    assert.isAbove(shares[0] ?? 0, 0.8)
    assert.approximately(shares[1] ?? 0, 0.34, 0.03)
    assert.strictEqual(shares[2], 0)
  })
})

describe("bias", () => {
  it("is large by lifetime means, and small within questions", () => {
    const average = (name: Name) => {
      const last = Arr.makeBy(12, (seed) => Drift.bias(rules[name], budget, seed).at(-1) ?? Number.NaN)
      return Arr.reduce(last, 0, (sum, one) => sum + one / 12)
    }
    assert.approximately(average("unpaired"), 0.08, 0.03)
    assert.approximately(average("samples"), 0, 0.02)
  })
})

describe("simulate with evolution", () => {
  const long: Budget = { steps: 24, questions: 16, groupSize: 5 }
  const outcomesOf = (name: Name, entry: Evolving.Entry) =>
    Arr.makeBy(12, (seed) => Evolving.simulate(rules[name], entry, long, seed))

  it("repeats with the same seed, and returns a member", () => {
    for (const [name, entry] of [
      ["paper", Evolving.verified(2, true)],
      ["groups", Evolving.untried],
      ["samples", Evolving.untried]
    ] as const) {
      const outcomes = outcomesOf(name, entry)
      assert.deepStrictEqual(outcomesOf(name, entry), outcomes)
      for (const { best, returned, verification } of outcomes) {
        assert.isAtMost(returned, best)
        // A round asks six candidates 200 questions each.
        assert.isTrue(name === "paper" ? verification > 0 && verification % 1200 === 0 : verification === 0)
      }
    }
  })
})
