import { assert, describe, it } from "@effect/vitest"
import {
  Ablations,
  apply,
  EventLog,
  inconsistency,
  makeSetting,
  Presets,
  type RunConfig,
  type RunEvent,
  RunState
} from "@inspo/coevolution"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Similarity } from "@inspo/population"
import { Sampler } from "@inspo/sampler"
import { Array as Arr, Effect, Layer } from "effect"
import { config, make, runOn } from "./support/ScriptedRun.ts"

const base: RunConfig = {
  ...config,
  schedule: { ...config.schedule, steps: 16, evolveUntil: 12 },
  train: { ...config.train, batchSize: 7 }
}
const ablations = Ablations.of(base)

type Events<Tag extends RunEvent["_tag"]> = ReadonlyArray<Extract<RunEvent, { readonly _tag: Tag }>>

/** What happened in the run of an ablation. */
const observe = Effect.fnUntraced(
  function* (settings: RunConfig) {
    const journal = yield* Journal
    const { data } = yield* make(settings)
    const last = yield* runOn(settings, Layer.succeed(Journal, journal))
    const events = yield* EventLog.read(journal)
    const of = <Tag extends RunEvent["_tag"]>(tag: Tag): Events<Tag> =>
      events.filter((event): event is Extract<RunEvent, { readonly _tag: Tag }> => event._tag === tag)
    const setting = makeSetting(settings, data)
    return {
      of,
      last,
      setting,
      states: Arr.scan(events, RunState.unstarted, (state, event) => apply(setting, state, event)).slice(1),
      events,
      trained: of("StepTrained").flatMap(({ metrics, step }) => (metrics.length > 0 ? [step] : []))
    }
  },
  Effect.provide(layerMemory, { local: true })
)
type Observed = Effect.Success<ReturnType<typeof observe>>

const sizes = ({ states }: Observed) => states.slice(2).map(({ population }) => population.members.length)
const critiques = ({ of }: Observed) => of("CandidatesProposed").map(({ critique }) => critique)
const steps = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

const keepsParents = (parents: number) => (run: Observed) => {
  assert.isTrue(sizes(run).every((size) => size >= parents))
  assert.isAbove(run.of("PopulationRefilled").length, 0)
  for (const refill of run.of("PopulationRefilled")) assert.lengthOf(refill.parents, parents)
}

const drawsAt = (temperature: number) => (run: Observed) => {
  let spread = 0
  run.events.forEach((event, index) => {
    const before = run.states[index - 1]
    if (event._tag !== "StepPlanned" || before === undefined) return
    const weights = run.setting.policies.weighting.weights(before.population).map(({ weight }) => weight)
    assert.deepStrictEqual(Object.values(event.probabilities), Sampler.probabilities(weights, temperature))
    spread = Math.max(spread, Math.max(...weights) - Math.min(...weights))
  })
  assert.isAbove(spread, 0)
}

const isNearDuplicate = ({ reason }: { readonly reason: string }) => reason === "near-duplicate"

