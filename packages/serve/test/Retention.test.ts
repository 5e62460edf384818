/** @module-tag deep */
import { assert, describe, it } from "@effect/vitest"
import { type Answer, fold, PopulationEvent, Settings, type State } from "@inspo/cohorts"
import { Journal } from "@inspo/journal"
import { layer, layerMemory } from "@inspo/journal/sqlite"
import * as LivePopulation from "../src/live/LivePopulation.ts"
import { Clock, Context, Effect, Exit, HashMap, Layer, Schema, Scope } from "effect"
import { TestClock } from "effect/testing"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { changed } from "../../cohorts/test/support/Changed.ts"

const settings = changed(Settings.online(5), {
  sealAfterLeases: 3,
  sealAfterSeconds: null,
  horizonSeconds: 3600,
  pruneEvery: 1,
  evolveEvery: 0
})

const leasesOf = (answer: Answer): ReadonlyArray<string> =>
  answer._tag === "Leases" ? answer.leases.map(({ lease }) => lease) : []

/** Leases for some keys, and what is told with them. */
const lease = (live: LivePopulation.LivePopulation, keys: ReadonlyArray<string>) =>
  Effect.map(
    live.submit(
      (now) => ({
        _tag: "Lease",
        now,
        cohort: null,
        phase: "train",
        isFullBatch: false,
        requests: keys.map((key) => ({ key, n: 1, stratum: "all", sticky: null, question: null, instructions: 1 }))
      }),
      { leases: keys.map((key) => ({ question: { text: `Question(${key})` } })) }
    ),
    leasesOf
  )

const reward = (live: LivePopulation.LivePopulation, of: string, value: number) =>
  live.submit((now) => ({ _tag: "Reward", now, rewards: [{ lease: of, sample: null, value }] }), {
    rewards: [{ feedback: `Feedback(${of})`, transcript: [{ role: "user", content: `Transcript(${of})` }] }]
  })

const plain = ({ cohorts, ...state }: State.State): unknown =>
  JSON.parse(
    JSON.stringify({
      ...state,
      cohorts: cohorts.map((cohort) => ({ ...cohort, leases: HashMap.toValues(cohort.leases) }))
    })
  )

const decode = Schema.decodeUnknownEffect(Schema.Struct({ at: Schema.Finite, event: PopulationEvent }))

const foldOf = Effect.fnUntraced(function* (journal: Journal.Interface) {
  const events = yield* Effect.forEach(yield* journal.read, ({ payload }) => decode(payload))
  return plain(fold(events.map(({ event }) => event)))
})

/** Everything that records of a journal say. */
const records = Effect.fnUntraced(function* (journal: Journal.Interface) {
  const kinds = yield* journal.recordKinds
  return JSON.stringify(yield* Effect.forEach(kinds, (kind) => journal.listRecords(kind)))
})

const directory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "inspo-keeping-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

describe("a lease whose texts are deleted", () => {
  it.effect.prop(
    "has none in any file of the journal; events, evidence, and the texts of others stay",
    [Schema.Array(Schema.Literals([0, 1, 2, 3, 4, 5])), Schema.Boolean],
    ([deleted, closes]) =>
      Effect.gen(function* () {
        const path = yield* directory
        const bytes = () =>
          readdirSync(path)
            .map((name) => readFileSync(join(path, name), "latin1"))
            .join("")
        yield* Effect.gen(function* () {
          const journal = yield* Journal
          yield* LivePopulation.begin(journal, settings, ["the seed", "a variant"])
          const live = yield* LivePopulation.open(journal)
          const keys = Array.from({ length: 6 }, (_, at) => `k${at}`)
          const leases = yield* lease(live, keys)
          for (const [at, one] of leases.entries()) if (at < 5 || closes) yield* reward(live, one, at % 2)
          const before = { events: yield* journal.read, state: plain(yield* live.state), fold: yield* foldOf(journal) }
          const gone = new Set<number>(deleted)
          yield* live.forget(Array.from(gone, (at) => leases[at] ?? ""))
          const [left, all] = [yield* records(journal), bytes()]
          for (const [at, one] of leases.entries())
            for (const text of [
              `Question(k${at})`,
              ...(at < 5 || closes ? [`Feedback(${one})`, `Transcript(${one})`] : [])
            ]) {
              assert.strictEqual(left.includes(text), !gone.has(at), text)
              if (gone.has(at)) assert.notInclude(all, text)
            }
          assert.deepEqual(yield* journal.read, before.events)
          assert.deepEqual(plain(yield* live.state), before.state)
          assert.deepEqual(yield* foldOf(journal), before.fold)
          for (const one of leases.slice(0, 5))
            assert.deepEqual(yield* reward(live, one, 0), { _tag: "Rewards", outcomes: ["duplicate"] })
          for (const at of gone) assert.notInclude(yield* records(journal), `Feedback(${leases[at]})`)
        }).pipe(
          Effect.scoped,
          Effect.provide(layer({ file: join(path, "journal.sqlite"), mode: "create" }), { local: true })
        )
        for (const at of deleted) assert.notInclude(bytes(), `Question(k${at})`)
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 15 } }
  )
})

