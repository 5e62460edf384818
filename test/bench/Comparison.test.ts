import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  type Baseline,
  baselineOf,
  best,
  complaint,
  type Figure,
  forgotten,
  type Growth,
  judge,
  type Level,
  passes,
  update
} from "../../tools/bench/check/Comparison.ts"

const between = (minimum: number, maximum: number) => Schema.Finite.check(Schema.isBetween({ minimum, maximum }))
const Value = between(1e-3, 1e3)
const Tolerance = between(0.01, 2)
const Better = Schema.Literals(["less", "more"])
const Name = Schema.Literals(["a", "b", "c"])
/** What is no measurement at all. */
const nonsense = [0, -1, NaN, Infinity, -Infinity]
/** A measurement, or the place of one that is none. */
const Measured = Schema.Union([Value, Schema.Literals(["0", "1", "2", "3", "4"])])
const valueOf = (measured: number | string): number =>
  typeof measured === "number" ? measured : (nonsense[Number(measured)] ?? NaN)

const level = (value: number, better: Level["better"] = "less", name = "a", part = "core", tolerance = 0.5): Level => ({
  _tag: "Level",
  part,
  name,
  unit: "s",
  value,
  better,
  tolerance
})

const growth = (from: number, to: number, cost: (items: number) => number, bound = 1.6): Growth => ({
  _tag: "Growth",
  part: "core",
  name: "a",
  items: "steps",
  scale: "steps",
  from,
  to,
  value: ((cost(to) / to) * from) / cost(from),
  bound
})

const baseline = (value: number, tolerance = 0.5, name = "a", part = "core"): Baseline => ({
  part,
  name,
  unit: "s",
  value,
  tolerance
})

const tag = (figure: Figure, baselines: ReadonlyArray<Baseline> = []) => judge(figure, baselines)._tag

describe("a level", () => {
  it.prop("equal to its baseline is kept", { value: Value, tolerance: Tolerance, better: Better }, (any) => {
    assert.strictEqual(tag(level(any.value, any.better), [baseline(any.value, any.tolerance)]), "Kept")
  })

  it.prop(
    "is worse exactly beyond its tolerance, and better exactly beyond it on the other side",
    { value: Value, tolerance: Tolerance, factor: between(1e-3, 1e3), better: Better },
    ({ better, factor, tolerance, value }) => {
      const measured = better === "less" ? value * factor : value / factor
      const expected = factor > 1 + tolerance ? "Worse" : factor < 1 / (1 + tolerance) ? "Better" : "Kept"
      // Where rounding decides, both answers are right.
      const edge = Math.min(Math.abs(factor - 1 - tolerance), Math.abs(factor * (1 + tolerance) - 1))
      if (edge > 1e-9) assert.strictEqual(tag(level(measured, better), [baseline(value, tolerance)]), expected)
    }
  )

  it.prop(
    "that fails still fails when it is worse",
    { value: Value, old: Value, tolerance: Tolerance, more: between(1, 100), better: Better },
    ({ better, more, old, tolerance, value }) => {
      const worse = better === "less" ? value * more : value / more
      const stored = [baseline(old, tolerance)]
      if (tag(level(value, better), stored) === "Worse") assert.strictEqual(tag(level(worse, better), stored), "Worse")
    }
  )

  it.prop("that is not a positive number never passes", { old: Value, better: Better }, ({ better, old }) => {
    for (const value of nonsense) {
      assert.isFalse(passes(judge(level(value, better), [baseline(old)])))
      assert.isFalse(passes(judge({ ...growth(1, 4, () => 1), value }, [])))
    }
  })

  it.prop("without a baseline of its own name, part and unit does not pass", { value: Value }, ({ value }) => {
    const others = [baseline(value, 0.5, "b"), baseline(value, 0.5, "a", "engine"), { ...baseline(value), unit: "ms" }]
    assert.strictEqual(tag(level(value), others), "Unknown")
    assert.isFalse(passes(judge(level(value), others)))
  })
})

