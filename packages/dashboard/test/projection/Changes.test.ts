import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Interval } from "@inspo/statistics"
import { changes, turned } from "../../src/projection/Changes.ts"
import { cells, overview } from "../../src/projection/Overview.ts"
import * as Run from "../../src/projection/Run.ts"
import * as RunRecord from "../../src/RunRecord.ts"
import { cellOf } from "../../src/view/OverviewView.ts"
import { config, events } from "../support/Log.ts"

const record = RunRecord.observe(RunRecord.empty(config), events)
const notes = { baseline: null, wallSeconds: null, degraded: [] }
const view = overview(Run.run({ id: "run", name: "run" }, record, Run.unwritten, 0), record, notes)
const Right = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 }))

/** The view of a run that was right on so many of 100 questions. */
const scored = (before: number, after: number) => ({
  ...view,
  cells: view.cells.map((cell) => {
    const right = cell.policy === "before" ? before : after
    return { ...cell, n: 100, mean: right / 100, ci95: Interval.wilson(right, 100), sources: {} }
  })
})

describe("what changed", () => {
  it.prop(
    "is better and worse with the two ends exchanged, and undecided where it may be chance",
    [Right, Right],
    ([one, other]) => {
      const opposite = { better: "worse", worse: "better", undecided: "undecided" } as const
      const result = (from: number, to: number) => changes(record, scored(from, to))[0]?.result ?? ""
      assert.strictEqual(
        result(other, one),
        Object.entries(opposite).find(([name]) => name === result(one, other))?.[1]
      )
      assert.strictEqual(result(one, one), "undecided")
      if (Math.abs(one - other) > 20) assert.notStrictEqual(result(one, other), "undecided")
    }
  )

  it("counts each test question once", () => {
    const found = turned(record)
    assert.strictEqual(found?.of, cellOf(cells(record), "after", "seed")?.n)
    assert.isAtMost((found?.better ?? 0) + (found?.worse ?? 0), found?.of ?? 0)
    const [before, after] = [cellOf(cells(record), "before", "seed"), cellOf(cells(record), "after", "best")]
    // Rewards are 0 or 1 here, so the counts give the difference of the means.
    assert.approximately(
      ((found?.better ?? 0) - (found?.worse ?? 0)) / (found?.of ?? 1),
      (after?.mean ?? 0) - (before?.mean ?? 0),
      1e-9
    )
  })
})
