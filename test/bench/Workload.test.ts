import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { judge } from "../../tools/bench/check/Comparison.ts"
import { Machine } from "../../tools/bench/check/Machine.ts"
import { measure } from "../../tools/bench/check/Workload.ts"

/** A machine on which a calibration takes so long, and how work passes its time. */
const machine = (calibration: number) => {
  let now = 0
  const spend = (calibrations: number) => void (now += calibrations * calibration)
  return { spend, context: Machine.of({ seconds: () => now, calibrate: () => spend(1) }) }
}

/** Work that costs so many calibrations, measured on a machine. */
const measured = (cost: (size: number) => number, calibration: number) => {
  const { context, spend } = machine(calibration)
  return measure({
    part: "core",
    name: "work",
    items: "steps",
    sizes: [10, 40],
    make: (size) => Effect.succeed(Effect.sync(() => spend(cost(size))))
  }).pipe(Effect.provideService(Machine, context))
}

const Positive = Schema.Finite.check(Schema.isBetween({ minimum: 0.01, maximum: 100 }))

describe("a measurement", () => {
  it.effect.prop(
    "shows what an item costs in calibrations, however fast the machine is",
    { each: Positive, calibration: Positive },
    ({ calibration, each }) =>
      Effect.gen(function* () {
        const { growth, level } = yield* measured((size) => each * size, calibration)
        assert.closeTo(level.value / (1000 * each), 1, 1e-6)
        assert.closeTo(growth.value, 1, 1e-6)
        assert.strictEqual(judge(growth, [])._tag, "Linear")
      })
  )

  it.effect.prop(
    "sees a quadratic cost, however fast the machine is",
    { each: Positive, calibration: Positive },
    ({ calibration, each }) =>
      Effect.gen(function* () {
        const { growth } = yield* measured((size) => each * size ** 2, calibration)
        assert.closeTo(growth.value, 4, 1e-6)
        assert.strictEqual(judge(growth, [])._tag, "Superlinear")
      })
  )
})
