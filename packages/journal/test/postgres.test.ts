/** @module-tag deep */
import * as PgClient from "@effect/sql-pg/PgClient"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Fiber, Layer, Redacted, Result, Schedule, Schema, Scope } from "effect"
import { Reactivity } from "effect/reactivity"
import { TestClock } from "effect/testing"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { afterAll, beforeAll } from "vitest"
import { Journal, type JournalError } from "../src/index.ts"
import { layer, type Options, remove } from "../src/postgres.ts"
import { JournalLaws } from "../src/testing.ts"
import { type PostgresServer, start, unavailable } from "./support/PostgresServer.ts"
import { raceForOne } from "./support/Race.ts"

let server: PostgresServer
let runs = 0
const newRun = () => `run-${runs++}`

const at = (options: Pick<Options, "run" | "mode"> & Partial<Options>) =>
  layer({ url: server.url, lease: "30 seconds", ...options })

const use = <A, E>(options: Parameters<typeof at>[0], f: (journal: Journal["Service"]) => Effect.Effect<A, E>) =>
  Journal.use(f).pipe(Effect.provide(at(options), { local: true }))

const refused = (options: Parameters<typeof at>[0]) => Effect.flip(use(options, () => Effect.void))

/** A journal that stays open until its scope is closed. */
const held = Effect.fnUntraced(function* (options: Parameters<typeof at>[0]) {
  const scope = yield* Scope.make()
  const context = yield* Layer.buildWithScope(Layer.fresh(at(options)), scope)
  return { journal: Context.get(context, Journal), close: Scope.close(scope, Exit.void) }
})

/** The database has a clock of its own, which no test clock moves. */
const wait = (ms: number) => Effect.promise(() => new Promise((resolve) => setTimeout(resolve, ms)))

const Move = Schema.Literals(["writers ahead", "database ahead", "database back", "another comes", "all write"])
const takeover = ["all write", "database ahead", "another comes"]

/** The database itself, beside its journals. */
const database = Effect.suspend(() => {
  const host = new URL(server.url).searchParams.get("host") ?? ""
  return PgClient.makeClient({ host, database: "postgres", username: "inspo" })
}).pipe(Effect.provide(Reactivity.layer))

/** Moves the end of a lease, as a jump of the database's clock does. */
const expire = Effect.fnUntraced(function* (run: string, at: "infinity" | "-infinity") {
  const sql = yield* database
  yield* sql`UPDATE ${sql(`inspo_${run}.identity`)} SET expires = ${at}::timestamptz`
}, Effect.scoped)

/** Whether a client of the database has changed something in a transaction, and says no more. */
const isWithinTransaction = Effect.gen(function* () {
  const sql = yield* database
  yield* wait(100)
  const idle = yield* sql`
    SELECT pid FROM pg_stat_activity WHERE state = 'idle in transaction' AND query ~* '^(insert|update)'
      AND state_change < clock_timestamp() - interval '50 milliseconds'`
  return idle.length > 0
}).pipe(Effect.scoped)

const event = (step: number) => ({ type: "Event", step, payload: { step } })

