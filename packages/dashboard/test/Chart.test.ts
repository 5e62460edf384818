import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import {
  type ChartState,
  csv,
  figureOf,
  type Named,
  panned,
  readState,
  smoothings,
  valueAt,
  within,
  writeState,
  zoomed
} from "../src/Chart.ts"
import { inOrder, joinNames, splitNames } from "../src/Metrics.ts"
import { XAxis } from "../src/view/SeriesView.ts"

const Share = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
const Name = Schema.NonEmptyString.check(Schema.makeFilter((text) => text.isWellFormed()))
const Charts = Schema.Array(Schema.Array(Name).check(Schema.isMinLength(1)))
const Value = Schema.NullOr(Schema.Finite.check(Schema.isBetween({ minimum: -3, maximum: 3 })))

const seriesOf = (values: ReadonlyArray<number | null>, changes: Partial<Named> = {}): Named => ({
  id: "run",
  label: "run",
  runs: 1,
  steps: values.map((_, index) => index + 1),
  x: values.map((_, index) => 10 * (index + 1)),
  values: { loss: values },
  bands: {},
  ...changes
})

const state = { x: "step", smoothing: 1, isLog: false } as const

describe("the state of charts", () => {
  it.prop(
    "is the same after a way through the address",
    [XAxis, Schema.Literals(smoothings), Schema.Boolean, Charts, Share, Share],
    ([x, smoothing, isLog, charts, from, width]) => {
      const zoom = width === 0 ? null : ([Math.fround(from), Math.fround(from) + 1 + width] as const)
      const wanted: ChartState = { x, smoothing, isLog, charts, zoom: null }
      const address = (changes: Partial<ChartState>) =>
        new URLSearchParams(Object.entries(writeState(changes)).filter(([, value]) => value !== "")).toString()
      const { zoom: none, ...found } = readState(new Map(new URLSearchParams(address(wanted))))
      assert.deepStrictEqual({ ...found, zoom: none }, wanted)
      const again = readState(new Map(new URLSearchParams(address({ zoom })))).zoom
      assert.strictEqual(again === null, zoom === null)
      for (const [end, value] of (again ?? []).entries()) assert.closeTo(value, zoom?.[end] ?? 0, 1e-5)
    }
  )

  it("has usual values where the address has invalid ones", () => {
    const usual = { x: "step", smoothing: 5, isLog: false, zoom: null, charts: null }
    assert.deepStrictEqual(readState(new Map()), usual as ChartState)
    const wrong = { x: "toString", smooth: "7", y: "linear", zoom: "5:1" }
    assert.deepStrictEqual(readState(new Map(Object.entries(wrong))), usual as ChartState)
  })

  it.prop("names any metrics", [Schema.Array(Name)], ([names]) => {
    for (const some of [names, ["a,b", "50%2C;%25"]]) assert.deepStrictEqual(splitNames(joinNames(some)), some)
    assert.deepStrictEqual(inOrder(inOrder(names).toReversed()), inOrder(names))
  })
})

describe("zoom", () => {
  it.prop("stays within the extent, also when it moves, which keeps its width", [Share, Share, Share], ([a, b, c]) => {
    const extent = [10, 20] as const
    const stretch = [10 + 5 * a, 15.5 + 4 * b] as const
    const moved = panned(stretch, extent, 4 * c - 2)
    assert.closeTo(moved[1] - moved[0], stretch[1] - stretch[0], 1e-9)
    for (const next of [moved, zoomed(stretch, extent, 0.5), zoomed(stretch, extent, 2)])
      assert.isTrue(next === null || (next[0] >= 10 - 1e-9 && next[1] <= 20 + 1e-9 && next[0] < next[1]))
  })

  it("ends when everything is shown", () => {
    assert.deepStrictEqual(zoomed(null, [0, 8], 0.5), [2, 6])
    assert.isNull(zoomed([2, 6], [0, 8], 2))
    assert.deepStrictEqual(panned([2, 6], [0, 8], 0.5), [4, 8])
    assert.deepStrictEqual(panned([2, 4], [0, 8], 0.5), [3, 5])
    assert.deepStrictEqual(panned([4, 8], [0, 8], 0.5), [4, 8])
  })
})

