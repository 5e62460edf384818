import { assert, describe, it } from "@effect/vitest"
import { Effect, Predicate, Schema } from "effect"
import { spawn } from "node:child_process"
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { DatabaseSync } from "node:sqlite"
import { zstdCompressSync } from "node:zlib"
import { journalVersion } from "../src/index.ts"
import { layer } from "../src/sqlite.ts"
import { directory, newFile, read, refused, use, write } from "./fixtures/files.ts"
import { raceForOne } from "./support/Race.ts"

const alter = (file: string, change: (database: DatabaseSync) => void) =>
  Effect.sync(() => {
    using database = new DatabaseSync(file)
    change(database)
  })

const Event = Schema.Struct({ type: Schema.Literals(["a", "b"]), step: Schema.Natural, payload: Schema.Json })

describe("a journal file", () => {
  it.effect.prop(
    "reads the same after reopening, and goes on where it stopped",
    [Schema.Array(Event), Schema.Array(Event)],
    ([before, after]) =>
      Effect.gen(function* () {
        const file = yield* newFile
        yield* write(file, before)
        yield* use(file, "open", (journal) => journal.append(after))
        assert.deepEqual(
          yield* read(file),
          [...before, ...after].map((event, sequence) => JSON.parse(JSON.stringify({ sequence, ...event })))
        )
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 15 }, timeout: 30_000 }
  )

  it.effect("says what it is", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      assert.deepStrictEqual(yield* use(file, "create", ({ meta }) => Effect.succeed(meta)), { file, journalVersion })
    })
  )

  it.effect("is read without a trace beside it, and with what a writer that died had committed", () =>
    Effect.gen(function* () {
      const folder = yield* directory
      const file = join(folder, "journal.sqlite")
      yield* write(file, events)
      const names = readdirSync(folder)
      assert.lengthOf(yield* read(file), events.length)
      assert.deepStrictEqual(readdirSync(folder), names)
      const copy = join(folder, "killed.sqlite")
      yield* use(file, "open", (journal) =>
        Effect.gen(function* () {
          yield* journal.append(events)
          for (const part of ["", "-wal"]) copyFileSync(`${file}${part}`, `${copy}${part}`)
        })
      )
      const { mtimeMs } = statSync(`${copy}-wal`)
      assert.lengthOf(yield* read(copy), 2 * events.length)
      assert.strictEqual(statSync(`${copy}-wal`).mtimeMs, mtimeMs)
    }).pipe(Effect.scoped)
  )

  it.effect("commits durably and in a way that lets others read", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      yield* write(file, [])
      yield* alter(file, (database) =>
        assert.deepEqual({ ...database.prepare("PRAGMA journal_mode").get() }, { journal_mode: "wal" })
      )
    })
  )
})

const events = [0, 1, 2, 3, 4].map((step) => ({ type: "Event", step, payload: { text: `payload ${step}`, step } }))

