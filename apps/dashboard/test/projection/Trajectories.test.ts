import { assert, describe, it } from "@effect/vitest"
import { Trajectory } from "@inspo/domain"
import { Schema } from "effect"
import { countModes, index, isFailure, select } from "../../src/projection/Trajectories.ts"
import * as RunRecord from "../../src/RunRecord.ts"
import { TrajectoryQuery } from "../../src/view/TrajectoryView.ts"
import { config, events } from "../support/Log.ts"

const record = RunRecord.observe(RunRecord.empty(config), events)
const all = index(record.batches)
const known = { modes: new Map(), text: () => undefined }
const Query = Schema.Struct({
  ...TrajectoryQuery.fields,
  instruction: Schema.optionalKey(Schema.Literals(["i0", "i1", "i7", "none"])),
  source: Schema.optionalKey(Schema.Literals(["dry run", "none"])),
  text: Schema.optionalKey(Schema.Literals(["q1", "Q2", "", "none"])),
  fromStep: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 }))),
  toStep: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 })))
})

const Step = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 21 }))

describe("trajectories", () => {
  it.prop("between two steps are all of these steps, both ends included", [Step, Step], ([fromStep, toStep]) => {
    assert.deepStrictEqual(
      select(all, { fromStep, toStep, order: "oldest" }, known),
      all.rows.filter(({ step }) => step >= fromStep && step <= toStep)
    )
  })

  it("are those that the events tell of", () => {
    const groups = record.batches.flatMap((batch) => batch.groups)
    assert.strictEqual(
      all.rows.length,
      groups.reduce((sum, group) => sum + group.trajectories.length, 0)
    )
  })

  it.prop("of a query are those of the whole list that meet each of its conditions alone", [Query], ([query]) => {
    const { order, ...conditions } = query
    const found = new Set(select(all, query, known))
    const expected = Object.entries(conditions).reduce(
      (rows, [field, value]) => {
        const meeting = new Set(select(all, { [field]: value }, known))
        return rows.filter((row) => meeting.has(row))
      },
      [...all.rows]
    )
    assert.deepStrictEqual(
      all.rows.filter((row) => found.has(row)),
      expected
    )
    const ordered = select(all, query, known)
    for (const [place, row] of ordered.entries()) {
      const before = ordered[place - 1]
      if (before === undefined) continue
      if (order === undefined || order === "newest") assert.isAtLeast(before.step, row.step)
      if (order === "oldest") assert.isAtMost(before.step, row.step)
      if (order === "longest") assert.isAtLeast(before.responseTokens, row.responseTokens)
      if (order === "calls") assert.isAtLeast(before.toolCalls, row.toolCalls)
    }
  })

  it("are never lost by listing them", () => {
    const before = all.rows.map(({ id }) => id)
    for (const order of ["newest", "longest", "calls"] as const) select(all, { order }, known)
    assert.deepStrictEqual(
      all.rows.map(({ id }) => id),
      before
    )
  })

  it("are counted by failure mode, once for each mode they show", () => {
    // The synthetic log names trajectories by their question alone.
    const named = {
      ...all,
      rows: all.rows.map((row, place) => ({ ...row, id: Trajectory.TrajectoryId.make(`t${place}`) }))
    }
    const failures = named.rows.filter(isFailure)
    const modes = new Map(failures.map(({ id }, place) => [id, place % 2 === 0 ? ["no-search" as const] : []]))
    const shown = failures.filter(({ id }) => modes.get(id)?.length === 1).length
    assert.deepStrictEqual(countModes(failures, modes), [{ mode: "no-search", count: shown }])
    assert.strictEqual(select(named, { mode: "no-search" }, { ...known, modes }).length, shown)
  })
})
