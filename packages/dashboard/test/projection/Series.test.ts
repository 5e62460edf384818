import { assert, describe, it } from "@effect/vitest"
import { Exact } from "@inspo/statistics"
import { Schema } from "effect"
import { meanSeries, recorded, seriesOf } from "../../src/projection/Series.ts"
import * as RunRecord from "../../src/RunRecord.ts"
import type { Series } from "../../src/view/SeriesView.ts"
import { config, events } from "../support/Log.ts"

const record = RunRecord.observe(RunRecord.empty(config), events)
const seconds = new Map([[3, 40]])
const drawn = { id: "run", record, seconds }

describe("the series of a run", () => {
  it("have every recorded metric as metrics.jsonl has it, at its step, its rollouts, its tokens and its time", () => {
    const names = [...recorded(record)]
    assert.includeMembers(names, ["reward/mean", "kl", "inspo/prob/i0", "val/reward/mean", "val/reward/dry run"])
    const metrics = names.filter((name) => !name.startsWith("val/"))
    const own = seriesOf(drawn, metrics, "step")
    assert.deepStrictEqual(own.steps, own.x)
    for (const name of metrics)
      assert.deepStrictEqual(
        own.values[name],
        record.rows.map((row) => row[name] ?? null),
        name
      )
    const last = record.rows.at(-1) ?? {}
    for (const axis of ["rollouts", "tokens"] as const)
      assert.strictEqual(
        seriesOf(drawn, [], axis).x.at(-1),
        (last[`${axis}/train`] ?? 0) + (last[`${axis}/verification`] ?? 0)
      )
    assert.deepStrictEqual(
      seriesOf(drawn, [], "time").x,
      own.steps.map((step) => seconds.get(step) ?? null)
    )
  })

  it("have the intervals of validations", () => {
    const { bands, steps, values } = seriesOf(drawn, ["val/reward/mean"], "step")
    for (const { groups, step } of record.validated) {
      const [low, high] = bands["val/reward/mean"]?.[steps.indexOf(step)] ?? [1, 0]
      const value = values["val/reward/mean"]?.[steps.indexOf(step)] ?? -1
      assert.isTrue(low <= value && value <= high && groups.length > 0)
    }
    assert.strictEqual(
      values["val/reward/mean"]?.filter((value) => value !== null).length,
      new Set(record.validated.map(({ step }) => step)).size
    )
  })
})

describe("the mean of a group", () => {
  const Values = Schema.Array(Schema.NullOr(Schema.Finite.check(Schema.isBetween({ minimum: -2, maximum: 2 }))))
  const line = (values: ReadonlyArray<number | null>, metric: string): Series => ({
    id: "run",
    runs: 1,
    steps: values.map((_, index) => index),
    x: values.map((_, index) => values.length * index),
    values: { [metric]: values },
    bands: {}
  })

  it.prop("is that of Student over the runs, at the steps that all of them have", [Values, Values, Values], (all) => {
    const mean = meanSeries(
      "group",
      all.map((values) => line(values, "loss"))
    )
    const shortest = Math.min(...all.map(({ length }) => length))
    assert.deepStrictEqual([mean.id, mean.runs, mean.steps.length], ["group", 3, shortest])
    for (const step of mean.steps) {
      const values = all.flatMap((one) => one[step] ?? [])
      const expected = values.length < 3 ? null : Exact.estimate(values)
      assert.strictEqual(mean.values["loss"]?.[step], expected?.mean ?? null)
      assert.deepStrictEqual(mean.bands["loss"]?.[step], expected?.ci95 ?? null)
      assert.closeTo(mean.x[step] ?? -1, (step * all.flat().length) / 3, 1e-9)
    }
  })

  it("has an interval of shares within 0 and 1, and none for a single run", () => {
    const shares = [[0], [1]].map((values) => line(values, "reward/mean"))
    assert.deepStrictEqual(meanSeries("group", shares).bands["reward/mean"], [[0, 1]])
    assert.deepStrictEqual(meanSeries("group", shares.slice(0, 1)).bands["reward/mean"], [null])
  })
})
