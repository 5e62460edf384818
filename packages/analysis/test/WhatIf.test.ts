/** @module-tag deep */
import { assert, describe, it } from "@effect/vitest"
import { type Algorithm, EventLog, Presets, type RunEvent, Strategies } from "@inspo/coevolution"
import { WhatIf } from "@inspo/analysis"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Effect, Layer, Result, Schema } from "effect"
import * as DropTheLast from "../../../examples/own-strategy/DropTheLast.ts"
import * as ScriptedRun from "../../coevolution/test/support/ScriptedRun.ts"
import { syntheticLog } from "./support/SyntheticLog.ts"

const { paper, robust } = Presets

/** Ample groups: 7 instructions share 300 a step. */
const ample = (preset: Algorithm): Algorithm => ({
  ...preset,
  schedule: { ...preset.schedule, steps: 32, evolveUntil: 30 },
  rollout: { ...preset.rollout, groupSize: 2 },
  train: { ...preset.train, batchSize: 300, miniBatch: { ...preset.train.miniBatch, size: 100 } },
  selection: { ...preset.selection, rounds: 2 },
  verification: { samples: 40 }
})
const algorithm: Algorithm = {
  ...ample(robust),
  selection: {
    ...robust.selection,
    average: "steps",
    shares: "softmax",
    temperature: 0.4,
    removal: "bottom-half",
    rounds: 2
  },
  rollout: { ...robust.rollout, groupSize: 2, instructionsPerQuestion: 1 }
}
const log = syntheticLog(algorithm, 400)

const opened = (settings: Algorithm, events: ReadonlyArray<RunEvent>) =>
  Result.getOrThrow(WhatIf.open(Strategies.deciding(settings), events))
const askOf = (log: WhatIf.Opened, settings: Algorithm) => WhatIf.ask(log, Strategies.deciding(settings))
const ask = (change: Partial<Algorithm>) => askOf(opened(algorithm, log), { ...algorithm, ...change })
const answer = (change: Partial<Algorithm>) => Result.getOrThrow(ask(change))
const refusal = (change: Partial<Algorithm>) => Result.getOrThrow(Result.flip(ask(change)))
const atTemperature = (temperature: number) => ({ selection: { ...algorithm.selection, temperature } })
const pruningEvery = (pruneEvery: number) => ({ schedule: { ...algorithm.schedule, pruneEvery } })
const changed = ({ decisions }: WhatIf.Answer) =>
  decisions.filter(({ logged, replayed }) => JSON.stringify(logged) !== JSON.stringify(replayed))

describe("the settings of the log", () => {
  it.effect.each<readonly [string, Algorithm]>([
    ["robust", ScriptedRun.algorithm],
    ["instructions on the same questions", ScriptedRun.comparing],
    ["instructions that share samples", ScriptedRun.sharing],
    ["two parents", { ...ScriptedRun.algorithm, population: { ...ScriptedRun.algorithm.population, parents: 2 } }],
    [
      "paper",
      {
        ...ScriptedRun.algorithm,
        population: { ...paper.population, size: 5 },
        selection: { ...paper.selection, rounds: 3 },
        verification: { samples: 4 }
      }
    ],
    [
      "permuted credit",
      { ...ScriptedRun.algorithm, control: { ...ScriptedRun.algorithm.control, permuteCredit: true } }
    ]
  ])("reproduce a run: %s", ([, settings]) =>
    Effect.gen(function* () {
      const events: Array<RunEvent> = []
      yield* ScriptedRun.runOn(settings, layerMemory, (event) => Effect.sync(() => events.push(event)))
      const same = Result.getOrThrow(askOf(opened(settings, events), settings))
      assert.deepStrictEqual(changed(same), [])
      assert.strictEqual(
        same.best.replayed,
        events.flatMap((event) => (event._tag === "RunFinished" ? [event.best] : []))[0]
      )
      assert.strictEqual(same.reward.replayed, same.reward.logged)
      assert.deepStrictEqual(
        same.decisions.flatMap(({ kind, step, replayed }) => (kind === "prune" ? [{ step, ids: replayed }] : [])),
        events.flatMap((event) =>
          event._tag === "Pruned" ? [{ step: event.step, ids: event.pruned.map(({ id }) => id) }] : []
        )
      )
    })
  )

  it("give the mean reward of the steps", () => {
    const means = log.flatMap((event) =>
      event._tag === "RolloutsCollected" ? [mean(event.groups.map(({ rewards }) => mean(rewards)))] : []
    )
    assert.approximately(answer({}).reward.logged ?? NaN, mean(means), 1e-12)
  })

  it.prop(
    "reproduce any log",
    [
      Schema.Struct({
        seed: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1e6 })),
        preset: Schema.Literals(["paper", "robust", "quick"]),
        parents: Schema.Literals([1, 2, 3]),
        window: Schema.Literals([1, 3, 5]),
        pruneEvery: Schema.Literals([0, 2, 3]),
        evolveEvery: Schema.Literals([0, 4, 6])
      })
    ],
    ([{ evolveEvery, parents, preset, pruneEvery, seed, window }]) => {
      const base = Presets.byName[preset] ?? robust
      const settings: Algorithm = {
        ...base,
        randomSeed: seed,
        population: { ...base.population, size: 5, parents },
        schedule: { ...base.schedule, steps: 13, pruneEvery, evolveEvery, evolveUntil: 12 },
        train: { ...base.train, batchSize: 12, miniBatch: { ...base.train.miniBatch, size: 12 } },
        selection: { ...base.selection, rounds: 2, window },
        verification: { samples: 6 }
      }
      const same = Result.getOrThrow(askOf(opened(settings, syntheticLog(settings, 40)), settings))
      assert.deepStrictEqual(changed(same), [])
      assert.strictEqual(same.best.replayed, same.best.logged)
    },
    { arbitrary: { runs: 40 } }
  )
})