/** What the events of each ablation must show. */
const shows: Readonly<Record<keyof typeof ablations, (run: Observed) => void>> = {
  "ablation-static": ({ last, of }) => {
    assert.deepStrictEqual([of("Pruned").length, of("CandidatesProposed").length, last.instructions.length], [0, 0, 1])
  },
  "ablation-constant-population": (run) => {
    assert.deepStrictEqual(new Set(sizes(run)), new Set([base.population.size]))
    assert.lengthOf(run.last.instructions, base.population.size)
  },
  "ablation-no-pruning": ({ of }) => {
    assert.lengthOf(of("Pruned"), 0)
    assert.isAbove(of("PopulationRefilled").length, 0)
  },
  "ablation-no-expansion": (run) => {
    assert.isAbove(run.of("Pruned").length, 0)
    assert.lengthOf(run.of("CandidatesProposed"), 0)
    assert.lengthOf(run.last.instructions, base.population.size)
    assert.strictEqual(sizes(run).at(-1), 1)
  },
  "ablation-no-verification": ({ last, of }) => {
    assert.strictEqual(last.spent.rollouts.verification, 0)
    const accepted = of("PopulationRefilled").flatMap((refill) => refill.accepted)
    assert.isAbove(accepted.length, 0)
    for (const { questions, verdict } of accepted) assert.deepStrictEqual([questions, verdict], [0, "untried"])
    for (const [index, { candidates }] of of("CandidatesProposed").entries())
      assert.deepStrictEqual(
        of("PopulationRefilled")[index]?.accepted.map(({ instruction }) => instruction.text),
        candidates.slice(0, base.population.size - 1).map(({ text }) => text)
      )
  },
  "ablation-proposer-random": (run) => {
    for (const critique of critiques(run)) assert.include(critique, "not looked at")
  },
  "ablation-proposer-paraphrase": (run) => {
    for (const critique of critiques(run)) assert.include(critique, "in other words")
  },
  "ablation-proposer-history": (run) => {
    run.events.forEach((event, index) => {
      // Those who left are remembered with their scores.
      const everyone = run.states[index]?.instructions.length
      if (event._tag === "CandidatesProposed")
        assert.include(event.critique, `Compared ${everyone} scored instructions`)
    })
  },
  "ablation-pre-policy": (run) => {
    assert.deepStrictEqual(run.trained, steps(9, 16))
    assert.isAbove(run.of("PopulationRefilled").length, 0)
    const used = run.of("StepPlanned").flatMap(({ assignment, step }) => (step > 8 ? assignment : []))
    assert.strictEqual(new Set(used).size, 1)
  },
  "ablation-post-policy": (run) => {
    assert.deepStrictEqual(run.trained, steps(1, 8))
    const used = run.of("StepPlanned").flatMap(({ assignment, step }) => (step <= 8 ? assignment : []))
    assert.deepStrictEqual(new Set<string>(used), new Set(["i0"]))
    assert.deepStrictEqual(
      run.of("PopulationRefilled").map(({ step }) => step),
      [8, 12]
    )
  },
  "ablation-early-stop": ({ of }) => {
    const looks = of("CandidatesVerified")
    assert.isTrue(looks.every(({ look }) => look !== undefined))
    assert.isAbove(looks.length, 0)
  },
  "ablation-reuse": ({ last, of }) => {
    assert.strictEqual(last.spent.rollouts.verification, 0)
    assert.isAbove(of("CandidatesVerified").flatMap(({ candidates }) => candidates.flat()).length, 0)
    for (const { assignment } of of("StepPlanned")) assert.lengthOf(assignment, base.train.batchSize)
  },
  "ablation-instruction-only": ({ of, trained }) => {
    assert.deepStrictEqual(trained, [])
    assert.isAbove(of("PopulationRefilled").length, 0)
  },
  "ablation-crossover": ({ of }) => {
    const crossed = of("CandidatesProposed").flatMap(({ candidates, rejected }) => [
      ...candidates.filter(({ rationale }) => rationale.startsWith("crossed from")),
      ...rejected
    ])
    assert.isAbove(crossed.length, 0)
  },
  "ablation-diversity": ({ last, of }) => {
    assert.isTrue(of("CandidatesProposed").some(({ rejected }) => rejected.some(isNearDuplicate)))
    const proposed = last.instructions.filter(({ origin }) => origin === "proposed")
    for (const { id, text } of proposed)
      for (const other of last.instructions) if (other.id !== id) assert.isBelow(Similarity.of(text, other.text), 0.8)
  },
  "ablation-pareto": keepsParents(2),
  "ablation-archive": ({ last, of }) => {
    const returned = of("CandidatesProposed").flatMap(({ candidates }) =>
      candidates.filter(({ rationale }) => rationale.startsWith("tried again"))
    )
    assert.isAbove(returned.length, 0)
    const texts = last.instructions.map(({ text }) => text)
    for (const { text } of returned) assert.include(texts, text)
  },
  "ablation-parents-2": keepsParents(2),
  "ablation-parents-4": keepsParents(4),
  "ablation-temperature-0.05": drawsAt(0.05),
  "ablation-temperature-1": drawsAt(1)
}

describe("ablations", () => {
  it.effect.each(Object.keys(ablations) as Array<keyof typeof ablations>)("%s does what it says", (name) =>
    Effect.gen(function* () {
      const settings = ablations[name]
      assert.isNull(inconsistency(settings))
      const run = yield* observe(settings)
      assert.strictEqual(run.last.step, settings.schedule.steps)
      if (name.includes("proposer")) assert.isAbove(run.of("CandidatesProposed").length, 0)
      shows[name](run)
    })
  )

  it("are presets of the quick run by their own names, all different", () => {
    const configs = Object.keys(ablations).map((name) => Presets.byName[name])
    assert.isTrue(configs.every((preset) => preset !== undefined))
    assert.strictEqual(new Set([Presets.quick, ...configs].map((one) => JSON.stringify(one))).size, configs.length + 1)
  })
})
