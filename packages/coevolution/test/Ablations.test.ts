import { assert, describe, it } from "@effect/vitest"
import {
  Ablations,
  apply,
  EventLog,
  inconsistency,
  makeDecisionContext,
  Presets,
  type Algorithm,
  type RunEvent,
  RunState,
  Strategies
} from "@inspo/coevolution"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Shares } from "@inspo/sampler"
import { Array as Arr, Effect, Equal, Layer, Schema, Struct } from "effect"
import { algorithm, make, runOn } from "./support/ScriptedRun.ts"

const base: Algorithm = {
  ...algorithm,
  schedule: { ...algorithm.schedule, steps: 16, evolveUntil: 12 },
  train: { ...algorithm.train, batchSize: 7 }
}
const withPopulation = (change: Partial<Algorithm["population"]>) => ({
  ...base,
  population: { ...base.population, ...change }
})
const withProposer = (change: Partial<Algorithm["proposer"]>) => ({
  ...base,
  proposer: { ...base.proposer, ...change }
})
const withVerification = (change: Partial<Algorithm["verification"]>) => ({
  ...base,
  verification: { ...base.verification, ...change }
})
const withTemperature = (temperature: number) => ({ ...base, selection: { ...base.selection, temperature } })

/** Every part that can be left out, and settings that take effect in no other run of these tests. */
const variants = {
  "without population": Ablations.without(base, ["population"]),
  "without pruning, expansion": Ablations.without(base, ["pruning", "expansion"]),
  "without pruning": Ablations.without(base, ["pruning"]),
  "without expansion": Ablations.without(base, ["expansion"]),
  "without verification": Ablations.without(base, ["verification"]),
  "without reflection": Ablations.without(base, ["reflection"]),
  "without failures": Ablations.without(base, ["failures"]),
  "without training": Ablations.without(base, ["training"]),
  "the policy trains late": {
    ...base,
    selection: { ...base.selection, removal: "bottom-half", instruction: "best" },
    schedule: { ...base.schedule, evolveEvery: 4, evolveUntil: 4, pruneEvery: 1 },
    train: { ...base.train, fromStep: 9 }
  },
  "the policy trains first": {
    ...base,
    schedule: { ...base.schedule, evolveEvery: 4, evolveUntil: 12 },
    control: { ...base.control, policyFirst: 8 }
  },
  "the proposer history": withProposer({ kind: { name: "history", prompt: null } }),
  verification: withVerification({ samples: 4 }),
  "shared samples": {
    ...base,
    rollout: { ...base.rollout, instructionsPerQuestion: "samples" },
    train: { ...base.train, advantage: { name: "centred" } }
  },
  "an agent that writes one turn, read without tags": {
    ...base,
    rollout: { ...base.rollout, agent: { name: "direct" }, scoredTurns: "all" },
    reward: { ...base.reward, kind: { name: "command", command: ["true"] } }
  },
  "2 parents": withPopulation({ parents: 2 }),
  "4 parents": withPopulation({ parents: 4 }),
  "the temperature 0.05": withTemperature(0.05),
  "the temperature 1": withTemperature(1)
} satisfies Record<string, Algorithm>

type Events<Tag extends RunEvent["_tag"]> = ReadonlyArray<Extract<RunEvent, { readonly _tag: Tag }>>

/** What happened in the run of an ablation. */
const observe = Effect.fnUntraced(
  function* (settings: Algorithm) {
    const journal = yield* Journal
    const { data } = yield* make(settings)
    const last = yield* runOn(settings, Layer.succeed(Journal, journal))
    const events = yield* EventLog.read(journal)
    const of = <Tag extends RunEvent["_tag"]>(tag: Tag): Events<Tag> =>
      events.filter((event): event is Extract<RunEvent, { readonly _tag: Tag }> => event._tag === tag)
    const context = makeDecisionContext(Strategies.deciding(settings), data)
    return {
      of,
      last,
      context,
      states: Arr.scan(events, RunState.unstarted, (state, event) => apply(context, state, event)).slice(1),
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
    const values = run.context.strategies.valuation.values(before.population).map(({ value }) => value)
    assert.deepStrictEqual(Object.values(event.probabilities), Shares.softmax(values, temperature))
    spread = Math.max(spread, Math.max(...values) - Math.min(...values))
  })
  assert.isAbove(spread, 0)
}

