import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Scheduler, Schema } from "effect"
import { Journal, type LedgerEntry } from "../src/index.ts"
import { layerMemory } from "../src/sqlite.ts"

const Name = Schema.Literals(["a", "B", "é", "sample", "step/10", "step/2", "𝒳"])
const Event = Schema.Struct({ type: Name, step: Schema.Int, payload: Schema.Json })
const Record = Schema.Struct({ key: Name, value: Schema.Json })
const Put = Schema.Struct({
  kind: Schema.Literals(["x", "y"]),
  step: Schema.Literals([0, 1, 2]),
  rows: Schema.Array(Record)
})

/** What JSON makes of a value: `-0` becomes `0`. */
const throughJson = <A>(value: A): A => JSON.parse(JSON.stringify(value))

const fresh = Effect.provide(layerMemory, { local: true })

describe("events", () => {
  it.effect.prop(
    "are read as they were appended, however they were batched",
    [Schema.Array(Schema.Array(Event))],
    ([batches]) =>
      Effect.gen(function* () {
        const journal = yield* Journal
        for (const batch of batches) yield* journal.append(batch)
        assert.deepEqual(
          yield* journal.read,
          batches.flat().map((event, sequence) => throughJson({ sequence, ...event }))
        )
      }).pipe(fresh)
  )

  it.effect("keep U+0000, lone surrogates and the key __proto__", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const payload = JSON.parse(`{"__proto__": {"nul": "a\\u0000b"}, "lone": "\\ud800", "pair": "\\ud83d\\ude00"}`)
      yield* journal.append([{ type: "Odd", step: 0, payload }])
      const [event] = yield* journal.read
      assert.strictEqual(JSON.stringify(event?.payload), JSON.stringify(payload))
    }).pipe(fresh)
  )

  const cycle: Record<string, unknown> = {}
  cycle["self"] = cycle
  let deep: unknown = 0
  for (let depth = 0; depth < 1e5; depth++) deep = [deep]

  it.effect.each([
    undefined,
    Number.NaN,
    Infinity,
    1n,
    new Date(0),
    new Map(),
    { a: undefined },
    [() => 1],
    cycle,
    deep
  ])("refuse what JSON cannot hold, and the whole batch with it", (payload) =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const good = { type: "Good", step: 0, payload: 1 }
      const error = yield* Effect.flip(journal.append([good, { type: "Bad", step: 7, payload }]))
      assert.strictEqual(error.reason, "invalid")
      assert.include(error.message, "the payload of Bad at step 7")
      assert.deepStrictEqual(yield* journal.read, [])
    }).pipe(fresh)
  )

  it.effect.each(["", "a\0b", "\ud800"])("refuse a type that a database cannot hold", (type) =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const error = yield* Effect.flip(journal.append([{ type, step: 0, payload: null }]))
      assert.strictEqual(error.reason, "invalid")
    }).pipe(fresh)
  )

  it.effect.each([Number.NaN, 0.5, 2 ** 60])("refuse a step that is not a safe integer", (step) =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const error = yield* Effect.flip(journal.append([{ type: "a", step, payload: null }]))
      assert.strictEqual(error.reason, "invalid")
    }).pipe(fresh)
  )

  it.effect("keep their order when fibers append at once", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      yield* Effect.forEach(
        Array.from({ length: 20 }, (_, step) => step),
        (step) => journal.append([0, 1].map((payload) => ({ type: "Pair", step, payload }))),
        { concurrency: "unbounded" }
      )
      const events = yield* journal.read
      assert.deepStrictEqual(
        events.map(({ sequence }) => sequence),
        Array.from({ length: 40 }, (_, sequence) => sequence)
      )
      for (const event of events.filter(({ payload }) => payload === 0)) {
        assert.deepStrictEqual(events[event.sequence + 1], { ...event, sequence: event.sequence + 1, payload: 1 })
      }
    }).pipe(Effect.provideService(Scheduler.MaxOpsBeforeYield, 5), fresh)
  )
})

