import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { spawn } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { afterAll, beforeAll } from "vitest"
import { Journal } from "../src/index.ts"
import { layer, type Options } from "../src/postgres.ts"
import { journalLaws } from "./support/JournalLaws.ts"
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

const event = (step: number) => ({ type: "Event", step, payload: { step } })
/** The database has a clock of its own, which no test clock moves. */
const wait = (ms: number) => Effect.promise(() => new Promise((resolve) => setTimeout(resolve, ms)))

describe.skipIf(unavailable !== null)(`PostgreSQL${unavailable === null ? "" : `: ${unavailable}`}`, () => {
  beforeAll(async () => {
    server = await start()
  }, 60_000)
  afterAll(() => server.stop())

  journalLaws(Layer.unwrap(Effect.sync(() => at({ run: newRun(), mode: "create" }))), 5)

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

    it("that is killed leaves all it acknowledged, and its lease at once", { timeout: 30_000 }, async () => {
      const run = newRun()
      const script = join(import.meta.dirname, "fixtures", "append-until-killed.ts")
      const child = spawn(process.execPath, [script, server.url, run], { stdio: ["ignore", "pipe", "inherit"] })
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
  })

  describe("opening", () => {
    it.effect.each([
      ["no run of that name", { run: "nowhere", mode: "open" }, "missing"],
      ["a name that is none", { run: 'x"; DROP', mode: "create" }, "invalid"],
      ["an address that is none", { run: "a", mode: "create", url: "db" }, "invalid"],
      ["a password in the address", { run: "a", mode: "create", url: "postgres://u:hush@db/runs" }, "invalid"],
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