describe("other settings", () => {
  it("of temperature move the mean reward towards the better instructions as it falls, and no value", () => {
    const [cold, logged, hot] = [0.3, 0.4, 1].map((temperature) => answer(atTemperature(temperature)))
    assert.deepStrictEqual(
      [cold, hot].map((one) => one && changed(one)),
      [[], []]
    )
    assert.isAbove(cold?.reward.replayed ?? 0, logged?.reward.replayed ?? 1)
    assert.isAbove(logged?.reward.replayed ?? 0, hot?.reward.replayed ?? 1)
  })

  it("of pruning decide at their own steps", () => {
    const { decisions } = answer(pruningEvery(3))
    const due = decisions.flatMap(({ kind, step, replayed }) => (kind === "prune" && replayed !== null ? [step] : []))
    assert.includeMembers(due, [3, 6, 18, 21])
    for (const step of due) assert.strictEqual(step % 3, 0)
    const logged = decisions.flatMap(({ kind, logged, step }) => (kind === "prune" && logged !== null ? [step] : []))
    assert.deepStrictEqual(logged.slice(0, 3), [5, 10, 15])
  })

  it.each<readonly [string, Algorithm]>([
    ["robust", algorithm],
    ["paper", ample(paper)]
  ])("are refused where the log has no rewards of whom they keep: %s", (_, settings) => {
    const slow = { ...settings, schedule: { ...settings.schedule, pruneEvery: 15 } }
    const refused = Result.getOrThrow(Result.flip(askOf(opened(settings, syntheticLog(settings, 400)), slow)))
    assert.deepStrictEqual([refused.kind, refused.step, refused.effectiveGroups], ["prune", 15, 0])
    assert.isBelow(refused.drawnUntil ?? 15, 15)
    assert.include(refused.message, `0.0 effective groups of ${refused.name}, which the log has only until`)
  })

  it("are refused where they let in whom the log turned away, once that matters", () => {
    const two: Algorithm = {
      ...algorithm,
      population: { ...algorithm.population, parents: 2 },
      selection: { ...algorithm.selection, fill: true }
    }
    const one = { ...two, population: { ...two.population, parents: 1 } }
    const refused = Result.getOrThrow(Result.flip(askOf(opened(two, syntheticLog(two, 400)), one)))
    assert.deepStrictEqual([refused.kind, refused.step, refused.drawnUntil], ["prune", 20, null])
    assert.match(refused.name ?? "", /^candidate-15\./u)
  })

  it("count the groups that a ranking has seen", () => {
    const refusedAt = (ranking: "before" | "after") => {
      const settings: Algorithm = { ...algorithm, selection: { ...algorithm.selection, ranking } }
      const everyStep = { ...settings, schedule: { ...settings.schedule, pruneEvery: 1 } }
      return Result.match(askOf(opened(settings, syntheticLog(settings, 400)), everyStep), {
        onSuccess: () => null,
        onFailure: ({ step }) => step
      })
    }
    assert.strictEqual(refusedAt("before"), 1)
    assert.notStrictEqual(refusedAt("after"), 1)
  })

  it("are refused where they would hardly have drawn an instruction", () => {
    const refused = refusal(atTemperature(0.02))
    assert.isBelow(refused.effectiveGroups, WhatIf.minimumGroups)
    assert.match(
      refused.message,
      /^replay: the (prune|choice of \w+) at step \d+ would be based on \d+\.\d effective groups/u
    )
  })

  it("leave out the evolutions that the log skipped", () => {
    const unpruned: Algorithm = { ...algorithm, ...pruningEvery(0) }
    const flawless = syntheticLog(unpruned, 400, () => 1)
    const { decisions } = Result.getOrThrow(askOf(opened(unpruned, flawless), { ...unpruned, ...atTemperature(1) }))
    const evolutions = decisions.filter(({ kind }) => kind === "refill")
    assert.deepStrictEqual(
      evolutions.map(({ step, replayed }) => ({ step, replayed })),
      [15, 30].map((step) => ({ step, replayed: [] }))
    )
  })

  it("list decisions as they fall", () => {
    const every = (pruneEvery: number): Algorithm => ({
      ...algorithm,
      schedule: { ...algorithm.schedule, steps: 16, pruneEvery }
    })
    const asked = askOf(opened(every(4), syntheticLog(every(4), 400)), every(5))
    const { decisions } = Result.getOrThrow(asked)
    const order = decisions.map(({ kind, step }) => 10 * step + ["prune", "parents", "refill", "best"].indexOf(kind))
    assert.deepStrictEqual(
      order,
      order.toSorted((a, b) => a - b)
    )
    assert.includeMembers(order, [150, 151, 152])
  })

  it("keep the logged candidates whoever becomes the parent", () => {
    const events = syntheticLog(algorithm, 400)
    const accepted = (step: number) =>
      events.flatMap((event) =>
        event._tag === "PopulationRefilled" && event.step === step
          ? [event.accepted.map(({ instruction }) => instruction.id)]
          : []
      )
    const { decisions } = answer(pruningEvery(3))
    for (const { kind, step, replayed } of decisions)
      if (kind === "refill") assert.deepStrictEqual([replayed], accepted(step))
  })

  it("are refused where they evolve and the log does not", () => {
    const still: Algorithm = { ...algorithm, population: { ...algorithm.population, size: 3, parents: 3 } }
    const silent = opened(still, syntheticLog(still, 400))
    const refused = Result.getOrThrow(
      Result.flip(
        askOf(silent, {
          ...still,
          population: { ...still.population, parents: 2 },
          schedule: { ...still.schedule, pruneEvery: 0 }
        })
      )
    )
    assert.deepStrictEqual([refused.kind, refused.step, refused.name], ["refill", 15, null])
  })

  it.prop(
    "never change a decision on fewer groups than the least",
    [
      Schema.Struct({
        preset: Schema.Literals(["paper", "robust"]),
        batchSize: Schema.Literals([30, 100, 300]),
        window: Schema.Literals([2, 4, 5, 8]),
        pruneEvery: Schema.Literals([3, 4, 5, 6]),
        parents: Schema.Literals([1, 2]),
        temperature: Schema.Literals([0.1, 0.2, 0.5])
      })
    ],
    ([{ batchSize, parents, preset, pruneEvery, temperature, window }]) => {
      const base = ample(Presets.byName[preset] ?? robust)
      const settings = { ...base, train: { ...base.train, batchSize } }
      const asked = askOf(opened(settings, syntheticLog(settings, 300)), {
        ...settings,
        population: { ...settings.population, parents },
        selection: { ...settings.selection, temperature, window },
        schedule: { ...settings.schedule, pruneEvery }
      })
      if (Result.isFailure(asked)) return assert.isBelow(asked.failure.effectiveGroups, WhatIf.minimumGroups)
      for (const { effectiveGroups, kind, replayed } of changed(asked.success))
        if (kind === "prune" && (replayed ?? []).length > 0)
          assert.isAtLeast(effectiveGroups ?? 0, WhatIf.minimumGroups)
    },
    { arbitrary: { runs: 30 } }
  )
})

