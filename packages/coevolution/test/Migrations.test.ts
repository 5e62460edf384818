import { assert, describe, it } from "@effect/vitest"
import {
  apply,
  EventLog,
  Migrations,
  Presets,
  RunConfig,
  RunEvents,
  RunState,
  StateHash,
  Strategies
} from "@inspo/coevolution"
import { Journal } from "@inspo/journal"
import { layer, layerMemory } from "@inspo/journal/sqlite"
import { Effect, Layer, Predicate, Result, Schema } from "effect"
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gunzipSync } from "node:zlib"
import * as EventsOfAllTypes from "./support/EventsOfAllTypes.ts"
import { config, runOn } from "./support/ScriptedRun.ts"

const fixture = (name: string) => readFileSync(new URL(`fixtures/${name}`, import.meta.url))
const decodeConfig = Schema.decodeUnknownEffect(RunConfig)

/** A run on the scripted engine that was stopped after 21 events, written by journals of version 1. */
const stopped = Effect.acquireRelease(
  Effect.sync(() => {
    const directory = mkdtempSync(join(tmpdir(), "inspo-migration-"))
    const file = join(directory, "journal.sqlite")
    writeFileSync(file, gunzipSync(fixture("journal-1-stopped.sqlite.gz")))
    return { directory, file }
  }),
  ({ directory }) => Effect.sync(() => rmSync(directory, { recursive: true }))
).pipe(Effect.map(({ file }) => file))

const completed = (config: unknown): unknown => Result.getOrThrow(Migrations.completeConfig(config))

const decodeEvent = Schema.decodeUnknownEffect(RunEvents.RunEvent)

const typeOf = (event: unknown): string =>
  Predicate.hasProperty(event, "_tag") && typeof event._tag === "string" ? event._tag : "none"

const versionOf = (event: unknown): number =>
  Predicate.hasProperty(event, "version") && typeof event.version === "number" ? event.version : 1

const leaves = (node: unknown, path: ReadonlyArray<string> = []): ReadonlyArray<string> =>
  Predicate.isObjectKeyword(node) && !Array.isArray(node)
    ? Object.entries(node).flatMap(([key, value]) => leaves(value, [...path, key]))
    : [path.join(".")]

/** A config with a value at a path. */
const laid = (node: unknown, [key, ...rest]: ReadonlyArray<string>, value: unknown): unknown =>
  key === undefined
    ? value
    : {
        ...(Predicate.isObject(node) ? node : {}),
        [key]: laid(Predicate.hasProperty(node, key) ? node[key] : {}, rest, value)
      }