describe("a figure", () => {
  it.prop("has the recorded values at their places", [Schema.Array(Value)], ([values]) => {
    for (const x of ["step", "tokens"] as const) {
      const series = seriesOf(values, x === "step" ? { x: values.map((_, index) => index + 1) } : {})
      const { curves, steps } = figureOf({ series: [series], metrics: ["loss"], state: { ...state, x } })
      assert.deepStrictEqual(steps, series.x)
      assert.deepStrictEqual(curves[0]?.values, values)
    }
  })

  it.prop(
    "has only positive values on a logarithmic axis, and says how many it leaves out",
    [Schema.Array(Value)],
    ([values]) => {
      const { curves, note } = figureOf({
        series: [seriesOf(values)],
        metrics: ["loss"],
        state: { ...state, isLog: true }
      })
      const omitted = values.filter((value) => value !== null && value <= 0).length
      assert.isTrue(curves[0]?.values.every((value) => value === null || value > 0))
      assert.strictEqual(
        curves[0]?.values.filter((value) => value !== null).length,
        values.filter((value) => value !== null).length - omitted
      )
      assert.strictEqual(Number.parseInt(note?.replace(/\D+/u, "") ?? "0", 10), omitted)
    }
  )

  it("smooths runs, but neither means of seeds again nor validations", () => {
    const values = [0, 10, 20, 30]
    const smoothed = (changes: Partial<Named>, metric = "loss") =>
      figureOf({ series: [seriesOf(values, changes)], metrics: [metric], state: { ...state, smoothing: 5 } }).curves.at(
        -1
      )?.values
    assert.deepStrictEqual(smoothed({}), [0, 5, 10, 15])
    assert.deepStrictEqual(smoothed({ runs: 3 }), values)
    assert.deepStrictEqual(smoothed({ values: { "val/reward/mean": values } }, "val/reward/mean"), values)
  })

  it("joins runs on one axis, each with a look of its own for each metric", () => {
    const [first, second] = [
      seriesOf([1, 2], { values: { loss: [1, 2], kl: [3, 4] } }),
      seriesOf([5], { id: "other", label: "other", x: [15], values: { loss: [5], kl: [6] } })
    ]
    const { curves, steps } = figureOf({
      series: [first, second],
      metrics: ["loss", "kl"],
      state: { ...state, x: "tokens" }
    })
    assert.deepStrictEqual(steps, [10, 15, 20])
    assert.deepStrictEqual(
      curves.map(({ label, values }) => [label, values]),
      [
        ["run, Loss", [1, null, 2]],
        ["run, KL to the reference", [3, null, 4]],
        ["other, Loss", [null, 5, null]],
        ["other, KL to the reference", [null, 6, null]]
      ]
    )
    assert.strictEqual(new Set(curves.map(({ dash, tone }) => JSON.stringify([tone, dash]))).size, 4)
    assert.strictEqual(curves[0]?.tone, curves[1]?.tone)
    assert.deepStrictEqual(
      [
        valueAt([1, null, 2, null], 1, false),
        valueAt([1, null, 2, null], 3, false),
        valueAt([1, null, 2, null], 3, true)
      ],
      [1, null, 2]
    )
  })

  it("shows hours, minutes or seconds, whichever is read best", () => {
    const timed = (last: number) =>
      figureOf({ series: [seriesOf([1, 2], { x: [0, last] })], metrics: ["loss"], state: { ...state, x: "time" } })
    assert.deepStrictEqual([timed(100).horizontal?.title, timed(100).steps], ["Time, s", [0, 100]])
    assert.deepStrictEqual([timed(600).horizontal?.title, timed(600).steps], ["Time, min", [0, 10]])
    assert.deepStrictEqual([timed(36_000).horizontal?.title, timed(36_000).steps], ["Time, h", [0, 10]])
  })

  it("is saved as the values of what is shown, whatever the names are", () => {
    const series = seriesOf([0.1, null, 0.3], {
      label: 'a "b", c',
      bands: { loss: [[0, 1], null, [0.2, 0.4]] },
      x: [1, 2, 3],
      runs: 2
    })
    const figure = figureOf({ series: [series, { ...series, label: "d" }], metrics: ["loss"], state })
    assert.strictEqual(
      csv(within(figure, [2, 3])),
      'Step,"a ""b"", c","a ""b"", c low","a ""b"", c high",d,d low,d high\r\n2,,,,,,\r\n3,0.3,0.2,0.4,0.3,0.2,0.4\r\n'
    )
  })
})
