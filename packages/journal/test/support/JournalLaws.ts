import { assert, describe, it } from "@effect/vitest"
import { Effect, type Layer, Option, Scheduler, Schema } from "effect"
import { Journal, type Expense, type JournalError, type LedgerEntry } from "../../src/index.ts"

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

/** Laws of every store of a journal; each case gets a new journal of `layer`. */
export const journalLaws = (layer: Layer.Layer<Journal, JournalError>, runs: number): void => {
  const fresh = Effect.provide(layer, { local: true })

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
        }).pipe(fresh),
      { arbitrary: { runs } }
    )

    it.effect.prop(
      "can be followed from any of them on",
      [Schema.Array(Event), Schema.Array(Event)],
      ([before, after]) =>
        Effect.gen(function* () {
          const journal = yield* Journal
          yield* journal.append(before)
          assert.deepStrictEqual(yield* journal.readFrom(before.length), [])
          assert.deepStrictEqual(yield* journal.readFrom(before.length + 1), [])
          yield* journal.append(after)
          const all = yield* journal.read
          for (const sequence of [0, 1, before.length, all.length]) {
            assert.deepEqual(yield* journal.readFrom(sequence), all.slice(sequence))
            for (const limit of [1, 2, all.length])
              assert.deepEqual(yield* journal.readFrom(sequence, limit), all.slice(sequence, sequence + limit))
          }
          assert.deepStrictEqual(yield* journal.readIntact, { events: all, damage: null })
        }).pipe(fresh),
      { arbitrary: { runs } }
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
    it.effect.prop(
      "keep the first answer to a key and are listed by step and key",
      [Schema.Array(Put)],
      ([puts]) =>
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
        }).pipe(fresh),
      { arbitrary: { runs } }
    )

    it.effect.prop(
      "are forgotten by step and by the beginning of their key, and no others; those from a step on, and before another, are listed",
      [Schema.Array(Put), Schema.Literals([0, 1, 2, 3]), Schema.Array(Schema.Literals(["step/", "é", "𝒳", "none"]))],
      ([puts, before, prefixes]) =>
        Effect.gen(function* () {
          const journal = yield* Journal
          for (const { kind, rows, step } of puts) yield* journal.putRecords(kind, step, rows)
          const [x, y] = [yield* journal.listRecords("x"), yield* journal.listRecords("y")]
          assert.deepEqual(
            yield* journal.listRecords("x", { from: before }),
            x.filter(({ step }) => step >= before)
          )
          assert.deepEqual(
            yield* journal.listRecords("x", { from: 1, before }),
            x.filter(({ step }) => step >= 1 && step < before)
          )
          yield* journal.deleteRecords(["x", "none"], { before })
          const left = x.filter(({ step }) => step >= before)
          assert.deepEqual(yield* journal.listRecords("x"), left)
          yield* journal.deleteRecords(["x"], { prefixes })
          assert.deepEqual(
            yield* journal.listRecords("x"),
            left.filter(({ key }) => !prefixes.some((prefix) => key.startsWith(prefix)))
          )
          assert.deepEqual(yield* journal.listRecords("y"), y)
          yield* journal.putRecords("x", 0, [{ key: "step/2", value: "again" }])
        }).pipe(fresh),
      { arbitrary: { runs } }
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

  describe("a commit", () => {
    it.effect.prop(
      "is events and records, all of it or nothing",
      [Schema.Array(Event), Schema.Array(Put), Schema.Boolean],
      ([events, puts, isWhole]) =>
        Effect.gen(function* () {
          const journal = yield* Journal
          const bad = isWhole ? [] : [{ type: "Odd", step: 0, payload: undefined }]
          const committed = yield* Effect.result(journal.commit([...events, ...bad], puts))
          const twin = yield* Effect.gen(function* () {
            const apart = yield* Journal
            if (isWhole) {
              for (const { kind, rows, step } of puts) yield* apart.putRecords(kind, step, rows)
              yield* apart.append(events)
            }
            return yield* contents(apart)
          }).pipe(fresh)
          assert.strictEqual(committed._tag, isWhole ? "Success" : "Failure")
          assert.deepEqual(yield* contents(journal), twin)
        }).pipe(fresh),
      { arbitrary: { runs } }
    )

    const contents = (journal: Journal.Interface) =>
      Effect.all([journal.read, journal.listRecords("x"), journal.listRecords("y")])
  })

  const Spent = {
    rollouts: Schema.Literals([0, 1, 300]),
    tokens: Schema.Literals([0, 7, 1e9]),
    calls: Schema.Literals([0, 2]),
    usd: Schema.Literals([0, 0.25, 3]),
    seconds: Schema.Literals([0, 0.5, 60])
  }
  const Phase = Schema.Literals(["rollout", "verify"])
  const Charge = Schema.Struct({ ...Spent, phase: Phase, redone: Schema.Boolean })
  const Reserved = Schema.Struct({ ...Spent, phase: Phase, key: Schema.Literals(["a", "b", "c"]) })
  const one: Expense = { rollouts: 1, tokens: 1, calls: 1, usd: 0, seconds: 0 }

  const sum = (entries: ReadonlyArray<Expense>): Expense => {
    const add = (amount: keyof Expense) => entries.reduce((total, entry) => total + entry[amount], 0)
    return {
      rollouts: add("rollouts"),
      tokens: add("tokens"),
      calls: add("calls"),
      usd: add("usd"),
      seconds: add("seconds")
    }
  }

  describe("the ledger", () => {
    it.effect.prop(
      "sums every amount by phase, and the redone part apart",
      [Schema.Array(Charge)],
      ([charges]) =>
        Effect.gen(function* () {
          const journal = yield* Journal
          for (const entry of charges) yield* journal.charge(entry)
          assert.deepStrictEqual(
            yield* journal.ledger,
            ["rollout", "verify"].flatMap((phase) => {
              const entries = charges.filter((entry) => entry.phase === phase)
              const redone = entries.filter(({ redone }) => redone)
              return entries.length === 0 ? [] : [{ phase, ...sum(entries), redone: sum(redone), open: sum([]) }]
            })
          )
        }).pipe(fresh),
      { arbitrary: { runs } }
    )

    it.effect.prop(
      "counts what is reserved until it is settled, what is settled once, and a key that comes again as redone",
      [Schema.Array(Schema.Array(Reserved)), Schema.Array(Schema.Struct(Spent)), Charge],
      ([batches, spent, charge]) =>
        Effect.gen(function* () {
          const journal = yield* Journal
          const ids = (yield* Effect.forEach(batches, journal.reserve)).flat()
          yield* journal.charge(charge)
          const settlements = spent
            .slice(0, ids.length)
            .map((amounts, index) => ({ id: ids[index] ?? NaN, ...amounts }))
          yield* journal.settle(settlements)

          const seen = new Set<string>()
          const booked = batches.flat().map((reservation, index) => {
            const name = `${reservation.phase}/${reservation.key}`
            const redone = seen.has(name)
            seen.add(name)
            const open = index >= settlements.length
            return { phase: reservation.phase, redone, open, amounts: settlements[index] ?? reservation }
          })
          const all = [...booked, { phase: charge.phase, redone: charge.redone, open: false, amounts: charge }]
          assert.deepStrictEqual(
            yield* journal.ledger,
            ["rollout", "verify"].flatMap((phase) => {
              const own = all.filter((entry) => entry.phase === phase)
              const sumOf = (entries: typeof own) => sum(entries.map(({ amounts }) => amounts))
              return own.length === 0
                ? []
                : [
                    {
                      phase,
                      ...sumOf(own),
                      redone: sumOf(own.filter(({ redone }) => redone)),
                      open: sumOf(own.filter(({ open }) => open))
                    }
                  ]
            })
          )
          assert.strictEqual(new Set(ids).size, batches.flat().length)
        }).pipe(fresh),
      { arbitrary: { runs } }
    )

    it.effect("settles a reservation once, and all of a batch or none", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const reservation = { ...one, phase: "rollout" }
        const [first = NaN, second = NaN] = yield* journal.reserve([
          { ...reservation, key: "a" },
          { ...reservation, key: "b" }
        ])
        yield* journal.settle([{ ...one, id: first }])
        for (const ids of [[first], [second, second], [second, 99]]) {
          const error = yield* Effect.flip(journal.settle(ids.map((id) => ({ ...one, id }))))
          assert.strictEqual(error.reason, "invalid")
          assert.include(error.message, "is not open")
        }
        assert.deepStrictEqual(
          (yield* journal.ledger).map(({ open }) => open.rollouts),
          [1]
        )
      }).pipe(fresh)
    )

    it.effect("takes thousands of reservations and settlements at once", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const ids = yield* journal.reserve(
          Array.from({ length: 2560 }, (_, index) => ({ ...one, phase: "rollout", key: `${index}` }))
        )
        yield* journal.settle(ids.map((id) => ({ ...one, tokens: 2, id })))
        const [total] = yield* journal.ledger
        assert.deepStrictEqual(total, {
          phase: "rollout",
          ...sum(ids.map(() => ({ ...one, tokens: 2 }))),
          redone: sum([]),
          open: sum([])
        })
      }).pipe(fresh)
    )

    it.effect.each([
      { rollouts: -1 },
      { tokens: 0.5 },
      { usd: Number.NaN },
      { seconds: -1 },
      { phase: "" },
      { phase: "\0" }
    ])("refuses an amount that cannot be spent", (wrong) =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const entry: LedgerEntry = { ...one, phase: "rollout", redone: false }
        for (const refused of [
          journal.charge({ ...entry, ...wrong }),
          journal.reserve([{ ...one, phase: "rollout", key: "k", ...wrong }])
        ]) {
          const error = yield* Effect.flip(refused)
          assert.strictEqual(error.reason, "invalid")
          for (const field of Object.keys(wrong)) assert.include(error.message, field)
        }
      }).pipe(fresh)
    )
  })
}