describe.skipIf(unavailable !== null)(`PostgreSQL${unavailable === null ? "" : `: ${unavailable}`}`, () => {
  beforeAll(async () => {
    server = await start()
  }, 60_000)
  afterAll(() => server.stop())

  const fresh = Layer.unwrap(Effect.sync(() => at({ run: newRun(), mode: "create" })))
  for (const { check, name } of JournalLaws.laws(fresh, { runs: 5 })) it.effect(name, () => check)

  describe("one writer", () => {
    it.effect("is all there is, while other machines read", () =>
      Effect.gen(function* () {
        const run = newRun()
        yield* use({ run, mode: "create" }, (journal) =>
          Effect.gen(function* () {
            yield* journal.append([event(0)])
            assert.strictEqual((yield* refused({ run, mode: "open" })).reason, "locked")
            assert.strictEqual((yield* refused({ run, mode: "create" })).reason, "exists")
            yield* use({ run, mode: "read-only" }, (reader) =>
              Effect.gen(function* () {
                assert.lengthOf(yield* reader.read, 1)
                const error = yield* Effect.flip(reader.append([event(1)]))
                assert.include(error.message, "reading only")
                yield* journal.append([event(1)])
                assert.lengthOf(yield* reader.readFrom(1), 1)
              })
            )
          })
        )
        assert.lengthOf(yield* use({ run, mode: "open" }, (journal) => journal.read), 2)
      })
    )

    it.live("is read at any moment as it then is", () =>
      Effect.gen(function* () {
        const run = newRun()
        const { close, journal } = yield* held({ run, mode: "create" })
        let step = 0
        const writing = yield* Effect.forkChild(Effect.forever(Effect.suspend(() => journal.append([event(step++)]))))
        const read = yield* use({ run, mode: "read-only" }, ({ read }) => Effect.replicateEffect(read, 200))
        yield* Fiber.interrupt(writing)
        yield* close
        const counts = read.map((events) => events.length)
        assert.deepStrictEqual(
          counts,
          counts.toSorted((a, b) => a - b)
        )
        assert.isAbove(new Set(counts).size, 10)
      })
    )

    it.live("is one of many that come at once, always", () =>
      Effect.gen(function* () {
        const run = newRun()
        yield* raceForOne(() => at({ run, mode: "create" }))
        for (let round = 0; round < 5; round++) yield* raceForOne(() => at({ run, mode: "open" }))
      })
    )

    it.effect("that went silent is fenced off once another took over, and only then", () =>
      Effect.gen(function* () {
        const run = newRun()
        // Under a test clock nothing renews the lease in between.
        const silent = yield* held({ run, mode: "create", lease: 300 })
        yield* silent.journal.append([event(0)])
        assert.strictEqual((yield* refused({ run, mode: "open" })).reason, "locked")
        yield* wait(400)
        // Nobody took over, so it goes on, and its commit renews the lease.
        yield* silent.journal.append([event(1)])
        assert.strictEqual((yield* refused({ run, mode: "open" })).reason, "locked")
        yield* wait(400)
        const standby = yield* held({ run, mode: "open" })
        yield* standby.journal.append([event(2)])
        for (const write of [
          silent.journal.append([event(9)]),
          silent.journal.putRecords("sample", 0, [{ key: "k", value: 1 }]),
          silent.journal.charge({
            phase: "p",
            rollouts: 0,
            tokens: 0,
            calls: 0,
            usd: 0,
            seconds: 0,
            redone: false
          })
        ])
          assert.strictEqual((yield* Effect.flip(write)).reason, "fenced")
        yield* silent.close
        // The end of the fenced one changes nothing for the one that took over.
        assert.strictEqual((yield* refused({ run, mode: "open" })).reason, "locked")
        yield* standby.journal.append([event(3)])
        assert.deepStrictEqual(
          (yield* standby.journal.read).map(({ step }) => step),
          [0, 1, 2, 3]
        )
        yield* standby.close
      })
    )

    it.effect.prop(
      "is the one that came last, whatever the clocks of writers and database do",
      [Schema.Array(Move)],
      ([moves]) =>
        Effect.gen(function* () {
          const run = newRun()
          const writers = [yield* held({ run, mode: "create" })]
          const acknowledged: Array<number> = []
          for (const [step, move] of [...takeover, ...moves, "all write"].entries()) {
            if (move === "writers ahead") yield* TestClock.adjust("5 minutes")
            if (move === "database ahead") yield* expire(run, "-infinity")
            if (move === "database back") yield* expire(run, "infinity")
            if (move === "another comes") {
              const opening = Effect.result(held({ run, mode: "open" }))
              // The holder may renew its lease just after it was made to expire: then once more.
              const opened =
                step < takeover.length
                  ? yield* Effect.repeat(Effect.andThen(expire(run, "-infinity"), opening), {
                      until: Result.isSuccess,
                      times: 4
                    })
                  : yield* opening
              if (Result.isSuccess(opened)) writers.push(opened.success)
              else assert.strictEqual(opened.failure.reason, "locked")
            }
            if (move === "all write") {
              for (const { journal } of writers.slice(0, -1))
                assert.strictEqual((yield* Effect.flip(journal.append([event(step)]))).reason, "fenced")
              yield* writers.at(-1)?.journal.append([event(step)]) ?? Effect.void
              acknowledged.push(step)
            }
          }
          const events = yield* use({ run, mode: "read-only" }, ({ read }) => read)
          assert.deepStrictEqual(
            events.map(({ step }) => step),
            acknowledged
          )
          assert.isAbove(writers.length, 1)
          yield* Effect.forEach(writers, ({ close }) => close)
        }),
      { arbitrary: { runs: 5 } }
    )

    it.effect("finds records by their keys, however few there were when it first asked", () =>
      Effect.gen(function* () {
        const run = newRun()
        const { close, journal } = yield* held({ run, mode: "create" })
        const rowsRead = Effect.gen(function* () {
          const sql = yield* database
          yield* wait(1200) // The database tells its counts once a second.
          const [row] = yield* sql`SELECT (seq_tup_read + idx_tup_fetch)::int AS read FROM pg_stat_user_tables
            WHERE schemaname = ${`inspo_${run}`} AND relname = 'records'`
          return Number(row?.["read"])
        }).pipe(Effect.scoped)
        const put = (from: number, count: number) =>
          journal.putRecords(
            "x",
            0,
            Array.from({ length: count }, (_, index) => ({ key: `${from + index}`, value: null }))
          )
        yield* put(0, 5)
        for (let time = 0; time < 10; time++) yield* journal.getRecords("x", ["absent"])
        for (let from = 5; from < 10_000; from += 500) yield* put(from, 500)
        const before = yield* rowsRead
        for (let time = 0; time < 10; time++) yield* journal.getRecords("x", [`${time}`, "absent"])
        assert.isBelow((yield* rowsRead) - before, 1000)
        yield* close
      })
    )

    it.effect("that was fenced off is told so within a third of its lease", () =>
      Effect.gen(function* () {
        const run = newRun()
        const lost: Array<string> = []
        const onLost = ({ reason }: JournalError) => Effect.sync(() => void lost.push(reason))
        const silent = yield* held({ run, mode: "create", lease: "30 seconds", onLost })
        yield* TestClock.adjust("11 seconds")
        yield* wait(100)
        assert.deepStrictEqual(lost, [])
        yield* expire(run, "-infinity")
        const standby = yield* held({ run, mode: "open" })
        yield* TestClock.adjust("10 seconds")
        yield* wait(100)
        assert.deepStrictEqual(lost, ["fenced"])
        yield* standby.close
        yield* silent.close
      })
    )

    it.effect("is waited for before a run is deleted", () =>
      Effect.gen(function* () {
        const run = newRun()
        const options = { url: server.url, lease: "30 seconds", run } as const
        yield* remove(options)
        const writer = yield* held({ run, mode: "create" })
        yield* writer.journal.append([event(0)])
        assert.strictEqual((yield* Effect.flip(remove(options))).reason, "locked")
        yield* writer.close
        yield* remove(options)
        assert.strictEqual((yield* refused({ run, mode: "open" })).reason, "missing")
        yield* use({ run, mode: "create" }, (journal) =>
          Effect.map(journal.read, (events) => assert.lengthOf(events, 0))
        )
      })
    )

    /** A process that appends to a run until it is killed. */
    const writer = (run: string, lease: number, stderr: "inherit" | "ignore" = "inherit") =>
      spawn(
        process.execPath,
        [join(import.meta.dirname, "fixtures", "append-until-killed.ts"), server.url, run, String(lease)],
        { stdio: ["ignore", "pipe", stderr] }
      )

    it("that is killed leaves all it acknowledged, and its lease at once", { timeout: 30_000 }, async () => {
      const run = newRun()
      const child = writer(run, 3_600_000)
      let acknowledged = -1
      for await (const line of createInterface(child.stdout)) {
        acknowledged = Number(line)
        if (acknowledged === 5) child.kill("SIGKILL")
      }
      if (child.signalCode === null) await once(child, "exit")
      const events = await Effect.runPromise(
        Effect.retry(
          use({ run, mode: "open" }, (journal) => journal.read),
          { times: 50 }
        )
      )
      assert.isAtLeast(events.length, 2 * (acknowledged + 1))
      assert.strictEqual(events.length % 2, 0)
    })

    it(
      "that is frozen within a commit keeps nobody waiting beyond its lease",
      {
        timeout: 60_000
      },
      async () => {
        const run = newRun()
        const child = writer(run, 500, "ignore")
        const lines = createInterface(child.stdout)
        let acknowledged = -1
        await new Promise<void>((resolve) =>
          lines.on("line", (line) => {
            acknowledged = Number(line)
            if (acknowledged === 5) resolve()
          })
        )
        child.kill("SIGSTOP")
        while (!(await Effect.runPromise(isWithinTransaction))) {
          child.kill("SIGCONT")
          await once(lines, "line")
          child.kill("SIGSTOP")
        }
        const taken = await Effect.runPromise(
          Effect.retry(held({ run, mode: "open" }), { schedule: Schedule.spaced("50 millis") }).pipe(
            Effect.timeout("20 seconds"),
            Effect.tapError(() => Effect.sync(() => child.kill("SIGKILL")))
          )
        )
        const before = await Effect.runPromise(taken.journal.read)
        assert.isAtLeast(before.length, 2 * (acknowledged + 1))
        child.kill("SIGCONT")
        const [code] = await once(child, "exit")
        assert.notStrictEqual(code, 0)
        await Effect.runPromise(taken.journal.append([event(-1)]))
        const after = await Effect.runPromise(taken.journal.read)
        assert.deepStrictEqual(after.slice(0, -1), before)
        await Effect.runPromise(taken.close)
      }
    )
  })

  describe("opening", () => {
    it.effect.each([
      ["no run of that name", { run: "nowhere", mode: "open" }, "missing"],
      ["a name that is none", { run: 'x"; DROP', mode: "create" }, "invalid"],
      ["an address that is none", { run: "a", mode: "create", url: "db" }, "invalid"],
      ["a password in the address", { run: "a", mode: "create", url: "postgres://u:hush@db/runs" }, "invalid"],
      [
        "a password unencrypted to another machine",
        { run: "a", mode: "create", url: "postgres://u@db.invalid/runs", password: Redacted.make("hush") },
        "invalid"
      ],
      ["a server that is not there", { run: "a", mode: "create", url: "postgres://u@127.0.0.1:1/runs" }, "storage"]
    ] as const)("refuses %s", ([, options, reason]) =>
      Effect.gen(function* () {
        const error = yield* refused(options)
        assert.strictEqual(error.reason, reason)
        assert.notInclude(error.message, "hush")
      })
    )
  })
})
