import { link, mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { type JournalError, type NewEvent } from "@inspo/journal"
import * as File from "@inspo/journal/file"
import * as FileLines from "../src/internal/fileLines.ts"
import { Effect, Exit, Result, Schema } from "effect"

let directory = ""
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "inspo-journal-file-"))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const at = (name: string) => join(directory, name)
const open = (name: string, mode: File.Options["mode"]) => File.open({ file: at(name), mode })
const events = (count: number): ReadonlyArray<NewEvent> =>
  Array.from({ length: count }, (_, step) => ({ type: "Counted", step, payload: { step } }))
const bytesOf = (name: string) => Effect.promise(() => readFile(at(name)))

/** A file with as many writes of one event. */
const written = Effect.fnUntraced(function* (name: string, count: number) {
  const journal = yield* open(name, "continue")
  for (const event of events(count)) yield* journal.append([event])
}, Effect.scoped)

const problemOf = <A>(effect: Effect.Effect<A, JournalError>) =>
  Effect.map(Effect.result(effect), (found) => (Result.isFailure(found) ? found.failure.message : "no failure"))

describe("a journal in a file of text", () => {
  it.effect.prop(
    "shows the first line that was changed, and what is before it",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1e6 })), Schema.Literals([1, 2, 4, 8, 16, 32, 64, 128])],
    ([place, bit]) =>
      Effect.gen(function* () {
        yield* Effect.promise(() => rm(at("flipped"), { force: true }))
        yield* written("flipped", 5)
        const bytes = yield* bytesOf("flipped")
        const head = bytes.indexOf("\n") + 1
        // The end of the last line may be missing.
        const index = head + (place % (bytes.length - head - 1))
        bytes[index] = (bytes[index] ?? 0) ^ bit
        yield* Effect.promise(() => writeFile(at("flipped"), bytes))
        const journal = yield* open("flipped", "open")
        const { damage, events: intact } = yield* journal.readIntact
        const line = bytes.subarray(0, index).filter((byte) => byte === 10).length
        assert.deepStrictEqual(
          intact.map(({ step }) => step),
          Array.from({ length: line - 1 }, (_, step) => step)
        )
        assert.strictEqual(damage?.reason, "corrupt")
        assert.strictEqual(damage?.intactEvents, line - 1)
        assert.include(yield* problemOf(journal.append(events(1))), `line ${line + 1} is not what was written`)
        assert.deepStrictEqual(yield* bytesOf("flipped"), bytes)
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 8 }, timeout: 30_000 }
  )

  it.effect("holds no bit that can change unseen", () =>
    Effect.gen(function* () {
      yield* written("bits", 4)
      const bytes = yield* bytesOf("bits")
      const format = { name: "inspo-journal", version: 1, of: "a journal" }
      // Without its last end a line counts as one that is being written.
      for (let bit = 0; bit < 8 * (bytes.length - 1); bit++) {
        const copy = Uint8Array.from(bytes)
        copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
        const found = FileLines.read(format, copy)
        assert.isTrue(Result.isFailure(found) || found.success.damage !== null || found.success.torn > 0, `bit ${bit}`)
      }
    })
  )

  it.effect("drops what a crash cut off as soon as it goes on", () =>
    Effect.gen(function* () {
      yield* written("torn", 3)
      const bytes = yield* bytesOf("torn")
      yield* Effect.promise(() => writeFile(at("torn"), bytes.subarray(0, -9)))
      const journal = yield* open("torn", "open")
      assert.isAbove(journal.torn, 0)
      assert.lengthOf(yield* journal.read, 2)
      assert.strictEqual((yield* bytesOf("torn")).length, bytes.length - 9)
      yield* journal.append(events(3).slice(2))
      assert.deepStrictEqual(yield* bytesOf("torn"), bytes)
    }).pipe(Effect.scoped)
  )

  it.effect("stays as it is where it is something else", () =>
    Effect.gen(function* () {
      yield* Effect.promise(() => mkdir(at("folder")))
      assert.include(
        yield* problemOf(Effect.scoped(open("folder", "continue"))),
        "it is a directory; expected a regular file"
      )
      yield* Effect.promise(() => writeFile(at("poem"), "my only copy"))
      for (const mode of ["create", "open", "continue", "read-only"] as const)
        assert.include(
          yield* problemOf(Effect.scoped(Effect.flatMap(open("poem", mode), ({ read }) => read))),
          "is not the file of a journal; name another one"
        )
      assert.strictEqual(String(yield* bytesOf("poem")), "my only copy")
    })
  )
})

describe("the lock of a file", () => {
  const exitOf = (name: string) => Effect.exit(Effect.scoped(open(name, "continue")))

  it.live("is had by exactly one of those that start at the same time", () =>
    Effect.gen(function* () {
      for (let round = 0; round < 2; round++) {
        const exits = yield* Effect.forEach(
          Array.from({ length: 6 }),
          () => Effect.exit(Effect.scoped(Effect.andThen(open("race", "continue"), Effect.sleep("1200 millis")))),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
      }
    })
  )

  it.effect("holds under each name of the file", () =>
    Effect.gen(function* () {
      const journal = yield* open("one", "continue")
      yield* journal.append(events(1))
      yield* Effect.promise(async () => {
        await mkdir(at("elsewhere"))
        await symlink("../one", at("elsewhere/symbolic"))
        await link(at("one"), at("hard"))
      })
      for (const name of ["one", "elsewhere/symbolic", "hard"]) assert.isTrue(Exit.isFailure(yield* exitOf(name)), name)
      yield* Effect.promise(() => rename(at("one"), at("renamed")))
      assert.isTrue(Exit.isFailure(yield* exitOf("renamed")))
      yield* journal.append(events(1))
    }).pipe(Effect.scoped)
  )

  it.effect("is not taken for one by what is none", () =>
    Effect.gen(function* () {
      yield* Effect.promise(async () => {
        await writeFile(at("b.lock-1-00000000-%zz"), "")
        await mkdir(at("b.lock-999999-00000000-x"))
      })
      assert.isTrue(Exit.isSuccess(yield* exitOf("b")))
    })
  )

  it.effect("ends a writer whose file another one has written to, or removed", () =>
    Effect.gen(function* () {
      const journal = yield* open("shared", "continue")
      yield* journal.append(events(1))
      yield* Effect.promise(() => writeFile(at("shared"), "more", { flag: "a" }))
      assert.include(yield* problemOf(journal.append(events(1))), "another process wrote to it")
      assert.include(yield* problemOf(journal.append(events(1))), "another process wrote to it")
      const other = yield* open("removed", "continue")
      yield* Effect.promise(() => rm(at("removed")))
      assert.include(yield* problemOf(other.append(events(1))), "the file was removed")
    }).pipe(Effect.scoped)
  )
})
