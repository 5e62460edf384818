/**
 * Times the pure core at the paper's scale, 7 instructions and 512 questions × 5 trajectories a step:
 *
 * - selection, attribution and pruning of one step, and how they grow with the batch;
 * - `apply` over the events of a whole run, and its memory.
 *
 *     node tools/bench/core.ts [steps]
 *
 * The first line is JSON, a table follows. Exits with 1 when a limit is missed.
 */
import { apply, type Algorithm } from "@inspo/coevolution"
import { Array as Arr } from "effect"
import { base, play, contextOf, stepParts } from "./core/Play.ts"
import { collectGarbage, print, shortRow } from "./Measure.ts"

const steps = Number(process.argv[2] ?? 300)
const rounds = 5
const roundMilliseconds = 40
const scale = 512
const batches = [64, 128, 256, scale, 1024, 2048]
const limits = { stepMilliseconds: 20, foldSeconds: 5, foldMegabytes: 500 }

/** Milliseconds of processor time of this thread, which a busy machine does not change. */
const milliseconds = (work: () => void): number => {
  const before = process.threadCpuUsage()
  work()
  const { system, user } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

/** The median over rounds, each long enough for the coarse clock of processor time. */
const typical = (work: () => void): number => {
  const round = () => {
    let total = 0
    let times = 0
    for (; total < roundMilliseconds; times++) total += milliseconds(work)
    return total / times
  }
  return Arr.makeBy(rounds, round).toSorted((a, b) => a - b)[rounds >> 1] ?? NaN
}

/** Milliseconds of the parts of step 15, before the first pruning. */
const timeStep = (rule: Algorithm["selection"]["removal"], batchSize: number) => {
  const parts = stepParts(rule, batchSize)
  const selection = typical(parts.selection)
  const attribution = typical(parts.attribution)
  const pruning = typical(parts.pruning)
  return { rule, batchSize, selection, attribution, pruning, milliseconds: selection + attribution + pruning }
}

/** Seconds and peak memory of folding the events of a whole run. */
const timeFold = (rule: Algorithm["selection"]["removal"]) => {
  const config: Algorithm = { ...base[rule], schedule: { ...base[rule].schedule, steps } }
  const context = contextOf(config)
  const { events, start } = play(context)
  let state = start
  let peak = 0
  // Garbage of earlier work would count as memory of this fold.
  collectGarbage()
  const spent = milliseconds(() => {
    for (const event of events) {
      state = apply(context, state, event)
      if (event._tag === "StepTrained") peak = Math.max(peak, process.memoryUsage().heapUsed)
    }
  })
  return {
    rule,
    events: events.length,
    trajectories: state.spent.rollouts.train,
    seconds: spent / 1000,
    /** Of the events and the state together. */
    peakHeapMegabytes: peak / 2 ** 20
  }
}

const rules = ["bottom-half", "evidence"] as const
const folds = rules.map(timeFold)
// The folds ran first, so the compiler is warm.
const stepTimes = rules.map((rule) => batches.map((batchSize) => timeStep(rule, batchSize)))

const growth = stepTimes.map((times) => (times.at(-1)?.milliseconds ?? NaN) / (times[0]?.milliseconds ?? NaN))
const batchGrowth = (batches.at(-1) ?? NaN) / (batches[0] ?? NaN)
const met =
  stepTimes.flat().every((time) => time.batchSize !== scale || time.milliseconds < limits.stepMilliseconds) &&
  growth.every((factor) => factor < 1.5 * batchGrowth) &&
  folds.every((fold) => fold.seconds < limits.foldSeconds && fold.peakHeapMegabytes < limits.foldMegabytes)

const result = {
  bench: "core",
  met,
  limits,
  steps: stepTimes.flat().map(shortRow),
  growth: shortRow({ batch: batchGrowth, ...Object.fromEntries(Arr.zip(rules, growth)) }),
  folds: folds.map(shortRow)
}
const line = (row: object) =>
  Object.entries(row)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join("  ")
print(result, [...result.steps, result.growth, ...result.folds].map(line), met)
