import { assert, describe, it } from "@effect/vitest"
import {
  EventLog,
  fold,
  makeDecisionContext,
  next,
  Strategies,
  type Algorithm,
  type RunEvent,
  RunState,
  type DecisionContext,
  StateHash
} from "@inspo/coevolution"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Verification } from "@inspo/verification"
import { Effect, Layer } from "effect"
import { algorithm, comparing, make, runOn, sharing } from "./support/ScriptedRun.ts"

const recorded = (settings: Algorithm) =>
  Effect.gen(function* () {
    const journal = yield* Journal
    yield* runOn(settings, Layer.succeed(Journal, journal))
    const { data } = yield* make(settings)
    return {
      entries: yield* EventLog.readEntries(journal),
      context: makeDecisionContext(Strategies.deciding(settings), data)
    }
  }).pipe(Effect.provide(layerMemory, { local: true }))

const asked = (): never => assert.fail("a fold of events asked a strategy")

const identity = { name: "unasked", parameters: {} }

/** Decides nothing, and keeps the statistics of a run. */
const unasked = ({ buffer, valuation }: Strategies.Strategies): Strategies.Strategies => ({
  valuation: { ...valuation, identity, values: asked, best: asked },
  sampler: { identity, probabilities: asked, assign: asked },
  removal: { identity, prune: asked, parents: asked },
  admission: { identity, bounds: asked, replaced: asked },
  buffer: { ...buffer, identity, failures: asked, verificationQuestions: asked },
  verification: { identity, plan: asked, judge: asked, needsRound: asked, refill: asked },
  estimator: { identity, ofBatch: asked },
  surrogate: { identity, weights: asked, clip: null }
})

const runs: ReadonlyArray<readonly [string, Algorithm]> = [
  ["as the paper has it", { ...algorithm, selection: { ...algorithm.selection, baseline: "stored" } }],
  ["with instructions on the same questions", comparing],
  ["with shared samples and validation", { ...sharing, evaluation: { ...sharing.evaluation, every: 3 } }],
  ["with permuted credit", { ...algorithm, control: { ...algorithm.control, permuteCredit: true } }],
  ["with few checkpoints", { ...algorithm, checkpoint: { every: 1, keep: 1 } }]
]

/** A strategy that lets no candidate in who is as good as its parent, and takes the worst for parents. */
const otherwise = ({ strategies, ...context }: DecisionContext): DecisionContext => ({
  ...context,
  strategies: {
    ...strategies,
    removal: {
      ...strategies.removal,
      parents: (population, values) =>
        strategies.removal.parents(
          population,
          values.map(({ id, value }) => ({ id, value: -value }))
        )
    },
    verification: { ...strategies.verification, judge: Verification.untried({ rounds: 1, fill: true }).judge }
  }
})

describe("the fold of a recorded run", () => {
  it.effect.each(runs)("asks no strategy for a decision, so that no other rule rewrites it: %s", ([, settings]) =>
    Effect.gen(function* () {
      const { entries, context } = yield* recorded(settings)
      const events = entries.map(({ event }) => event)
      for (const other of [{ ...context, strategies: unasked(context.strategies) }, otherwise(context)]) {
        const folded = fold(other, events)
        assert.strictEqual(folded.phase._tag, "Finished")
        assert.strictEqual(yield* StateHash.of(folded), entries.at(-1)?.state)
      }
    })
  )

  it.effect("credits whom the plan of a step names", () =>
    Effect.gen(function* () {
      const { entries, context } = yield* recorded({
        ...algorithm,
        control: { ...algorithm.control, permuteCredit: true }
      })
      const events = entries.map(({ event }) => event)
      let others = 0
      let plan: Extract<RunEvent, { readonly _tag: "StepPlanned" }> | undefined
      for (const [place, event] of events.entries()) {
        if (event._tag === "StepPlanned") plan = event
        if (event._tag !== "RolloutsCollected") continue
        const { credit = {} } = plan ?? {}
        for (const { instruction, window } of fold(context, events.slice(0, place + 1)).population.members) {
          const own = event.groups.filter(({ instructionId }) => credit[instructionId] === instruction.id)
          const rewards = own.flatMap((group) => group.rewards)
          const seen = window.find(({ step }) => step === event.step)
          assert.strictEqual(seen?.trajectories ?? 0, rewards.length)
          assert.strictEqual(seen?.mean ?? 0, rewards.reduce((sum, reward) => sum + reward, 0) / (rewards.length || 1))
          if (own.some(({ instructionId }) => instructionId !== instruction.id)) others++
        }
      }
      assert.isAbove(others, 0)
    })
  )

  it.effect("decides otherwise from the next event on, under another rule", () =>
    Effect.gen(function* () {
      const { entries, context } = yield* recorded(algorithm)
      const events = entries.map(({ event }) => event)
      const decided = (tag: RunEvent["_tag"]) => {
        const place = events.findIndex(({ _tag }) => _tag === tag)
        const state = fold(context, events.slice(0, place))
        const other = RunState.isRunning(state) ? next(otherwise(context), state) : null
        assert.notDeepEqual<unknown>(other, { _tag: "Record", event: events[place] }, tag)
      }
      decided("ParentsChosen")
      decided("CandidatesJudged")
    })
  )
})
