/** Weeks of service in minutes: populations with load by day and night, rewards hours later or never, and evolution. */
import { type Refused, Settings } from "@inspo/cohorts"
import { RandomStream } from "@inspo/domain"
import type { Journal, JournalError } from "@inspo/journal"
import * as LivePopulation from "../../src/live/LivePopulation.ts"
import { Clock, Effect, type Scope } from "effect"
import { TestClock } from "effect/testing"

export interface Week {
  readonly populations: number
  /** Leases in all. */
  readonly leases: number
  readonly seed: number
  /** Simulated days over which they are spread. */
  readonly days: number
  /** Days after which leases and texts are dropped. */
  readonly retention: number
  readonly journal: (name: string) => Effect.Effect<Journal.Interface, JournalError, Scope.Scope>
  /** Told each simulated day. */
  readonly onDay: (day: number, leases: number) => Effect.Effect<void>
}

export interface Outcome {
  readonly served: ReadonlyArray<{ readonly live: LivePopulation.LivePopulation; readonly journal: Journal.Interface }>
  readonly leases: number
  readonly rewards: number
}

const hour = 3_600_000
/** Every so often what was asked meanwhile is asked at once. */
const beat = hour / 6
/** The share of leases that are rewarded, and the mean delay of the reward. */
const response = 0.6
const delay = 5 * hour

const settings = ({ retention, seed }: Week): Settings.Settings => ({
  ...Settings.online(seed),
  retentionDays: retention,
  sealAfterSeconds: 6 * 3600,
  horizonSeconds: 24 * 3600,
  missingRewards: { value: 0.5 },
  approval: "automatic"
})

interface Due {
  readonly at: number
  readonly lease: string
  readonly value: number
}

/** One population: `ask` asks for leases and tells what came of earlier ones, then does what is due. */
const populate = Effect.fnUntraced(function* (week: Week, name: string) {
  const { journal: open, seed } = week
  const journal = yield* open(name)
  yield* LivePopulation.begin(journal, settings(week), ["the seed", "a variant"])
  const live = yield* LivePopulation.open(journal)
  let asked = 0
  let rewarded = 0
  let due: ReadonlyArray<Due> = []

  const lease = Effect.fnUntraced(function* (now: number) {
    const key = `${name}-${asked++}`
    const requests = [{ key, n: 1, stratum: "all", sticky: null, question: null, instructions: 1 }]
    const answer = yield* live.submit((now) => ({
      _tag: "Lease",
      now,
      cohort: null,
      phase: "train",
      isFullBatch: false,
      requests
    }))
    if (answer._tag !== "Leases") return []
    const { next } = RandomStream.make(seed, ["weeks", key])
    const [told, wait, good] = [next(), next(), next()]
    return answer.leases.flatMap(({ instruction, lease }) =>
      told < response
        ? [{ at: now - delay * Math.log(1 - wait), lease, value: good < quality(instruction) ? 1 : 0 }]
        : []
    )
  })

  const reward = ({ lease, value }: Due) =>
    live.submit((now) => ({ _tag: "Reward", now, rewards: [{ lease, sample: 0, value }] }))

  return {
    live,
    journal,
    told: () => rewarded,
    ask: Effect.fnUntraced(function* (leases: number) {
      const now = yield* Clock.currentTimeMillis
      const ready = due.filter(({ at }) => at <= now)
      const [given] = yield* Effect.all(
        [
          Effect.forEach(Array.from({ length: leases }), () => lease(now), { concurrency: "unbounded" }),
          Effect.forEach(ready, reward, { concurrency: "unbounded", discard: true })
        ],
        { concurrency: "unbounded" }
      )
      rewarded += ready.length
      due = [...due.filter(({ at }) => at > now), ...given.flat()]
      yield* live.submit((now) => ({ _tag: "Tick", now }))
      const { learning } = yield* live.state
      const parent = learning.evolution?.stage._tag === "Proposing" ? learning.evolution.parents[0] : undefined
      if (parent === undefined) return
      const candidates = [{ text: `instruction ${learning.born}`, rationale: "" }]
      yield* live.submit((now) => ({ _tag: "Propose", now, parent, candidates, reflected: [] }))
    })
  }
})

/** How often work under an instruction is good: it differs from one to the next. */
const quality = (instruction: string): number => 0.4 + 0.05 * (Number(instruction.slice(1)) % 7)

/** Serves all of it. Time is that of the test clock. */
export const serve = Effect.fnUntraced(function* (
  week: Week
): Effect.fn.Return<Outcome, JournalError | Refused, Scope.Scope> {
  const names = Array.from({ length: week.populations }, (_, index) => `p${index}`)
  const all = yield* Effect.forEach(names, (name) => populate(week, name))
  const beats = Math.round((week.days * 24 * hour) / beat)
  let leases = 0
  for (let at = 1; at <= beats; at++) {
    // The load of a day is a wave between nothing and twice the mean.
    const time = (at * beat) / (24 * hour)
    const until = Math.round((week.leases / week.days) * (time - Math.sin(2 * Math.PI * time) / (2 * Math.PI)))
    const own = until - leases
    yield* Effect.forEach(all, ({ ask }, place) => ask(Math.floor((own + place) / all.length)), { discard: true })
    leases = until
    yield* TestClock.adjust(beat)
    if (at % ((24 * hour) / beat) === 0) yield* week.onDay((at * beat) / (24 * hour), leases)
  }
  return { served: all, leases, rewards: all.reduce((sum, { told }) => sum + told(), 0) }
})
