import { assert, it } from "@effect/vitest"
import { Settings } from "@inspo/cohorts"
import { Instruction } from "@inspo/domain"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import * as LivePopulation from "../src/live/LivePopulation.ts"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { changed } from "../../cohorts/test/support/Changed.ts"
import * as Work from "../src/live/internal/Work.ts"

const settings = changed(Settings.online(1), {
  evolveEvery: 0,
  pruneEvery: 0,
  horizonSeconds: null,
  sealAfterSeconds: null
})

/** So many rewards of one value, told at the present time. */
const told = Effect.fnUntraced(function* (live: LivePopulation.LivePopulation, times: number, value: number) {
  const now = yield* live.state
  const keys = Array.from({ length: times }, (_, at) => `${now.learning.population.step}-${value}-${at}`)
  const answer = yield* live.submit((now) => ({
    _tag: "Lease",
    now,
    cohort: null,
    phase: "train",
    isFullBatch: false,
    requests: keys.map((key) => ({ key, n: 1, stratum: "all", sticky: null, question: null, instructions: 1 }))
  }))
  const leases = answer._tag === "Leases" ? answer.leases : []
  yield* live.submit(
    (now) => ({ _tag: "Reward", now, rewards: leases.map(({ lease }) => ({ lease, sample: null, value })) }),
    { rewards: leases.map(() => ({ feedback: `worth ${value}` })) }
  )
})

const feedback = ({ records }: Work.Work) => [...new Set(records.map((record) => record.feedback))]

it.effect("the newest work is shown if there is enough of it, and older work otherwise", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(Date.UTC(2026, 0, 1))
    const journal = yield* Journal
    yield* LivePopulation.begin(journal, settings, ["Be kind."])
    const live = yield* LivePopulation.open(journal)
    const work = Effect.flatMap(live.state, (state) => Work.of(journal, state, Instruction.InstructionId.make("i0")))
    assert.deepStrictEqual(yield* work, { records: [], questions: [], commonAnswers: [] })
    yield* told(live, 10, 0)
    yield* TestClock.adjust("5 hours")
    yield* told(live, 150, 0.25)
    assert.deepStrictEqual(feedback(yield* work), ["worth 0", "worth 0.25"])
    yield* TestClock.adjust("3 minutes")
    yield* told(live, 60, 0.5)
    // The minutes before are looked at as a whole, since the last one holds too little.
    assert.deepStrictEqual(feedback(yield* work), ["worth 0.25", "worth 0.5"])
    yield* TestClock.adjust("10 minutes")
    yield* told(live, 200, 0.75)
    assert.deepStrictEqual(feedback(yield* work), ["worth 0.75"])
  }).pipe(Effect.scoped, Effect.provide(layerMemory, { local: true }))
)

it.effect("labels that the newest work has often are common answers, wherever they were reported", () =>
  Effect.gen(function* () {
    yield* TestClock.setTime(Date.UTC(2026, 0, 1))
    const journal = yield* Journal
    yield* LivePopulation.begin(journal, settings, ["Be kind."])
    const live = yield* LivePopulation.open(journal)
    const answers = [
      ...Array.from({ length: 90 }, (_, at) => ["refund", "shipping", "other"][at % 3] ?? ""),
      "Iolanthe"
    ]
    const answer = yield* live.submit(
      (now) => ({
        _tag: "Lease",
        now,
        cohort: null,
        phase: "train",
        isFullBatch: false,
        requests: answers.map((_, at) => ({
          key: `k${at}`,
          n: 1,
          stratum: "all",
          sticky: null,
          question: null,
          instructions: 1
        }))
      }),
      { leases: answers.map((one, at) => (at % 2 === 0 ? { question: { goldenAnswers: [one] } } : {})) }
    )
    const leases = answer._tag === "Leases" ? answer.leases : []
    yield* live.submit(
      (now) => ({ _tag: "Reward", now, rewards: leases.map(({ lease }) => ({ lease, sample: null, value: 0 })) }),
      { rewards: answers.map((one, at) => ({ feedback: "wrong", ...(at % 2 === 0 ? {} : { goldenAnswers: [one] }) })) }
    )
    const { commonAnswers } = yield* Work.of(journal, yield* live.state, Instruction.InstructionId.make("i0"))
    assert.deepStrictEqual([...commonAnswers].sort(), ["other", "refund", "shipping"])
    const strict = yield* Work.of(journal, yield* live.state, Instruction.InstructionId.make("i0"), 0.5)
    assert.deepStrictEqual(strict.commonAnswers, [])
  }).pipe(Effect.scoped, Effect.provide(layerMemory, { local: true }))
)