const hour = 3_600_000
const day = 24 * hour

const Lately = Schema.Literals([0, 1, 2, 3, 4, 5])
const Op = Schema.Union([
  Schema.TaggedStruct("Lease", { units: Schema.Literals([1, 2, 3, 4]) }),
  Schema.TaggedStruct("Lease", { units: Schema.Literals([1, 2, 3, 4]) }),
  Schema.TaggedStruct("Reward", { at: Lately, value: Schema.Literals([0, 1]) }),
  Schema.TaggedStruct("Reward", { at: Lately, value: Schema.Literals([0, 1]) }),
  Schema.TaggedStruct("Wait", { hours: Schema.Literals([0.2, 2, 20]) }),
  Schema.TaggedStruct("Restart", {})
])

/** A population in a journal of its own, which can be taken up again. */
const served = Effect.fnUntraced(function* (retentionDays: number | null) {
  const journal = Context.get(yield* Layer.build(Layer.fresh(layerMemory)), Journal)
  yield* LivePopulation.begin(journal, { ...settings, retentionDays }, ["the seed", "a variant"])
  let scope = yield* Scope.make()
  let live = yield* Scope.provide(LivePopulation.open(journal), scope)
  return {
    journal,
    live: () => live,
    restart: Effect.gen(function* () {
      yield* Scope.close(scope, Exit.void)
      scope = yield* Scope.make()
      live = yield* Scope.provide(LivePopulation.open(journal), scope)
    })
  }
})

const learned = (state: State.State): unknown => plain({ ...state, settings })