describe("a log", () => {
  it("must be finished", () => {
    const refused = Result.getOrThrow(Result.flip(WhatIf.open(Strategies.deciding(algorithm), log.slice(0, -1))))
    assert.include(refused.message, "not finished")
  })

  it("must be what its settings make of it", () => {
    const forged = log.map((event) => (event._tag === "Pruned" ? { ...event, pruned: event.pruned.slice(1) } : event))
    const refused = Result.getOrThrow(Result.flip(WhatIf.open(Strategies.deciding(algorithm), forged)))
    assert.include(refused.message, "the prune at step 5")
    const reworded = log.map((event) =>
      event._tag === "StepPlanned" && event.step === 9 ? { ...event, probabilities: { i0: 1 } } : event
    )
    assert.include(
      Result.getOrThrow(Result.flip(WhatIf.open(Strategies.deciding(algorithm), reworded))).message,
      "probabilities of step 9"
    )
  })

  it.effect("opens a run of other strategies where these are provided, and refuses it elsewhere", () =>
    Effect.gen(function* () {
      const { algorithm } = ScriptedRun
      const own = Layer.merge(Strategies.layer(algorithm), DropTheLast.layer(algorithm.population.parents))
      const journal = yield* Journal
      yield* ScriptedRun.runOn(algorithm, Layer.succeed(Journal, journal), undefined, { strategies: own })
      const events = yield* EventLog.read(journal)
      const opened = Result.getOrThrow(Result.flip(WhatIf.open(Strategies.deciding(algorithm), events)))
      assert.include(opened.message, "drop-the-last")
      const strategies = yield* Effect.provide(Strategies.fromContext, own)
      assert.isTrue(Result.isSuccess(WhatIf.open({ algorithm, strategies }, events)))
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )

  it("answers for selection and pruning only", () => {
    for (const name of [
      "selection.temperature",
      "schedule.pruneEvery",
      "selection.window",
      "population.parents",
      "selection.removal"
    ])
      assert.isTrue(WhatIf.isAnswerable(name), name)
    for (const name of [
      "train.batchSize",
      "population.size",
      "rollout.maxTurns",
      "schedule.steps",
      "proposer.kind",
      "seed"
    ])
      assert.isFalse(WhatIf.isAnswerable(name), name)
  })
})

const mean = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0) / values.length