describe("corruption", () => {
  const Column = Schema.Literals(["type", "payload", "hash"])

  it.effect.prop(
    "of any character of an event is found and named by its sequence",
    [Schema.Literals([0, 1, 2, 3, 4]), Column, Schema.Natural, Schema.Natural],
    ([sequence, column, place, replacement]) =>
      Effect.gen(function* () {
        const file = yield* newFile
        yield* write(file, events)
        yield* alter(file, (database) => {
          const row = database.prepare(`SELECT ${column} AS text FROM events WHERE sequence = ?`).get(sequence)
          const text = String(row?.["text"])
          const at = place % text.length
          const other = String.fromCharCode((text.charCodeAt(at) + 1 + (replacement % 90)) % 128)
          const changed = text.slice(0, at) + other + text.slice(at + 1)
          database.prepare(`UPDATE events SET ${column} = ? WHERE sequence = ?`).run(changed, sequence)
        })
        const error = yield* Effect.flip(read(file))
        assert.strictEqual(error.reason, "corrupt")
        assert.deepInclude(error, { sequence, intactEvents: sequence })
        assert.include(error.message, `${file}, event ${sequence}`)
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 25 }, timeout: 30_000 }
  )

  it.effect.prop(
    "of any bit of a payload on disk is found and named by its sequence",
    [Schema.Literals([0, 1, 2, 3, 4]), Schema.Natural, Schema.Literals([0, 1, 2, 3, 4, 5, 6, 7])],
    ([sequence, place, bit]) =>
      Effect.gen(function* () {
        const file = yield* newFile
        yield* write(file, events)
        yield* Effect.sync(() => {
          const bytes = readFileSync(file)
          const payload = JSON.stringify(events[sequence]?.payload)
          const at = bytes.indexOf(payload) + (place % payload.length)
          bytes[at] = (bytes[at] ?? 0) ^ (1 << bit)
          writeFileSync(file, bytes)
        })
        const error = yield* Effect.flip(read(file))
        assert.strictEqual(error.reason, "corrupt")
        assert.strictEqual(error.sequence, sequence)
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 25 }, timeout: 30_000 }
  )

  it.effect.each([
    ["a changed step", "UPDATE events SET step = 9 WHERE sequence = 2", 2],
    ["a missing event", "DELETE FROM events WHERE sequence = 2", 2],
    ["missing last events", "DELETE FROM events WHERE sequence >= 3", 3],
    ["all events missing", "DELETE FROM events", 0],
    ["a foreign event", "INSERT INTO events VALUES (5, 'Event', 5, 'null', 'x', NULL)", 5],
    [
      "two events that changed places",
      `UPDATE events SET sequence = 100 WHERE sequence = 1;
       UPDATE events SET sequence = 1 WHERE sequence = 4;
       UPDATE events SET sequence = 4 WHERE sequence = 100`,
      1
    ],
    ["a changed head", "UPDATE head SET hash = 'x'", 5],
    ["a lost head", "DELETE FROM head", null]
  ] as const)("of the table is found: %s", ([, change, sequence]) =>
    Effect.gen(function* () {
      const file = yield* newFile
      yield* write(file, events)
      yield* alter(file, (database) => database.exec(change))
      const error = yield* Effect.flip(read(file))
      assert.strictEqual(error.reason, "corrupt")
      assert.strictEqual(error.sequence, sequence)
    })
  )

  it.effect("by a record that would fill the memory is found before it is unpacked", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      const key = "key"
      yield* use(file, "create", (journal) => journal.putRecords("kind", 0, [{ key, value: 1 }]))
      const bomb = zstdCompressSync(Buffer.alloc(2 ** 29, " "))
      yield* alter(file, (database) => database.prepare("UPDATE records SET value = ?").run(bomb))
      const before = process.memoryUsage().arrayBuffers
      const error = yield* Effect.flip(use(file, "read-only", (journal) => journal.getRecords("kind", [key])))
      assert.strictEqual(error.reason, "corrupt")
      assert.isBelow(process.memoryUsage().arrayBuffers - before, 2 ** 29)
    }).pipe(Effect.scoped)
  )

  it.effect("by an event of another run is found", () =>
    Effect.gen(function* () {
      const [file, other] = yield* Effect.all([newFile, newFile])
      yield* write(file, events)
      yield* write(
        other,
        events.map((event) => ({ ...event, payload: "other" }))
      )
      yield* alter(file, (database) =>
        database.exec(`
          ATTACH '${other}' AS other;
          DELETE FROM events WHERE sequence = 3;
          INSERT INTO events SELECT * FROM other.events WHERE sequence = 3`)
      )
      const error = yield* Effect.flip(read(file))
      assert.strictEqual(error.sequence, 3)
    })
  )

  it.effect.each(["value = CAST('2' AS BLOB)", "value = x'28b52ffd00'", "step = 1", "key = 'other'", "hash = ''"])(
    "of a record is found: %s",
    (change) =>
      Effect.gen(function* () {
        const file = yield* newFile
        yield* use(file, "create", (journal) => journal.putRecords("sample", 0, [{ key: "k", value: 1 }]))
        yield* alter(file, (database) => database.exec(`UPDATE records SET ${change}`))
        const error = yield* Effect.flip(use(file, "read-only", (journal) => journal.listRecords("sample")))
        assert.strictEqual(error.reason, "corrupt")
        assert.include(error.message, "the record sample")
      })
  )
})

describe("a write that fails half-way", () => {
  const failing = (operation: string) => (database: DatabaseSync) =>
    database.exec(`CREATE TRIGGER fail BEFORE ${operation} BEGIN SELECT RAISE(ABORT, 'disk full'); END`)
  const repair = (database: DatabaseSync) => database.exec("DROP TRIGGER fail")

  it.effect("leaves no event behind", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      yield* write(file, events)
      yield* alter(file, failing("UPDATE ON head"))
      const error = yield* Effect.flip(
        use(file, "open", (journal) => journal.append([{ type: "Event", step: 5, payload: null }]))
      )
      assert.strictEqual(error.reason, "storage")
      assert.include(error.message, "disk full")
      yield* alter(file, repair)
      assert.lengthOf(yield* read(file), events.length)
    })
  )

  it.effect("leaves no record behind", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      yield* write(file, [])
      yield* alter(file, failing("INSERT ON records WHEN NEW.key = '700'"))
      const rows = Array.from({ length: 800 }, (_, key) => ({ key: `${key}`, value: key }))
      const error = yield* Effect.flip(use(file, "open", (journal) => journal.putRecords("sample", 0, rows)))
      assert.strictEqual(error.reason, "storage")
      yield* alter(file, repair)
      assert.deepStrictEqual(yield* use(file, "read-only", (journal) => journal.listRecords("sample")), [])
    })
  )
})

