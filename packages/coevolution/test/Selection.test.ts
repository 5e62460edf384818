import { assert, describe, it } from "@effect/vitest"
import { Collapse, EventLog, type Algorithm, type RunEvent, RunState, Selection } from "@inspo/coevolution"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Array as Arr, Effect, Layer, Schema } from "effect"
import { algorithm, runOn } from "./support/ScriptedRun.ts"

const history = (settings: Algorithm) =>
  Effect.gen(function* () {
    const journal = yield* Journal
    const kept: Array<ReadonlyArray<number>> = []
    const state = yield* runOn(settings, Layer.succeed(Journal, journal), (_, after) => {
      kept.push(after.checkpoints.map(({ step }) => step))
      return Effect.void
    })
    return { events: yield* EventLog.read(journal), state, kept }
  }).pipe(Effect.provide(layerMemory, { local: true }))

const of = <Tag extends RunEvent["_tag"]>(events: ReadonlyArray<RunEvent>, tag: Tag) =>
  events.filter((event): event is Extract<RunEvent, { readonly _tag: Tag }> => event._tag === tag)

const validating = (changes: Partial<Algorithm["evaluation"]>): Algorithm => ({
  ...algorithm,
  evaluation: { ...algorithm.evaluation, every: 2, ...changes },
  checkpoint: { every: 3, keep: 1 }
})

const Mean = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
/** A long run as the rule sees it: rewards in stretches of 5 steps, validated every `every` steps. */
const Run = Schema.Struct({
  stretches: Schema.Array(Mean).check(Schema.isMinLength(6), Schema.isMaxLength(6)),
  validations: Schema.Array(Mean).check(Schema.isMinLength(30), Schema.isMaxLength(30)),
  every: Schema.Literals([1, 3, 7]),
  select: Schema.Literals(["last", "best", "before-collapse"]),
  keep: Schema.Literals([1, 2])
})

/** The states of such a run when the checkpoint of each step is due. */
const statesOf = ({ every, keep, select, stretches, validations }: typeof Run.Type) => {
  const rewards = stretches.flatMap((mean) => Array<number>(5).fill(mean))
  const settings = { ...validating({ every, select }), checkpoint: { every: 1, keep } }
  let state: RunState.RunState = {
    ...RunState.unstarted,
    checkpoints: [{ step: 0, checkpoint: { uri: "0", hash: "" } }]
  }
  const states = rewards.map((mean, index) => {
    const step = index + 1
    state = {
      ...state,
      step,
      rewardTrend: Collapse.observe(state.rewardTrend, { step, mean }),
      validations:
        step % every === 0
          ? [
              ...state.validations,
              { step, instruction: RunState.instructionId(0), mean: validations[index] ?? 0, questions: 1 }
            ]
          : state.validations
    }
    const stale = Selection.stale(settings, state)
    state = {
      ...state,
      checkpoints: [
        ...state.checkpoints.filter((one) => !stale.includes(one)),
        { step, checkpoint: { uri: `${step}`, hash: "" } }
      ]
    }
    return state
  })
  return { settings, states }
}

describe("Selection", () => {
  it.prop(
    "the checkpoint of the policy to return is there at every moment, even if all rewards fail from then on",
    [Run],
    ([run]) => {
      const { settings, states } = statesOf(run)
      for (const state of states) {
        const saved = state.checkpoints.map(({ step }) => step)
        const failing = Arr.makeBy(12, (index) => ({ step: state.step + 1 + index, mean: 0 })).reduce(
          (rewardTrend, reward) => Collapse.observe(rewardTrend, reward),
          state.rewardTrend
        )
        assert.include(saved, Selection.selected(settings, state).step)
        assert.include(saved, Selection.selected(settings, { ...state, rewardTrend: failing }).step)
      }
    }
  )

  it.prop("best: no validated policy scores higher, and no later one as high", [Run], ([run]) => {
    const { settings, states } = statesOf({ ...run, select: "best" })
    for (const state of states) {
      const { rule, step } = Selection.selected(settings, state)
      const chosen = state.validations.find((one) => one.step === step)
      assert.strictEqual(rule, state.validations.length === 0 ? "last" : "best")
      for (const other of state.validations)
        assert.isTrue(other.mean < (chosen?.mean ?? 0) || (other.mean === chosen?.mean && other.step <= step))
    }
  })

  it("before-collapse: the last validated policy up to the best window, else the first policy", () => {
    const run = {
      stretches: [1, 1, 0, 0, 0, 0],
      validations: Array<number>(30).fill(1),
      select: "before-collapse",
      keep: 1
    } as const
    const chosen = ([1, 3, 7] as const).map((every) => {
      const { settings, states } = statesOf({ ...run, every })
      return Selection.selected(settings, states.at(-1) ?? RunState.unstarted).step
    })
    // The best 10 steps end at step 10.
    assert.deepStrictEqual(chosen, [10, 9, 7])
    const steady = statesOf({ ...run, stretches: [1, 1, 1, 1, 1, 1], every: 3 })
    assert.deepStrictEqual(Selection.selected(steady.settings, steady.states.at(-1) ?? RunState.unstarted), {
      step: 30,
      rule: "last"
    })
  })

  it.effect("validates every so many steps and after the last, before pruning, and books it as evaluation", () =>
    Effect.gen(function* () {
      const { events, state } = yield* history(validating({ select: "best" }))
      const validated = of(events, "Validated")
      assert.deepStrictEqual(
        validated.map(({ step }) => step),
        [2, 4, 6, 8, 9]
      )
      for (const event of validated)
        assert.strictEqual(events[events.indexOf(event) - 1]?._tag, "StepTrained", `step ${event.step}`)
      const answered = validated.reduce((sum, { groups }) => sum + groups.length, 0)
      assert.strictEqual(answered, 10)
      assert.strictEqual(
        state.spent.rollouts.evaluation,
        answered + state.evaluations.reduce((sum, { groups }) => sum + groups.length, 0)
      )
    })
  )

  it.effect("keeps the checkpoint of every validated step that may be chosen, whatever checkpoint.every says", () =>
    Effect.gen(function* () {
      const settings = validating({ select: "best" })
      const { events, kept, state } = yield* history(settings)
      assert.includeMembers(
        of(events, "CheckpointSaved").map(({ step }) => step),
        [0, 2, 3, 4, 6, 8, 9]
      )
      assert.include(kept.at(-1) ?? [], Selection.selected(settings, state).step)
    })
  )

  it.effect("changes nothing about a run but its own rollouts", () =>
    Effect.gen(function* () {
      const apart = (events: ReadonlyArray<RunEvent>) =>
        events.filter(({ _tag }) => !["RunStarted", "Validated", "CheckpointSaved"].includes(_tag))
      const plain = yield* history(algorithm)
      const validated = yield* history(validating({}))
      assert.deepStrictEqual(apart(validated.events), apart(plain.events))
    })
  )
})
