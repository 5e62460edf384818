import { assert, describe, it } from "@effect/vitest"
import { Settings } from "@inspo/cohorts"
import { Journal, JournalError } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import * as LivePopulation from "../src/live/LivePopulation.ts"
import * as Details from "../src/store/Details.ts"
import { Effect, Fiber, Schema, Stream } from "effect"

const settings: Settings.Settings = {
  ...Settings.online(1),
  sealAfterLeases: null,
  sealAfterSeconds: null,
  horizonSeconds: null
}

const lease =
  (...keys: ReadonlyArray<string>): LivePopulation.At =>
  (now) => ({
    _tag: "Lease",
    now,
    cohort: "a",
    phase: "train",
    isFullBatch: false,
    requests: keys.map((key) => ({ key, n: 1, stratum: "all", sticky: null, question: null, instructions: 1 }))
  })

const rewards =
  (items: ReadonlyArray<readonly [key: string, value: number]>): LivePopulation.At =>
  (now) => ({
    _tag: "Reward",
    now,
    rewards: items.map(([key, value]) => ({ lease: `0/a/${key}`, sample: null, value }))
  })

/** What is kept of each kind, by key. */
const kept = Effect.fnUntraced(function* (kind: string) {
  const journal = yield* Journal
  return new Map((yield* journal.listRecords(kind)).map(({ key, value }) => [key, value]))
})

const json = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

const Key = Schema.Literals(["k1", "k2", "k3", "unknown"])
const Item = Schema.Struct({ key: Key, value: Schema.Literals([0, 1]), told: Details.RewardDetails })

describe("details", () => {
  it.effect.prop(
    "of rewards are stored with the first of each sample, and with no other",
    [Schema.Array(Schema.Array(Item).check(Schema.isMaxLength(4))).check(Schema.isMaxLength(5)), Schema.Boolean],
    ([batches, closes]) =>
      Effect.gen(function* () {
        const journal = yield* Journal
        yield* LivePopulation.begin(journal, settings, ["the seed"])
        const live = yield* LivePopulation.open(journal)
        yield* live.submit(lease("k1", "k2", "k3"))
        const first = new Map<string, (typeof Item)["Type"]>()
        for (const [at, batch] of batches.entries()) {
          // What comes late is kept, too.
          if (closes && at === 1) yield* live.submit((now) => ({ _tag: "Close", now, cohort: "a", groups: null }))
          yield* live.submit(rewards(batch.map(({ key, value }) => [key, value])), {
            rewards: batch.map(({ told }) => told)
          })
          for (const item of batch) if (item.key !== "unknown" && !first.has(item.key)) first.set(item.key, item)
        }
        const expected = Array.from(first.values()).filter(({ told }) => Object.keys(told).length > 0)
        assert.deepEqual(
          yield* kept("of-reward"),
          new Map(expected.map(({ key, told }) => [`0/a/${key}#0`, json({ lease: `0/a/${key}`, sample: 0, ...told })]))
        )
        const texts = expected.filter(({ told }) => told.feedback !== undefined || told.transcript !== undefined)
        assert.deepEqual(
          yield* kept("scored"),
          new Map(texts.map(({ key, value }) => [`0/a/${key}#0`, { lease: `0/a/${key}`, instruction: "i0", value }]))
        )
      }).pipe(Effect.scoped, Effect.provide(layerMemory, { local: true })),
    { arbitrary: { runs: 50 } }
  )

  it.effect("beside leases is kept with those that are new", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      yield* LivePopulation.begin(journal, settings, ["the seed"])
      const live = yield* LivePopulation.open(journal)
      const question = { text: "Where is it?", goldenAnswers: ["there"] }
      yield* live.submit(lease("k1", "k2"), { leases: [{}, { question, policyVersion: "step 3" }] })
      yield* live.submit(lease("k2"), { leases: [{ question: { text: "another" } }] })
      assert.deepEqual(
        yield* kept("of-lease"),
        new Map([["0/a/k2#lease", { lease: "0/a/k2", question, policyVersion: "step 3" }]])
      )
    }).pipe(Effect.scoped, Effect.provide(layerMemory, { local: true }))
  )

  it.effect("is durable with its command or not at all", () =>
    Effect.gen(function* () {
      const stored = yield* Journal
      let fails = false
      const journal: Journal.Interface = {
        ...stored,
        // The records come to the disk, and then it is full: all of it is taken back.
        commit: (events, records) =>
          fails
            ? Effect.fail(new JournalError({ reason: "storage", file: "", sequence: null, detail: "full" }))
            : stored.commit(events, records),
        putRecords: () => Effect.die("told by itself")
      }
      yield* LivePopulation.begin(journal, settings, ["the seed"])
      const live = yield* LivePopulation.open(journal)
      yield* live.submit(lease("k1"))
      fails = true
      yield* Effect.flip(live.submit(rewards([["k1", 1]]), { rewards: [{ feedback: "good" }] }))
      assert.strictEqual((yield* kept("of-reward")).size, 0)
      fails = false
      yield* live.submit(rewards([["k1", 1]]), { rewards: [{ feedback: "fine" }] })
      assert.strictEqual((yield* kept("of-reward")).size, 1)
    }).pipe(Effect.scoped, Effect.provide(layerMemory, { local: true }))
  )
})

describe("changes", () => {
  it.effect("emit the durable state, and then each change", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      yield* LivePopulation.begin(journal, settings, ["the seed"])
      const live = yield* LivePopulation.open(journal)
      const seen = yield* Effect.forkChild(
        live.changes.pipe(
          Stream.takeUntil(({ isFrozen }) => isFrozen),
          Stream.runCollect
        ),
        { startImmediately: true }
      )
      yield* live.submit((now) => ({ _tag: "Tick", now }))
      yield* live.submit((now) => ({ _tag: "Freeze", now, isFrozen: true }))
      const states = yield* Fiber.join(seen)
      assert.deepEqual(
        states.map(({ isFrozen }) => isFrozen),
        [false, true]
      )
    }).pipe(Effect.scoped, Effect.provide(layerMemory, { local: true }))
  )
})
