/**
 * What delay, missing rewards and faults do to decisions, in a world whose truth is known: false prunes of equal instructions over whole
 * lives, with the naive feed beside them; how soon the worse of two is known; the power of the batch rule.
 *
 *     node packages/cohorts/bench/cohorts.ts [simulations] [PART …]
 */
import { snapshot } from "@inspo/cohorts"
import { Console, Effect } from "effect"
import { contest, live, naive, power, type Weather, weathers } from "../test/support/Delay.ts"

const [first = "400", ...chosen] = process.argv.slice(2)
const simulations = Number(first)
const parts = chosen.length === 0 ? ["lives", "contests", "power"] : chosen
const seeds = Array.from({ length: simulations }, (_, index) => index + 1)
const evolutions = 50

const lives = Effect.fnUntraced(function* (name: string, weather: Weather) {
  const ended = seeds.map((seed) => live({ seed, weather, evolutions, mean: 0.5, batch: 12 }))
  const count = (holds: (one: (typeof ended)[number]) => boolean) => ended.filter(holds).length
  const fed = seeds.filter((seed) => naive({ seed, weather, mean: 0.5, batch: 24, steps: 200 })).length
  const leases = ended.reduce((sum, one) => sum + one.leases, 0)
  yield* Console.log(
    `${name.padEnd(32)}${`${count(({ worse }) => worse > 0)} of ${simulations}`.padStart(14)}` +
      `${`${count(({ claimed }) => claimed)} of ${simulations}`.padStart(14)}${`${fed} of ${simulations}`.padStart(14)}` +
      String(Math.round(leases / simulations)).padStart(10)
  )
})

const allLives = Effect.gen(function* () {
  yield* Console.log(
    `Equal instructions, δ = 0.05, ${evolutions} evolutions; the naive feed: two instructions, 200 steps`
  )
  yield* Console.log(
    `${"".padEnd(32)}${"some pruned".padStart(14)}${"claimed".padStart(14)}${"naive".padStart(14)}${"leases".padStart(10)}`
  )
  for (const [name, weather] of Object.entries(weathers)) yield* lives(name, weather)
})

const median = (values: ReadonlyArray<number>): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0

const contests = Effect.gen(function* () {
  yield* Console.log("0.8 against 0.3, cohorts of 200; median over 20 seeds, at most 100 cohorts")
  for (const missingRewards of [{ value: 0.5 }, "worst"] as const)
    for (const response of [1, 0.8, 0.2, 0.05]) {
      const ended = seeds
        .slice(0, 20)
        .map((seed) => contest({ seed, means: [0.8, 0.3], response, missingRewards, batch: 200, cohorts: 100 }))
      const decided = ended.flatMap(({ decidedAt }) => (decidedAt === null ? [] : [decidedAt]))
      const forbids = ended.filter(
        ({ server }) => snapshot(server.strategies, server.state).missingRewardsForbid.length > 0
      ).length
      yield* Console.log(
        `${(missingRewards === "worst" ? "worst" : `value ${missingRewards.value}`).padEnd(12)}response ${String(response).padEnd(8)}` +
          `decided ${decided.length} of ${ended.length}${decided.length === 0 ? "" : `, after ${median(decided)} cohorts`}` +
          `; missing rewards forbid it in ${forbids}`
      )
    }
})

const powers = Effect.gen(function* () {
  yield* Console.log("Steps until one of several is left, no delay; median and mean of simulations")
  for (const [means, evolutions, pruneEvery] of [
    [[0.6, 0.4, 0.4, 0.4, 0.4, 0.4, 0.4], 10, 5],
    [[0.6, 0.4], 0, 5],
    [[0.6, 0.4], 0, 1]
  ] as const) {
    const ended = seeds.slice(0, 100).map((seed) => power({ seed, means, evolutions, pruneEvery }))
    const of = (name: "batch" | "batchOfAll" | "running" | "lifelong") => {
      const steps = ended.map((one) => one[name] ?? Infinity)
      return `${median(steps)} (${(steps.reduce((sum, one) => sum + one, 0) / steps.length).toFixed(2)})`
    }
    yield* Console.log(
      `${means.length} instructions, ${evolutions} evolutions planned, pruning every ${pruneEvery}: batch rule ${of("batch")}, ` +
        `the same rule in cohorts ${of("running")} (equal in ${ended.filter(({ batch, running }) => batch === running).length} ` +
        `of ${ended.length}), batch rule at the risk of any that are equal ${of("batchOfAll")}, for life ${of("lifelong")}`
    )
  }
})

await Effect.runPromise(
  Effect.forEach(parts, (part) => (part === "lives" ? allLives : part === "contests" ? contests : powers), {
    discard: true
  })
)
