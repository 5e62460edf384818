/** Work of two sizes, told in units of a calibration: what an item costs, and whether that grows with the items. */
import { Array as Arr, Effect } from "effect"
import { type Growth, Growth as GrowthSchema, type Level, Level as LevelSchema } from "./Comparison.ts"
import { Machine } from "./Machine.ts"

export interface Workload<E, R, E2, R2> {
  readonly part: string
  readonly name: string
  /** What is paid for, in the plural. */
  readonly items: string
  /** What the sizes count, where that is something else than the items. */
  readonly scale?: string
  /** A few items, and some thirty times as many. */
  readonly sizes: readonly [small: number, large: number]
  /** How many items there are at a size; as many as its number by default. */
  readonly itemsOf?: (size: number) => number
  /** Prepares what is not measured, and gives the work. */
  readonly make: (size: number) => Effect.Effect<Effect.Effect<unknown, E, R>, E2, R2>
  /** Of a new baseline. */
  readonly tolerance?: number
  /** Most that an item of the large size may cost, in items of the small one: below 1 where what is paid once counts in these. */
  readonly bound?: number
  readonly rounds?: number
}

/** The cost of 1,000 items of the large size in calibrations, and the growth of the cost of an item. */
export const measure = Effect.fnUntraced(function* <E, R, E2, R2>(workload: Workload<E, R, E2, R2>) {
  const {
    bound = 1.6,
    items,
    itemsOf = (size) => size,
    name,
    part,
    rounds = 5,
    scale = items,
    sizes,
    tolerance = 0.25
  } = workload
  const [from, to] = sizes
  const small = yield* workload.make(from)
  const large = yield* workload.make(to)
  // What comes first pays for the compiler.
  const { calibrate } = yield* Machine
  yield* Effect.repeat(Effect.sync(calibrate), { times: 8 })
  yield* calibrated(small)
  yield* calibrated(large)
  const costs = yield* Effect.forEach(
    Arr.makeBy(rounds, () => [small, large] as const),
    ([small, large]) => Effect.all([calibrated(small), calibrated(large)])
  )
  const level: Level = LevelSchema.make({
    part,
    name,
    unit: `calibrations per 1,000 ${items}`,
    value: (1000 * median(costs.map(([, cost]) => cost))) / itemsOf(to),
    better: "less",
    tolerance
  })
  // Both costs of a round stand beside each other, so that what slows the machine for a while slows both.
  const value = median(costs.map(([small, large]) => (large / itemsOf(to)) * (itemsOf(from) / small)))
  const growth: Growth = GrowthSchema.make({ part, name, items, scale, from, to, value, bound })
  return { level, growth }
})

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return ((sorted[(sorted.length - 1) >> 1] ?? NaN) + (sorted[sorted.length >> 1] ?? NaN)) / 2
}

/** Shorter work is repeated until it has taken so long. */
const leastSeconds = 0.03

/** What work costs in calibrations, of which one runs before it and one after it. */
const calibrated = Effect.fnUntraced(function* <E, R>(work: Effect.Effect<unknown, E, R>) {
  const { calibrate, seconds } = yield* Machine
  const unit = Effect.sync(calibrate)
  const timed = Effect.fnUntraced(function* <E, R>(work: Effect.Effect<unknown, E, R>) {
    const before = seconds()
    yield* work
    return seconds() - before
  })
  const before = yield* timed(unit)
  let total = 0
  let times = 0
  for (; total < leastSeconds; times++) total += yield* timed(work)
  const after = yield* timed(unit)
  return total / times / ((before + after) / 2)
})