describe("records", () => {
  it.effect.prop("keep the first answer to a key and are listed by step and key", [Schema.Array(Put)], ([puts]) =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const model = new Map<string, { kind: string; key: string; step: number; value: Schema.Json }>()
      for (const { kind, rows, step } of puts) {
        yield* journal.putRecords(kind, step, rows)
        for (const { key, value } of rows) {
          const id = `${kind} ${key}`
          if (!model.has(id)) model.set(id, { kind, key, step, value: throughJson(value) })
        }
      }
      for (const kind of ["x", "y"]) {
        const expected = [...model.values()]
          .filter((record) => record.kind === kind)
          .sort((a, b) => a.step - b.step || Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)))
          .map(({ key, step, value }) => ({ key, step, value }))
        assert.deepEqual(yield* journal.listRecords(kind), expected)
        for (const step of [0, 1, 2]) {
          assert.deepEqual(
            yield* journal.listRecords(kind, step),
            expected.filter((record) => record.step === step)
          )
        }
        const keys = ["𝒳", "none", "a", "step/2"]
        assert.deepEqual(
          [...(yield* journal.getRecords(kind, keys))],
          keys.flatMap((key) => expected.filter((record) => record.key === key).map(({ value }) => [key, value]))
        )
        const found = yield* journal.getRecord(kind, "a")
        assert.deepEqual(Option.getOrUndefined(found), expected.find(({ key }) => key === "a")?.value)
      }
    }).pipe(fresh)
  )

  it.effect("are stored and found by the thousand", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const rows = Array.from({ length: 1201 }, (_, i) => ({ key: `k${i}`, value: i }))
      yield* journal.putRecords("many", 0, rows)
      const found = yield* journal.getRecords(
        "many",
        rows.map(({ key }) => key)
      )
      assert.deepStrictEqual(
        [...found],
        rows.map(({ key, value }) => [key, value])
      )
    }).pipe(fresh)
  )

  it.effect("are stored all or none", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const rows = [
        { key: "a", value: 1 },
        { key: "b", value: undefined }
      ]
      const error = yield* Effect.flip(journal.putRecords("sample", 0, rows))
      assert.strictEqual(error.reason, "invalid")
      assert.include(error.message, "sample b")
      assert.deepStrictEqual(yield* journal.listRecords("sample"), [])
    }).pipe(fresh)
  )
})

const Charge = Schema.Struct({
  phase: Schema.Literals(["rollout", "verify"]),
  rollouts: Schema.Literals([0, 1, 300]),
  tokens: Schema.Literals([0, 7, 1e9]),
  calls: Schema.Literals([0, 2]),
  usd: Schema.Literals([0, 0.25, 3]),
  redone: Schema.Boolean
})

describe("the ledger", () => {
  it.effect.prop("sums every amount by phase, and the redone part apart", [Schema.Array(Charge)], ([charges]) =>
    Effect.gen(function* () {
      const journal = yield* Journal
      for (const entry of charges) yield* journal.charge(entry)
      const sum = (entries: ReadonlyArray<LedgerEntry>) => {
        const add = (amount: "rollouts" | "tokens" | "calls" | "usd") =>
          entries.reduce((total, entry) => total + entry[amount], 0)
        return { rollouts: add("rollouts"), tokens: add("tokens"), calls: add("calls"), usd: add("usd") }
      }
      assert.deepStrictEqual(
        yield* journal.ledger,
        ["rollout", "verify"].flatMap((phase) => {
          const entries = charges.filter((entry) => entry.phase === phase)
          const redone = entries.filter(({ redone }) => redone)
          return entries.length === 0 ? [] : [{ phase, ...sum(entries), redone: sum(redone) }]
        })
      )
    }).pipe(fresh)
  )

  it.effect.each([{ rollouts: -1 }, { tokens: 0.5 }, { usd: Number.NaN }, { phase: "" }, { phase: "\0" }])(
    "refuses an amount that cannot be spent",
    (wrong) =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const entry = { phase: "rollout", rollouts: 1, tokens: 1, calls: 1, usd: 0, redone: false }
        const error = yield* Effect.flip(journal.charge({ ...entry, ...wrong }))
        assert.strictEqual(error.reason, "invalid")
        for (const field of Object.keys(wrong)) assert.include(error.message, field)
      }).pipe(fresh)
  )
})
