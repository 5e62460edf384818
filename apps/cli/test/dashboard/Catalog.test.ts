import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Presets, RunConfig } from "@inspo/config"
import { RunCatalog } from "@inspo/dashboard/RunCatalog"
import { SearchCatalog } from "@inspo/dashboard"
import { Journal } from "@inspo/journal"
import { layer as journalLayer } from "@inspo/journal/sqlite"
import { Effect, Layer, Schema } from "effect"
import * as Catalog from "../../src/dashboard/Catalog.ts"

const Session = Schema.Struct({
  hoursAgo: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 })),
  seconds: Schema.Array(Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 3000 }))).check(
    Schema.isMinLength(1)
  )
})

const noon = Date.UTC(2026, 0, 1, 12)
const configText = JSON.stringify(Schema.encodeSync(RunConfig)(Presets.quick))
const event = { type: "RunStarted", step: 0, payload: {} }

const runDirectory = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "inspo-catalog-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true }))
)

/** The one run of a directory. */
const open = (directory: string) =>
  Effect.gen(function* () {
    const catalog = yield* RunCatalog
    const [place] = yield* catalog.find
    assert.isDefined(place)
    return yield* catalog.open(place)
  }).pipe(Effect.provide(Layer.provide(Catalog.layer([directory]), NodeServices.layer), { local: true }))

const state = (directory: string) =>
  readdirSync(directory).map((name) => {
    const { mtimeMs, size } = statSync(join(directory, name))
    return [name, size, mtimeMs]
  })

describe("the catalog", () => {
  it.effect("finds runs and searches beside each other, under different names, and no other files", () =>
    Effect.gen(function* () {
      const directory = yield* runDirectory
      const write = (name: string, file: string, text: string) => {
        mkdirSync(join(directory, name), { recursive: true })
        writeFileSync(join(directory, name, file), text)
      }
      write("a/same", "config.json", configText)
      write("a/same", "events.jsonl", "of a run")
      write("b/same", "events.jsonl", "of a search")
      write("b", "notes.jsonl", "{}")
      const found = (places: ReadonlyArray<string>) =>
        Effect.gen(function* () {
          const runs = yield* (yield* RunCatalog).find
          const searches = yield* (yield* SearchCatalog).find
          return { runs: runs.map(({ id }) => id), searches: searches.map(({ file, id }) => [id, file] as const) }
        }).pipe(Effect.provide(Layer.provide(Catalog.layer(places), NodeServices.layer), { local: true }))
      const { runs, searches } = yield* found([directory])
      assert.strictEqual(runs.length, 1)
      assert.deepStrictEqual(
        searches.map(([, file]) => file),
        [join(directory, "b/same/events.jsonl")]
      )
      assert.deepStrictEqual([...runs, ...searches.map(([id]) => id)].toSorted(), ["same", "same-2"])
      const named = join(directory, "b/notes.jsonl")
      assert.deepStrictEqual((yield* found([named])).searches, [["notes.jsonl", named]])
    }).pipe(Effect.scoped)
  )
})

describe("a run of the catalog", () => {
  it.effect.prop(
    "is dated by its last event, whenever its files were copied and however its last line was cut off",
    [Schema.Array(Session), Schema.Int],
    ([sessions, copied]) =>
      Effect.gen(function* () {
        const directory = yield* runDirectory
        writeFileSync(join(directory, "config.json"), configText)
        const timings = sessions
          .toSorted((a, b) => b.hoursAgo - a.hoursAgo)
          .flatMap(({ hoursAgo, seconds }) =>
            seconds
              .toSorted((a, b) => a - b)
              .map((at) => ({
                session: noon - hoursAgo * 3_600_000,
                seconds: at,
                event: "StepTrained",
                step: 1,
                rollouts: 1,
                rss: 1
              }))
          )
        const last = timings.at(-1)
        writeFileSync(
          join(directory, "timings.jsonl"),
          `${timings.map((line) => `${JSON.stringify(line)}\n`).join("")}{"session":17`
        )
        const copy = new Date(noon + Math.abs(copied % 1_000_000) * 1000)
        for (const name of readdirSync(directory)) utimesSync(join(directory, name), copy, copy)
        const { at } = yield* (yield* open(directory)).written
        assert.strictEqual(at, last === undefined ? copy.getTime() : last.session + Math.round(1000 * last.seconds))
      }).pipe(Effect.scoped),
    { arbitrary: { runs: 20 } }
  )

  it.effect("is read without a trace, and is another one once something is written", () =>
    Effect.gen(function* () {
      const directory = yield* runDirectory
      const file = join(directory, "journal.sqlite")
      writeFileSync(join(directory, "config.json"), configText)
      const append = (mode: "create" | "open") =>
        Journal.use((journal) => journal.append([event])).pipe(
          Effect.provide(journalLayer({ file, mode }), { local: true })
        )
      yield* append("create")
      const source = yield* open(directory)
      const count = Effect.map(
        Journal.use((journal) => journal.read).pipe(Effect.provide(source.journal, { local: true })),
        ({ length }) => length
      )
      const before = state(directory)
      const { version } = yield* source.written
      assert.strictEqual(yield* count, 1)
      assert.deepStrictEqual(state(directory), before)
      assert.strictEqual((yield* source.written).version, version)
      yield* append("open")
      assert.notStrictEqual((yield* source.written).version, version)
      assert.strictEqual(yield* count, 2)
    }).pipe(Effect.scoped)
  )
})