describe("a growth", () => {
  const Items = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 }))
  const Factor = Schema.Int.check(Schema.isBetween({ minimum: 4, maximum: 10 }))

  it.prop(
    "is linear for any cost per item with any fixed cost",
    { from: Items, times: Factor, each: Value, once: Schema.Literals([0, 1, 1000]) },
    ({ each, from, once, times }) => {
      assert.strictEqual(tag(growth(from, from * times, (items) => once + each * items)), "Linear")
    }
  )

  it.prop("is superlinear for a quadratic cost", { from: Items, times: Factor, each: Value }, (any) => {
    assert.strictEqual(tag(growth(any.from, any.from * any.times, (items) => any.each * items ** 2)), "Superlinear")
  })

  it.prop(
    "is superlinear when a quadratic part costs as much as the rest in the small size",
    { from: Items, times: Factor, each: Value },
    ({ each, from, times }) => {
      assert.strictEqual(tag(growth(from, from * times, (items) => each * (items + items ** 2 / from))), "Superlinear")
    }
  )
})

describe("the better of two measurements", () => {
  it.prop(
    "is one of them, the same in either order, and passes when one does",
    { one: Measured, other: Measured, old: Value, better: Better },
    ({ better, old, one, other }) => {
      const stored = [baseline(old)]
      const [a, b] = [level(valueOf(one), better), level(valueOf(other), better)]
      const chosen = judge(best(a, b), stored)
      assert.strictEqual(passes(chosen), passes(judge(best(b, a), stored)))
      assert.strictEqual(passes(chosen), passes(judge(a, stored)) || passes(judge(b, stored)))
    }
  )

  it.prop("of two growths is the lesser one", { one: Value, other: Value }, ({ one, other }) => {
    const of = (value: number) => ({ ...growth(1, 4, () => 1), value })
    assert.strictEqual(best(of(one), of(other)).value, Math.min(one, other))
  })
})

describe("an update", () => {
  const Baselines = Schema.UniqueArray(Schema.Tuple([Schema.Literals(["core", "engine"]), Name]))
  const Levels = Schema.UniqueArray(Name).check(Schema.isMinLength(1))

  it.prop(
    "makes every figure pass, removes unmeasured baselines, and does not change other parts",
    { stored: Baselines, measured: Levels, value: Value },
    ({ measured, stored, value }) => {
      const before = stored.map(([part, name]) => baseline(1, 0.25, name, part))
      const figures = measured.map((name) => level(value, "less", name))
      const after = update(before, figures)
      for (const figure of figures) {
        assert.strictEqual(tag(figure, after), "Kept")
        assert.strictEqual(baselineOf(after, figure)?.tolerance, baselineOf(before, figure)?.tolerance ?? 0.5)
      }
      assert.deepStrictEqual(forgotten(after, figures), [])
      assert.sameDeepMembers(
        [...forgotten(before, figures)],
        before.filter(({ name, part }) => part === "core" && !figures.some((figure) => figure.name === name))
      )
      const others = (of: ReadonlyArray<Baseline>) => of.filter(({ part }) => part !== "core")
      assert.sameDeepMembers(others(after), others(before))
      assert.deepStrictEqual(update(after, figures), after)
    }
  )
})

describe("a complaint", () => {
  it("names the figure, how much worse it is, and the expected value", () => {
    const slow = level(3)
    assert.strictEqual(
      complaint(slow, judge(slow, [baseline(1)])),
      "core: a is 3.00 times worse than its baseline of 1 s, expected at most 1.5 times."
    )
    const quadratic = growth(10, 40, (items) => items ** 2)
    assert.strictEqual(
      complaint(quadratic, judge(quadratic, [])),
      "core: a does not grow in step with its work: of its steps one costs 4 times as much at 40 steps as at 10, " +
        "expected at most 1.6 times."
    )
  })

  it.prop("exists exactly for figures that do not pass", { value: Value, old: Value, better: Better }, (any) => {
    const figures = [level(any.value, any.better), growth(1, 4, (items) => items ** any.value)]
    for (const figure of figures) {
      const verdict = judge(figure, [baseline(any.old)])
      assert.strictEqual(complaint(figure, verdict) === null, passes(verdict))
    }
  })
})
