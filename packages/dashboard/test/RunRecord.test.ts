import { assert, describe, it } from "@effect/vitest"
import { Selection, fold } from "@inspo/coevolution"
import { Projection } from "@inspo/analysis"
import { Schema } from "effect"
import * as RunRecord from "../src/RunRecord.ts"
import { config, events } from "./support/Log.ts"

const whole = RunRecord.observe(RunRecord.empty(config), events)
const Cuts = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: events.length })))

describe("RunRecord", () => {
  it("folds to the state and the Projection.metrics of the run itself", () => {
    assert.deepStrictEqual(whole.state, fold({ algorithm: config }, events))
    assert.deepStrictEqual(whole.rows, Projection.metrics({ algorithm: config }, events))
    assert.strictEqual(whole.sequence, events.length)
  })

  it.prop("is the same for any batches of events", [Cuts], ([cuts]) => {
    const places = [0, ...[...cuts].sort((a, b) => a - b), events.length]
    const record = places
      .slice(1)
      .reduce(
        (known, end, index) => RunRecord.observe(known, events.slice(places[index], end)),
        RunRecord.empty(config)
      )
    assert.deepStrictEqual(record, whole)
  })

  it("gives trajectories of the final table the step of the policy that they are of", () => {
    const evaluated = events.flatMap((event) => (event._tag === "Evaluated" ? [event.policy] : []))
    const steps = whole.batches.flatMap(({ purpose, step }) => (purpose === "evaluate" ? [step] : []))
    const selected = Selection.selected(config, whole.state).step
    assert.isAbove(selected, 0)
    assert.sameMembers(evaluated, ["before", "before", "after", "after"])
    assert.deepStrictEqual(
      steps,
      evaluated.map((policy) => (policy === "before" ? 0 : selected))
    )
  })

  it("does not change the earlier record", () => {
    const half = RunRecord.observe(RunRecord.empty(config), events.slice(0, 40))
    const rows = half.rows.length
    RunRecord.observe(half, events.slice(40))
    assert.strictEqual(half.rows.length, rows)
    assert.strictEqual(half.sequence, 40)
  })
})