/** What the events of each must show. */
const shows: Readonly<Record<keyof typeof variants, (run: Observed) => void>> = {
  "without population": ({ last, of }) => {
    assert.deepStrictEqual([of("Pruned").length, of("CandidatesProposed").length, last.instructions.length], [0, 0, 1])
  },
  "without pruning, expansion": (run) => {
    assert.deepStrictEqual(new Set(sizes(run)), new Set([base.population.size]))
    assert.lengthOf(run.last.instructions, base.population.size)
  },
  "without pruning": ({ of }) => {
    assert.lengthOf(of("Pruned"), 0)
    assert.isAbove(of("PopulationRefilled").length, 0)
  },
  "without expansion": (run) => {
    assert.isAbove(run.of("Pruned").length, 0)
    assert.lengthOf(run.of("CandidatesProposed"), 0)
    assert.lengthOf(run.last.instructions, base.population.size)
    assert.strictEqual(sizes(run).at(-1), 1)
  },
  "without verification": ({ last, of }) => {
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
  "without reflection": (run) => {
    for (const critique of critiques(run)) assert.include(critique, "not looked at")
  },
  "without failures": (run) => {
    for (const critique of critiques(run)) assert.include(critique, "in other words")
  },
  "an agent that writes one turn, read without tags": (run) => {
    assert.isNotEmpty(critiques(run))
    for (const critique of critiques(run)) assert.notMatch(critique, /search|tags/u)
  },
  "the proposer history": (run) => {
    run.events.forEach((event, index) => {
      // Those who left are remembered with their scores.
      const everyone = run.states[index]?.instructions.length
      if (event._tag === "CandidatesProposed")
        assert.include(event.critique, `Compared ${everyone} scored instructions`)
    })
  },
  "the policy trains late": (run) => {
    assert.deepStrictEqual(run.trained, steps(9, 16))
    assert.isAbove(run.of("PopulationRefilled").length, 0)
    const used = run.of("StepPlanned").flatMap(({ assignment, step }) => (step > 8 ? assignment : []))
    assert.strictEqual(new Set(used).size, 1)
  },
  "the policy trains first": (run) => {
    assert.deepStrictEqual(run.trained, steps(1, 8))
    const used = run.of("StepPlanned").flatMap(({ assignment, step }) => (step <= 8 ? assignment : []))
    assert.deepStrictEqual(new Set<string>(used), new Set(["i0"]))
    assert.deepStrictEqual(
      run.of("PopulationRefilled").map(({ step }) => step),
      [8, 12]
    )
  },
  verification: ({ last, of }) => {
    assert.isAbove(last.spent.rollouts.verification, 0)
    assert.isAbove(of("CandidatesVerified").flatMap(({ candidates }) => candidates.flat()).length, 0)
  },
  "shared samples": ({ of }) => {
    const plans = of("StepPlanned")
    assert.isTrue(plans.some(({ questions }) => new Set(questions).size < questions.length))
    for (const { samples = [] } of plans)
      assert.strictEqual(
        samples.reduce((sum, one) => sum + one, 0),
        base.train.batchSize * base.rollout.groupSize
      )
  },
  "without training": ({ of, trained }) => {
    assert.deepStrictEqual(trained, [])
    assert.isAbove(of("PopulationRefilled").length, 0)
  },
  "2 parents": keepsParents(2),
  "4 parents": keepsParents(4),
  "the temperature 0.05": drawsAt(0.05),
  "the temperature 1": drawsAt(1)
}

describe("ablations and options", () => {
  it.effect.each(Struct.keys(variants))("%s: the run shows it", (name) =>
    Effect.gen(function* () {
      const settings = variants[name]
      assert.isNull(inconsistency(settings))
      const run = yield* observe(settings)
      assert.strictEqual(run.last.step, settings.schedule.steps)
      if (name.includes("propos") || name === "without reflection" || name === "without failures")
        assert.isAbove(run.of("CandidatesProposed").length, 0)
      shows[name](run)
    })
  )

  it.effect.prop(
    "parts are left out of any preset in any order, once or twice, and the rest can run",
    { name: Schema.Literals(Object.keys(Presets.byName)), left: Schema.Array(Schema.Literals(Ablations.partNames)) },
    ({ left, name }) =>
      Effect.sync(() => {
        const smaller = Ablations.without(presetOf(name), left)
        assert.isNull(inconsistency(smaller))
        assert.deepStrictEqual(Ablations.without(presetOf(name), left.toReversed()), smaller)
        assert.deepStrictEqual(Ablations.without(smaller, left), smaller)
      })
  )

  it("each part is in every preset that has it", () => {
    for (const [name, preset] of Object.entries(Presets.byName))
      for (const part of Ablations.partNames)
        assert.strictEqual(
          !Equal.equals(Ablations.without(preset, [part]), preset),
          has(preset, part),
          `${name} without ${part}`
        )
  })
})

/** The parts that some presets do not have. */
const has = ({ rollout, selection, verification }: Algorithm, part: Ablations.Part): boolean => {
  switch (part) {
    case "verification":
      return verification.samples > 0
    case "sharing":
      return rollout.instructionsPerQuestion !== 1
    case "comparison":
      return selection.average === "questions"
    case "evidence":
      return selection.removal === "evidence"
    default:
      return true
  }
}

const presetOf = (name: string): Algorithm => {
  const preset = Presets.byName[name]
  assert.isDefined(preset)
  return preset
}
