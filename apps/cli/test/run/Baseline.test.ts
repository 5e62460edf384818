import { readdirSync } from "node:fs"
import { join } from "node:path"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { type Degradation, RunState } from "@inspo/coevolution"
import { Presets, type RunConfig, staticConfig } from "@inspo/config"
import { Journal } from "@inspo/journal"
import { Ledger } from "@inspo/ledger"
import { Cause, Effect, Exit, FileSystem } from "effect"
import { loadData } from "../../src/config/Data.ts"
import { baseline, cacheKey, isCacheable } from "../../src/run/Baseline.ts"
import { readConfig } from "../../src/runDirectory/ConfigFile.ts"
import { layerJournal } from "../../src/runDirectory/JournalLayer.ts"
import { jsonLines } from "../../src/runDirectory/Write.ts"
import type { Baseline } from "../../src/report/Summary.ts"
import * as Reporter from "../../src/terminal/Reporter.ts"

const identity = { engine: "e", data: "d", code: "c" }

describe("cacheKey", () => {
  const config = staticConfig(Presets.quick, 4800)
  const key = cacheKey(config, identity)

  it("does not depend on worker counts and checkpoint intervals", () => {
    const { checkpoint, engine } = config
    assert.strictEqual(cacheKey({ ...config, engine: { ...engine, concurrency: 3 } }, identity), key)
    assert.strictEqual(cacheKey({ ...config, checkpoint: { ...checkpoint, keep: 7 } }, identity), key)
  })

  it("depends on seed, steps, checkpoint, data and code", () => {
    const others = [
      cacheKey({ ...config, randomSeed: config.randomSeed + 1 }, identity),
      cacheKey(staticConfig(Presets.quick, 9600), identity),
      cacheKey({ ...config, train: { ...config.train, learningRate: 1 } }, identity),
      cacheKey(config, { ...identity, engine: "x" }),
      cacheKey(config, { ...identity, data: "x" }),
      cacheKey(config, { ...identity, code: "x" })
    ]
    assert.strictEqual(new Set([key, ...others]).size, others.length + 1)
  })
})

/** 24 rollouts of training, and 9 of verification. */
const state: RunState.RunState = {
  ...RunState.unstarted,
  step: 4,
  spent: { ...RunState.unstarted.spent, rollouts: { train: 24, verification: 9, evaluation: 8 } }
}

/** The baseline of a run of the preset tiny that has spent 41 rollouts, and what was noted. */
const baselineOf = Effect.fnUntraced(function* (
  changes: Partial<RunConfig>,
  prepare: (directory: string, key: string) => Readonly<Record<string, string>> = () => ({})
) {
  const fs = yield* FileSystem.FileSystem
  const directory = join(yield* fs.makeTempDirectoryScoped(), "run")
  yield* fs.makeDirectory(directory)
  const config = { ...Presets.tiny, ...changes }
  const loaded = yield* loadData(config)
  const arm = staticConfig(config, 33)
  const key = cacheKey(arm, { engine: "", data: loaded.data.fingerprint, code: "code" })
  for (const [name, text] of Object.entries(prepare(directory, key)))
    yield* fs.writeFileString(join(directory, name), text)
  yield* Effect.scoped(
    Effect.provide(
      Journal.use((journal) => journal.charge({ ...Ledger.nothing, rollouts: 41, phase: "train", redone: false })),
      layerJournal(directory, config, "create"),
      { local: true }
    )
  )
  const noted: Array<Degradation.Degradation> = []
  const exit = yield* Effect.exit(
    baseline({
      directory,
      config,
      loaded,
      code: "code",
      launchedAt: 0,
      state,
      events: [],
      reporter: yield* Reporter.make({ quiet: true }),
      note: (facts) => Effect.sync(() => void noted.push(...facts))
    })
  )
  return { directory, exit, files: readdirSync(directory), noted }
})

const stopped = () => ({ stop: "" })
const isStopped = (exit: Exit.Exit<unknown, unknown>) => Exit.isFailure(exit) && Cause.hasInterruptsOnly(exit.cause)

describe("the baseline", () => {
  const limited = (rollouts: number) => ({ budget: { ...Presets.tiny.budget, rollouts } })

  it.live("is left out, and begins nothing, where the run leaves too little of a limit", () =>
    Effect.gen(function* () {
      const { exit, files, noted } = yield* baselineOf(limited(45))
      assert.deepStrictEqual(exit, Exit.succeed(null))
      assert.notInclude(files, "baseline")
      assert.deepInclude(noted[0], { part: "baseline", step: 4, count: 1 })
      assert.match(noted[0]?.message ?? "", /too little of budget\.rollouts, 45, .* --set budget\.rollouts=…`$/u)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live(
    "has what the run leaves of its budget, and is left out where it reaches that",
    () =>
      Effect.gen(function* () {
        // 36 to train on, and 4 of the 8 to evaluate.
        const { directory, exit, noted } = yield* baselineOf(limited(81))
        assert.deepStrictEqual(exit, Exit.succeed(null))
        assert.deepStrictEqual((yield* readConfig(join(directory, "baseline"))).budget, limited(40).budget)
        assert.match(noted[0]?.message ?? "", /too little of budget\.rollouts, 81,/u)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    { tags: "deep" }
  )

  it.live("stops with the run that it belongs to", () =>
    Effect.gen(function* () {
      const { exit, files } = yield* baselineOf({}, stopped)
      assert.isTrue(isStopped(exit))
      assert.notInclude(files, "stop")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("is read from a results file, but not where a program or server decides", () =>
    Effect.gen(function* () {
      const known: Baseline = { method: "static", source: "run", rollouts: 36, em: 0.5, ci95: [0.1, 0.9] }
      const withResult = (_: string, key: string) => ({
        "../baselines.jsonl": jsonLines([{ key, baseline: known }]),
        ...stopped()
      })
      const { reward, rollout } = Presets.tiny
      const { exit } = yield* baselineOf({}, withResult)
      assert.deepStrictEqual(exit, Exit.succeed({ ...known, source: "cache" }))
      const command = { name: "command", command: ["false"] } as const
      assert.isTrue(isStopped((yield* baselineOf({ reward: { ...reward, kind: command } }, withResult)).exit))
      const judge = { name: "judge", model: "openai:m", criteria: null } as const
      const others: ReadonlyArray<Partial<RunConfig>> = [
        { reward: { ...reward, kind: judge } },
        { retrieval: { ...Presets.tiny.retrieval, url: "http://127.0.0.1:1" } },
        { rollout: { ...rollout, mcp: [{ command: ["false"] }] } },
        { rollout: { ...rollout, agent: { name: "outside", program: "./agent", workers: 1, timeout: 1 } } }
      ]
      for (const changes of others) assert.isFalse(isCacheable({ ...Presets.tiny, ...changes }))
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
