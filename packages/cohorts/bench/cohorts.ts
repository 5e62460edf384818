/**
 * What delay, missing rewards and faults do to decisions, in a world whose truth is known: false prunes of equal instructions over whole
 * lives, with the naive feed beside them; how soon the worse of two is known; how soon the better of two is preferred.
 *
 *     node packages/cohorts/bench/cohorts.ts [simulations] [PART …]
 */
import { snapshot } from "@inspo/cohorts"
import { Console, Effect } from "effect"
import { contest, live, naive, type Weather, weathers } from "../test/support/Delay.ts"
import { type Contest, preferredAfter } from "../test/support/Preference.ts"

const [first = "400", ...chosen] = process.argv.slice(2)
const simulations = Number(first)
const seeds = Array.from({ length: simulations }, (_, index) => index + 1)
const evolutions = 10

const lives = Effect.fnUntraced(function* (name: string, weather: Weather, batch: number, evolveEvery: number) {
  const ended = seeds.map((seed) => live({ seed, weather, evolutions, evolveEvery, mean: 0.5, batch }))
  const count = (holds: (one: (typeof ended)[number]) => boolean) => ended.filter(holds).length
  const fed = seeds.filter((seed) => naive({ seed, weather, mean: 0.5, batch: 24, steps: 200 })).length
  const leases = ended.reduce((sum, one) => sum + one.leases, 0)
  yield* Console.log(
    `${`${name}, cohorts of ${batch}`.padEnd(46)}${`${count(({ worse }) => worse > 0)} of ${simulations}`.padStart(14)}` +
      `${`${count(({ claimed }) => claimed)} of ${simulations}`.padStart(14)}${`${fed} of ${simulations}`.padStart(14)}` +
      String(Math.round(leases / simulations)).padStart(10)
  )
})

const allLives = Effect.gen(function* () {
  yield* Console.log(
    `Equal instructions, δ = 0.05, ${evolutions} evolutions; the naive feed: two instructions, 200 steps`
  )
  yield* Console.log(
    `${"".padEnd(46)}${"some pruned".padStart(14)}${"claimed".padStart(14)}${"naive".padStart(14)}${"leases".padStart(10)}`
  )
  for (const [name, weather] of Object.entries(weathers)) yield* lives(name, weather, 12, 10)
  for (const [name, weather] of Object.entries(weathers)) yield* lives(name, weather, 1, 60)
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

const preferred: ReadonlyArray<readonly [name: string, contest: Contest]> = [
  [
    "trainer, cohorts of 30 groups of 4, 0.8 against 0.2",
    { profile: "trainer", means: [0.2, 0.8], groups: 30, n: 4, cohorts: 100 }
  ],
  [
    "trainer, cohorts of one group of 4, 0.9 against 0.5",
    { profile: "trainer", means: [0.5, 0.9], groups: 1, n: 4, cohorts: 2000 }
  ],
  ["online, cohorts of 200, 0.6 against 0.5", { profile: "online", means: [0.5, 0.6], groups: 200, n: 1, cohorts: 200 }]
]

const preferences = Effect.gen(function* () {
  yield* Console.log("Cohorts until the better of seed and variant is the incumbent and has most leases; five seeds")
  for (const [name, one] of preferred) {
    const ended = [1, 2, 3, 4, 5].map((seed) => preferredAfter(one, seed) ?? Infinity)
    const middle = median(ended)
    yield* Console.log(
      `${name.padEnd(54)}median ${middle} cohorts, ${middle * one.groups} leases (${ended.join(", ")} cohorts)`
    )
  }
})

const parts = { lives: allLives, contests, preferences }
const isPart = (name: string): name is keyof typeof parts => Object.hasOwn(parts, name)

await Effect.runPromise(
  Effect.forEach(
    chosen.length === 0 ? Object.keys(parts) : chosen,
    (part) => (isPart(part) ? parts[part] : Effect.void),
    {
      discard: true
    }
  )
)
