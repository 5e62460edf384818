/** Work of two sizes, measured in calibrations: the cost of an item, and whether it grows with the items. */
import { Array as Arr, Effect } from "effect"
import { type Growth, Growth as GrowthSchema, type Level, Level as LevelSchema } from "./Comparison.ts"
import { Machine } from "./Machine.ts"

export interface Workload<E, R, E2, R2> {
  readonly part: string
  readonly name: string
  /** The items, in the plural. */
  readonly items: string
  /** What the sizes count, if not the items. */
  readonly scale?: string
  /** A few items, and about thirty times as many. */
  readonly sizes: readonly [small: number, large: number]
  /** The number of items at a size; the size itself by default. */
  readonly itemsOf?: (size: number) => number
  /** Prepares the work, which is not measured, and returns it. */
  readonly make: (size: number) => Effect.Effect<Effect.Effect<unknown, E, R>, E2, R2>
  /** The tolerance of a new baseline. */
  readonly tolerance?: number
  /** The highest cost of an item of the large size, in items of the small size; below 1 if the small size includes fixed costs. */
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
  // The first run includes compilation.
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
  // Both costs of a round are measured together, so that a slow moment of the machine affects both.
  const value = median(costs.map(([small, large]) => (large / itemsOf(to)) * (itemsOf(from) / small)))
  const growth: Growth = GrowthSchema.make({ part, name, items, scale, from, to, value, bound })
  return { level, growth }
})

export const median = (values: ReadonlyArray<number>): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return ((sorted[(sorted.length - 1) >> 1] ?? NaN) + (sorted[sorted.length >> 1] ?? NaN)) / 2
}

/** Shorter work is repeated for this time. */
const leastSeconds = 0.03

/** The cost of work in calibrations, of which one runs before it and one after it. */
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