describe("retention", () => {
  it.effect.prop(
    "drops texts and leases of closed cohorts by their age, and changes nothing that is decided or folded",
    [Schema.Array(Op).check(Schema.isMinLength(20), Schema.isMaxLength(40))],
    ([ops]) =>
      Effect.gen(function* () {
        const [short, long] = [yield* served(1), yield* served(null)]
        const given: Array<{ readonly lease: string; readonly key: string; readonly at: number }> = []
        const told = new Map<string, number>()
        for (const [place, op] of ops.entries()) {
          const now = yield* Clock.currentTimeMillis
          if (op._tag === "Wait") yield* TestClock.adjust(op.hours * hour)
          if (op._tag === "Restart") yield* Effect.all([short.restart, long.restart])
          if (op._tag === "Lease") {
            const keys = Array.from({ length: op.units }, (_, at) => `${place}.${at}`)
            const leases = yield* lease(short.live(), keys)
            assert.deepEqual(yield* lease(long.live(), keys), leases)
            given.push(...leases.map((one, at) => ({ lease: one, key: `${place}.${at}`, at: now })))
          }
          const of = op._tag === "Reward" ? given.at(-1 - op.at) : undefined
          if (op._tag === "Reward" && of !== undefined && of.at > now - day) {
            if (!told.has(of.lease)) told.set(of.lease, now)
            assert.deepEqual(
              yield* reward(short.live(), of.lease, op.value),
              yield* reward(long.live(), of.lease, op.value)
            )
          }
          yield* Effect.all([short.live().submit((now) => ({ _tag: "Tick", now })), short.live().retain])
          yield* long.live().submit((now) => ({ _tag: "Tick", now }))
          assert.deepEqual(learned(yield* short.live().state), learned(yield* long.live().state))
        }
        yield* Effect.all([short.restart, long.restart])
        assert.deepEqual(learned(yield* short.live().state), learned(yield* long.live().state))
        const { cohorts } = yield* short.live().state
        const open = new Set(cohorts.flatMap(({ leases }) => HashMap.toValues(leases).map((one) => one.lease)))
        const eldest = Math.min(...cohorts.map(({ openedAt }) => openedAt))
        const now = yield* Clock.currentTimeMillis
        const left = yield* records(short.journal)
        const isOld = (at: number) => at < now - day - 60_000
        for (const { at, key, lease } of given) {
          if (at >= now - day) assert.include(left, `Question(${key})`)
          if (isOld(at)) assert.notInclude(left, `Question(${key})`)
          if (isOld(told.get(lease) ?? now)) assert.notInclude(left, `Transcript(${lease})`)
          if (!isOld(at) || open.has(lease) || at >= eldest - 60_000) continue
          assert.deepEqual(yield* reward(short.live(), lease, 1), { _tag: "Rewards", outcomes: ["unknown"] })
        }
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 8 } }
  )

  it.effect("keeps the leases of an open cohort, however old they are", () =>
    Effect.gen(function* () {
      const one = yield* served(1)
      const [own = ""] = yield* lease(one.live(), ["k"])
      yield* TestClock.adjust(3 * day)
      yield* one.live().retain
      yield* one.restart
      assert.deepEqual(yield* reward(one.live(), own, 1), { _tag: "Rewards", outcomes: ["accepted"] })
    }).pipe(Effect.scoped)
  )

  it.effect("stores the instruction of a sticky key as long as its own setting, for any retention", () =>
    Effect.gen(function* () {
      for (const [sticky, retention] of [
        [3 * day, day],
        [day, 3 * day]
      ] as const) {
        const own = changed(settings, {
          horizonSeconds: hour / 1000,
          pruneEvery: 0,
          retentionDays: retention / day,
          stickyDays: sticky / day
        })
        const journal = Context.get(yield* Layer.build(Layer.fresh(layerMemory)), Journal)
        yield* LivePopulation.begin(journal, own, ["the seed", "a variant"])
        const live = yield* LivePopulation.open(journal)
        const talks = Array.from({ length: 12 }, (_, at) => `talk ${at}`)
        const turn = (name: string) =>
          Effect.forEach(talks, (talk) =>
            Effect.map(
              live.submit((now) => ({
                _tag: "Lease",
                now,
                cohort: null,
                phase: "train",
                isFullBatch: false,
                requests: [
                  { key: `${name} ${talk}`, n: 1, stratum: "all", sticky: talk, question: null, instructions: 1 }
                ]
              })),
              (answer) => (answer._tag === "Leases" ? answer.leases.map(({ instruction }) => instruction) : [])
            )
          )
        const first = yield* turn("first")
        // Turns meanwhile do not make it last longer.
        yield* TestClock.adjust(sticky - 2 * hour)
        yield* live.submit((now) => ({ _tag: "Tick", now }))
        assert.deepEqual(yield* turn("within"), first)
        const { cohorts } = yield* live.state
        for (const { name } of cohorts) yield* live.submit((now) => ({ _tag: "Seal", now, cohort: name }))
        yield* TestClock.adjust(3 * hour)
        yield* live.submit((now) => ({ _tag: "Tick", now }))
        yield* live.retain
        assert.notDeepEqual(yield* turn("after"), first)
      }
    }).pipe(Effect.scoped)
  )

  it.effect("removes the texts of a lease in the background while a reader of the journal still has them", () =>
    Effect.gen(function* () {
      const folder = mkdtempSync(join(tmpdir(), "inspo-forget-"))
      yield* Effect.addFinalizer(() => Effect.sync(() => rmSync(folder, { recursive: true })))
      const file = join(folder, "journal.sqlite")
      const bytes = () =>
        readdirSync(folder)
          .map((name) => readFileSync(join(folder, name), "latin1"))
          .join("")
      const journal = Context.get(yield* Layer.build(layer({ file, mode: "create" })), Journal)
      yield* LivePopulation.begin(journal, settings, ["Be kind."])
      const live = yield* LivePopulation.open(journal)
      const [own = ""] = yield* lease(live, ["alice"])
      yield* reward(live, own, 1)
      const reader = new DatabaseSync(file, { readOnly: true })
      reader.exec("BEGIN; SELECT count(*) FROM records")
      assert.isFalse(yield* live.forget([own]))
      yield* TestClock.adjust("5 seconds")
      assert.isFalse(yield* live.forget([own]))
      reader.exec("COMMIT")
      reader.close()
      yield* TestClock.adjust("1 second")
      assert.notInclude(bytes(), "Transcript(")
      assert.isTrue(yield* live.forget([own]))
    }).pipe(Effect.scoped)
  )
})