describe("a record that is forgotten", () => {
  it.effect("is in no file of the journal any more", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      yield* write(file, [])
      const rows = Array.from({ length: 300 }, (_, key) => ({ key: `${key}/`, value: `secret ${key} of a user` }))
      const bytes = () =>
        [file, `${file}-wal`].map((one) => (existsSync(one) ? readFileSync(one, "latin1") : "")).join("")
      yield* use(
        file,
        "open",
        Effect.fnUntraced(function* (journal) {
          yield* journal.putRecords("sample", 0, rows)
          yield* journal.deleteRecords(["sample"], { prefixes: ["7/", "2"] })
          assert.notMatch(bytes(), /secret (?:7|2\d*) of/u)
          assert.include(bytes(), "secret 8 of")
          yield* journal.deleteRecords(["sample"], { before: 1 })
          assert.notInclude(bytes(), "secret")
        })
      )
      assert.notInclude(bytes(), "secret")
    })
  )
})

describe("a journal", () => {
  it.effect("is for the eyes of its owner alone, with the files beside it", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      yield* write(file, [])
      yield* use(
        file,
        "open",
        Effect.fnUntraced(function* (journal) {
          yield* journal.putRecords("sample", 0, [{ key: "1", value: "what a user said" }])
          for (const one of [file, `${file}-wal`, `${file}-shm`]) assert.strictEqual(statSync(one).mode & 0o077, 0, one)
        })
      )
    })
  )
})

describe("a record that is forgotten while another process reads", () => {
  it.effect("is gone as soon as the reader ends, and the writer is not held up meanwhile", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      yield* write(file, [])
      const bytes = () =>
        [file, `${file}-wal`].map((one) => (existsSync(one) ? readFileSync(one, "latin1") : "")).join("")
      yield* use(
        file,
        "open",
        Effect.fnUntraced(function* (journal) {
          yield* journal.putRecords("sample", 0, [{ key: "1/", value: "secret of a user" }])
          const reader = new DatabaseSync(file, { readOnly: true })
          reader.exec("BEGIN; SELECT count(*) FROM records")
          const begun = performance.now()
          assert.isFalse(yield* journal.deleteRecords(["sample"], { prefixes: ["1/"] }))
          yield* journal.putRecords("sample", 0, [{ key: "2/", value: "another" }])
          assert.isFalse(yield* journal.eraseDeleted)
          assert.isBelow(performance.now() - begun, 1000)
          reader.exec("COMMIT")
          reader.close()
          assert.isTrue(yield* journal.eraseDeleted)
          assert.notInclude(bytes(), "secret")
          assert.include(bytes(), "another")
        })
      )
    })
  )
})

