import { assert, describe, it } from "@effect/vitest"
import { Law } from "@inspo/domain/testing"
import { Journal } from "@inspo/journal"
import * as File from "@inspo/journal/file"
import { layer, layerMemory } from "@inspo/journal/sqlite"
import { JournalLaws } from "@inspo/journal/testing"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** A journal in a file of its own. */
const inFile = (make: typeof layer) =>
  Layer.unwrap(
    Effect.map(
      Effect.acquireRelease(
        Effect.sync(() => mkdtempSync(join(tmpdir(), "inspo-journal-"))),
        (path) => Effect.sync(() => rmSync(path, { recursive: true }))
      ),
      (path) => make({ file: join(path, "journal"), mode: "create" })
    )
  )

describe.each([
  ["memory, by SQLite", layerMemory, 100],
  ["a file of SQLite", inFile(layer), 10],
  ["memory, as text", File.layerMemory, 100],
  ["a file of text", inFile(File.layer), 10]
] as const)("a journal in %s", (_, fresh, runs) => {
  for (const { check, name } of JournalLaws.laws(fresh, { runs })) it.effect(name, () => check)
})

type Bug = (journal: Journal.Interface) => Journal.Interface

/** For each law a journal that breaks it, by the smallest slip that could. */
const bugs: Readonly<Record<string, Bug>> = {
  "events are read as they were appended, however they were batched": (journal) => ({
    ...journal,
    append: (events) => journal.append(events.slice(-1))
  }),
  "events can be followed from any of them on": (journal) => ({
    ...journal,
    readFrom: (sequence, limit) => journal.readFrom(Math.max(1, sequence), limit)
  }),
  "events keep U+0000, lone surrogates and the key __proto__": (journal) => ({
    ...journal,
    append: (events) =>
      journal.append(
        events.map((event) => ({
          ...event,
          payload: JSON.parse(JSON.stringify(event.payload).replaceAll(String.raw`\u0000`, ""))
        }))
      )
  }),
  "a batch with a payload that JSON cannot hold is refused, all of it": (journal) => ({
    ...journal,
    append: (events) => Effect.forEach(events, (event) => journal.append([event]), { discard: true })
  }),
  "a type that a database cannot hold, or a step that is not a safe integer, is refused": (journal) => ({
    ...journal,
    append: (events) => journal.append(events.map((event) => ({ ...event, type: event.type || "none" })))
  }),
  "batches of events that are appended at once stay together": (journal) => ({
    ...journal,
    append: (events) =>
      Effect.forEach(events, (event) => Effect.andThen(Effect.yieldNow, journal.append([event])), { discard: true })
  }),
  "records keep the first answer to a key and are listed by step and key": (journal) => ({
    ...journal,
    putRecords: (kind, step, rows) => journal.putRecords(kind, step, rows.toReversed())
  }),
  "records are forgotten by step and by the beginning of their key, and no others": (journal) => ({
    ...journal,
    deleteRecords: (kinds, which) =>
      journal.deleteRecords(kinds, "before" in which ? { before: which.before + 1 } : which)
  }),
  "records are stored and found by the thousand": (journal) => ({
    ...journal,
    getRecords: (kind, keys) => journal.getRecords(kind, keys.slice(0, 1000))
  }),
  "records are stored all or none": (journal) => ({
    ...journal,
    putRecords: (kind, step, rows) =>
      Effect.forEach(rows, (row) => journal.putRecords(kind, step, [row]), { discard: true })
  }),
  "a commit is events and records, all of it or nothing": (journal) => ({
    ...journal,
    commit: (events, records) => Effect.andThen(journal.commit([], records), journal.append(events))
  }),
  "the ledger sums every amount by phase, and the redone part apart": (journal) => ({
    ...journal,
    charge: (entry) => journal.charge({ ...entry, redone: false })
  }),
  "the ledger counts what is reserved until it is settled, what is settled once, and a key that comes again as redone":
    (journal) => ({ ...journal, settle: (settlements) => journal.settle(settlements.slice(1)) }),
  "a reservation is settled once, and all of a batch or none": (journal) => ({
    ...journal,
    settle: (settlements) => Effect.forEach(settlements, (one) => journal.settle([one]), { discard: true })
  }),
  "the ledger takes thousands of reservations and settlements at once": (journal) => ({
    ...journal,
    reserve: (entries) => journal.reserve(entries.slice(0, 1000))
  }),
  "an amount that cannot be spent is refused": (journal) => ({
    ...journal,
    charge: (entry) => journal.charge({ ...entry, tokens: Math.floor(entry.tokens) })
  })
}

describe("the laws of a journal find a planted bug", () => {
  it.effect.each(JournalLaws.laws(layerMemory).map(({ name }) => name))("%s", (name) =>
    Effect.gen(function* () {
      const bug = bugs[name] ?? assert.fail("no bug is planted")
      const fresh = Layer.effect(Journal, Effect.map(Journal, bug)).pipe(Layer.provide(layerMemory))
      const [found] = yield* Law.broken(JournalLaws.laws(fresh).filter((law) => law.name === name))
      assert.strictEqual(found?.law, name)
    })
  )
})