describe("a config of an earlier version", () => {
  it.effect("is completed with the values under which a run behaves as it did", () =>
    Effect.gen(function* () {
      const first: unknown = JSON.parse(fixture("config-1.json").toString())
      const known = new Set(leaves(completed(first)))
      const missing = leaves(Presets.robust).filter((leaf) => !known.has(leaf))
      assert.deepStrictEqual(missing, [], "add these keys to Migrations.laterKeys")
      const today = yield* decodeConfig(completed(first))
      assert.deepStrictEqual(completed(today), today)
      assert.strictEqual(today.proposer.kind, "reflection")
    })
  )

  const independent = Migrations.removedKeys.filter(({ path, unless }) => unless === undefined && !path.endsWith("Env"))
  describe.each(independent.map((one) => [one.path, one] as const))("loses %s", (path, { values }) => {
    const stored = (value: unknown) => laid(Presets.quick, path.split("."), value)

    it("where a run behaves as it did", () => {
      for (const value of values ?? ["anything", 3, { some: "section" }])
        assert.deepStrictEqual<unknown>(completed(stored(value)), Presets.quick)
    })

    it.runIf(values !== undefined)("and is refused where it does not, by its name and with the remedy", () => {
      const refused = Result.flip(Migrations.completeConfig(stored("something else")))
      if (Result.isFailure(refused)) return assert.fail("it is read")
      assert.strictEqual(refused.success.field, path)
      assert.include(refused.success.message, "in the version that wrote it")
    })

    it("and is none of today", () => {
      assert.notInclude(leaves(Presets.quick), path)
    })
  })

  it("names variables, the model and the server as it did", () => {
    const { keys, ...rest } = Presets.quick
    const engine = { ...rest.engine, apiKeyEnv: "ENGINE", protocol: "tinker", baseModel: null }
    const former = (changes: object, others: object = {}) =>
      completed({
        ...rest,
        engine: { ...engine, ...changes },
        journal: { ...rest.journal, passwordEnv: "PASSWORD" },
        ...others
      })
    const named = { ...keys, engine: "ENGINE", journal: "PASSWORD" }
    assert.deepStrictEqual<unknown>(former({ model: "folder" }), {
      ...rest,
      engine: { ...rest.engine, model: "folder" },
      keys: named
    })
    const url = "http://127.0.0.1:1"
    assert.deepStrictEqual<unknown>(former({ url, model: "folder", baseModel: "m", protocol: "completions" }), {
      ...rest,
      engine: { ...rest.engine, url, model: "m", tokenizer: "folder", profile: "completions" },
      keys: named
    })
    const { texts, ...rollout } = rest.rollout
    const { role, ...said } = texts
    assert.deepStrictEqual<unknown>(
      former(
        {},
        {
          rollout: { ...rollout, texts: said, mode: "searchr1", instructionRole: "system" },
          reward: { ...rest.reward, scope: "searchr1" }
        }
      ),
      {
        ...rest,
        rollout: { ...rollout, agent: "search-r1-exact", texts: { ...said, role: "system" } },
        engine: rest.engine,
        keys: named
      }
    )
    assert.strictEqual(role, "user")
    const scoped = Migrations.completeConfig({ ...Presets.quick, reward: { ...rest.reward, scope: "verl" } })
    assert.strictEqual(Result.isFailure(scoped) ? scoped.failure.field : null, "reward.scope")
  })

  it.each([
    ["population", { average: "window", span: "draws" }, { average: "draws" }],
    ["population", { average: "observed", span: "steps" }, { average: "steps" }],
    ["population", { average: "window", span: "steps" }, "population.span"],
    ["population", { ties: "order", best: "weight" }, { ties: "order" }],
    ["population", { ties: "order", best: "evidence" }, "population.best"],
    ["verification", { stop: null, race: false }, { stop: null }],
    ["verification", { stop: 0.05, race: true }, { stop: 0.05 }],
    ["verification", { stop: 0.05, race: false }, "verification.race"],
    ["schedule", { evolveUntil: 150, evolveUntilInclusive: false }, { evolveUntil: 149 }],
    ["schedule", { evolveUntil: 150, evolveUntilInclusive: true }, { evolveUntil: 150 }]
  ] as const)("says with one setting of %s what took two: %j", (section, former, expected) => {
    const result = Migrations.completeConfig({ ...Presets.quick, [section]: { ...Presets.quick[section], ...former } })
    if (Predicate.isString(expected))
      return assert.strictEqual(Result.isFailure(result) ? result.failure.field : null, expected)
    assert.deepStrictEqual<unknown>(Result.getOrThrow(result), {
      ...Presets.quick,
      [section]: { ...Presets.quick[section], ...expected }
    })
  })

  it("keeps what it said in settings that are now elsewhere", () => {
    const files = { reflection: "a.txt", history: "b.txt", paraphrase: null }
    const { texts, ...rollout } = Presets.quick.rollout
    const { prompt, ...optimizer } = Presets.quick.optimizer
    assert.isNull(prompt)
    const price = (model: string) => ({ model, input: 1, output: 2 })
    const { prices, ...budget } = Presets.quick.budget
    const stored = {
      ...Presets.quick,
      rollout: {
        ...rollout,
        promptTemplate: `Please. ${texts.prompt}`,
        passageTemplate: texts.passage,
        passageSeparator: "; ",
        invalidAction: texts.invalidAction
      },
      optimizer: { ...optimizer, prompts: files, prices: [price("a")] },
      judge: { ...Presets.quick.judge, prices: [price("b")] },
      budget
    }
    assert.deepStrictEqual<unknown>(completed(stored), {
      ...Presets.quick,
      rollout: { ...rollout, texts: { ...texts, prompt: `Please. ${texts.prompt}`, separator: "; " } },
      optimizer: { ...optimizer, prompt: "a.txt" },
      budget: { ...budget, prices: [...prices, price("a"), price("b")] }
    })
  })

  it.each([null, 1, "text", [1], { population: 3 }])("stays what it is where it is none: %j", (other) => {
    if (Predicate.hasProperty(other, "population")) assert.deepInclude(completed(other), { population: 3 })
    else assert.deepStrictEqual(completed(other), other)
  })
})