describe("opening", () => {
  it.effect.each(["open", "read-only"] as const)("a file that is not there is refused: %s", (mode) =>
    Effect.gen(function* () {
      const file = yield* newFile
      const error = yield* refused(file, mode)
      assert.strictEqual(error.reason, "missing")
      assert.include(error.message, file)
    })
  )

  it.effect("never replaces a journal", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      yield* write(file, [{ type: "Kept", step: 0, payload: 1 }])
      assert.strictEqual((yield* refused(file, "create")).reason, "exists")
      assert.lengthOf(yield* read(file), 1)
    })
  )

  it.effect("creates a journal where a run died before it could", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      writeFileSync(file, "")
      assert.strictEqual((yield* refused(file, "open")).reason, "missing")
      yield* write(file, [])
      assert.deepStrictEqual(yield* read(file), [])
    })
  )

  it.effect.each(["open", "read-only"] as const)("what is not a journal is refused: %s", (mode) =>
    Effect.gen(function* () {
      const file = yield* newFile
      writeFileSync(file, "not a database, but long enough to be looked at ".repeat(50))
      const { cause, reason } = yield* refused(file, mode)
      assert.strictEqual(reason, "not-a-journal")
      assert.isTrue(Predicate.isTagged(cause, "SqlError"))
      const other = `${file}.other`
      yield* alter(other, (database) => database.exec("CREATE TABLE t (x)"))
      assert.strictEqual((yield* refused(other, mode)).reason, "not-a-journal")
    })
  )

  it.effect.each([journalVersion - 1, journalVersion + 1])("a journal of version %s is refused", (version) =>
    Effect.gen(function* () {
      const file = yield* newFile
      yield* write(file, [])
      yield* alter(file, (database) => database.exec(`PRAGMA user_version = ${version}`))
      for (const mode of ["open", "read-only"] as const) {
        const error = yield* refused(file, mode)
        assert.strictEqual(error.reason, "other-version")
        assert.include(
          error.message,
          `the version of its tables is ${version}, expected ${journalVersion}. Start again with this version of inspo, or use ` +
            "the version that wrote the journal"
        )
      }
    })
  )

  it.effect("in a directory that is not there is refused", () =>
    Effect.gen(function* () {
      const error = yield* refused(join(yield* directory, "none", "journal.sqlite"), "create")
      assert.strictEqual(error.reason, "storage")
      assert.include(error.message, "check that its directory exists")
    })
  )

  it.effect("a truncated file is refused, not a defect", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      yield* write(file, [{ type: "Long", step: 0, payload: "x".repeat(20_000) }])
      const bytes = readFileSync(file)
      for (const length of [50, 100, 4096, 9000, bytes.length - 4096]) {
        writeFileSync(file, bytes.subarray(0, length))
        const error = yield* Effect.flip(read(file))
        assert.include(["corrupt", "not-a-journal"], error.reason)
      }
    })
  )
})

describe("one writer", () => {
  it.effect("is all there is, while readers come and go", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      yield* use(file, "create", (journal) =>
        Effect.gen(function* () {
          yield* journal.append([{ type: "First", step: 0, payload: null }])
          for (const mode of ["open", "create"] as const) {
            assert.strictEqual((yield* refused(file, mode)).reason, "locked")
          }
          assert.lengthOf(yield* read(file), 1)
          const error = yield* Effect.flip(
            use(file, "read-only", (reader) => reader.append([{ type: "No", step: 0, payload: null }]))
          )
          assert.strictEqual(error.reason, "storage")
          assert.include(error.message, "reading only")
          yield* journal.append([{ type: "Second", step: 0, payload: null }])
        })
      )
      assert.lengthOf(yield* use(file, "open", (journal) => journal.read), 2)
    })
  )

  it.live("is one of many that come at once, always", () =>
    Effect.gen(function* () {
      const file = yield* newFile
      yield* write(file, [])
      for (let round = 0; round < 20; round++) {
        yield* raceForOne(() => layer({ file, mode: "open" }))
        yield* raceForOne(() => layer({ file: `${file}.${round}`, mode: "create" }))
      }
    })
  )

  it.each([0, 20])(
    "leaves all it acknowledged when it is killed after %d more commits",
    { timeout: 30_000 },
    async (more) => {
      const path = mkdtempSync(join(tmpdir(), "inspo-journal-"))
      const file = join(path, "journal.sqlite")
      const script = join(import.meta.dirname, "fixtures", "append-until-killed.ts")
      const child = spawn(process.execPath, [script, file], { stdio: ["ignore", "pipe", "inherit"] })
      let acknowledged = -1
      try {
        for await (const line of createInterface(child.stdout)) {
          acknowledged = Number(line)
          if (acknowledged === 0) {
            assert.strictEqual((await Effect.runPromise(refused(file, "open"))).reason, "locked")
            await Effect.runPromise(read(file))
          }
          if (acknowledged === more) child.kill("SIGKILL")
        }
      } finally {
        child.kill("SIGKILL")
      }
      assert.isAtLeast(acknowledged, more)
      // The dead writer's lock is free at once.
      const [events, records] = await Effect.runPromise(
        use(file, "open", (journal) => Effect.all([journal.read, journal.listRecords("sample")]))
      )
      assert.isAtLeast(events.length, 2 * (acknowledged + 1))
      assert.strictEqual(events.length % 2, 0)
      assert.isAtLeast(records.length, acknowledged + 1)
      assert.deepStrictEqual(
        events.map(({ step, type }) => ({ step, type })),
        events.map((_, i) => ({ step: Math.floor(i / 2), type: i % 2 === 0 ? "First" : "Second" }))
      )
      rmSync(path, { recursive: true })
    }
  )
})