describe("a journal of an earlier version", () => {
  it.effect("is refused for reading and for writing, untouched, with the remedy", () =>
    Effect.gen(function* () {
      const file = yield* stopped
      const before = readFileSync(file)
      const reading = yield* Journal.use(EventLog.read).pipe(
        Effect.provide(layer({ file, mode: "read-only" }), { local: true }),
        Effect.flip
      )
      const going = yield* Effect.flip(runOn(config, Layer.orDie(layer({ file, mode: "open" }))))
      for (const error of [reading, going]) {
        assert.strictEqual(error._tag, "JournalError")
        assert.match(error.message, /event 0: this RunStarted is of version 1, and this program knows 2/u)
        assert.match(error.message, /the version that wrote it, or start it again from its config\.json/u)
      }
      const events = yield* Effect.provide(
        Journal.use((journal) => journal.read),
        layer({ file, mode: "read-only" }),
        { local: true }
      )
      assert.lengthOf(events, 21)
      assert.isNotEmpty(before)
    }).pipe(Effect.scoped)
  )
})

describe("events as they were written", () => {
  const { logs, stateHashVersion } = EventsOfAllTypes.read()
  const former = EventsOfAllTypes.readFormer()

  const store = Effect.fnUntraced(
    function* (event: Schema.Json, type = typeOf(event)) {
      const journal = yield* Journal
      yield* journal.append([{ type, step: 0, payload: event }])
      return yield* EventLog.read(journal)
    },
    Effect.provide(layerMemory, { local: true })
  )

  it("are kept of every type in every version", () => {
    const kept = new Set(
      [{ logs }, ...former].flatMap((fixture) =>
        fixture.logs.flatMap(({ events }) => events.map((event) => `${typeOf(event)} ${versionOf(event)}`))
      )
    )
    for (const [type, version] of Object.entries(RunEvents.versions))
      for (let one = 1; one <= version; one++) assert.isTrue(kept.has(`${type} ${one}`), `${type} ${one}`)
  })

  it.effect("are read in the version of today, and refused in any other", () =>
    Effect.forEach(
      [{ logs }, ...former].flatMap((fixture) => fixture.logs.flatMap(({ events }) => events)),
      Effect.fnUntraced(function* (event) {
        const known = new Map(Object.entries(RunEvents.versions)).get(typeOf(event)) ?? NaN
        const result = yield* Effect.result(store(event))
        if (versionOf(event) === known)
          return Result.isFailure(result)
            ? assert.include(result.failure.message, "in the version that wrote it", typeOf(event))
            : undefined
        if (Result.isSuccess(result)) return assert.fail(`${typeOf(event)} of version ${versionOf(event)} is read`)
        assert.strictEqual(result.failure.reason, "older-version")
        assert.include(result.failure.message, "start it again from its config.json")
      }),
      { discard: true }
    )
  )

  it.effect("of a type or version that is not known yet are left to the version that wrote them", () =>
    Effect.gen(function* () {
      const event = { _tag: "EvolutionSkipped", step: 1, reason: "nothing to learn from" }
      for (const [stored, type] of [
        [event, "SomethingNew"],
        [{ ...event, version: 99 }, undefined]
      ] as const) {
        const refused = yield* Effect.flip(store(stored, type))
        assert.strictEqual(refused.reason, "newer-version")
        assert.include(refused.message, "Use the version that wrote it")
      }
    })
  )

  it.effect("are read, and lead to the states that they led to, or to hashes of a higher version", () =>
    Effect.forEach(
      logs,
      Effect.fnUntraced(function* ({ events, questions, states }) {
        const decoded = yield* Effect.forEach(events, (event) =>
          decodeEvent(Result.getOrThrow(Migrations.completeEvent(event)))
        )
        const [started] = decoded
        if (started?._tag !== "RunStarted") return assert.fail("a log begins with RunStarted")
        const setting = { config: started.config, policies: Strategies.ofConfig(started.config), questions }
        let state = RunState.unstarted
        for (const [index, event] of decoded.entries()) {
          state = apply(setting, state, event)
          const hash = yield* StateHash.of(state)
          assert.isFalse(
            StateHash.differ(hash, states[index] ?? ""),
            `${event._tag} leads to another state: raise StateHash.version above ${stateHashVersion}, ` +
              "and write the fixture again with test/support/EventsOfAllTypes.ts"
          )
        }
        assert.strictEqual(
          stateHashVersion,
          StateHash.version,
          "write the fixture again with test/support/EventsOfAllTypes.ts"
        )
      })
    )
  )
})
