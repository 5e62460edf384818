import { assert, describe, it } from "@effect/vitest"
import { EventLog, type Algorithm, type RunEvent } from "@inspo/coevolution"
import { Trajectory } from "@inspo/domain"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { type Search, SearchError } from "@inspo/retrieval"
import { Effect, Hash, Layer, Schema } from "effect"
import { algorithm as base, runOn } from "./support/ScriptedRun.ts"

/** With the agent `search-r1-exact` equal queries are calls of their own, so that members of a group fail by themselves. */
const algorithm: Algorithm = {
  ...base,
  rollout: { ...base.rollout, groupSize: 3, agent: { name: "search-r1-exact" } }
}

/** A search that is down in `percent` of 100 calls for a query. */
const flaky =
  (percent: number) =>
  (search: Search.Interface): Search.Interface => {
    let calls = 0
    return {
      search: (queries, topK) => {
        calls++
        return queries.some((query) => (Hash.string(`${query} ${calls}`) >>> 0) % 100 < percent)
          ? Effect.fail(new SearchError({ operation: "search", reason: "it is down" }))
          : search.search(queries, topK)
      }
    }
  }

const history = (settings: Algorithm, meddle: (search: Search.Interface) => Search.Interface) =>
  Effect.gen(function* () {
    const journal = yield* Journal
    const state = yield* runOn(settings, Layer.succeed(Journal, journal), undefined, { meddle, maxFailedShare: 1 })
    const records = yield* journal.listRecords("trajectory")
    const trajectories = yield* Effect.forEach(records, ({ value }) =>
      Schema.decodeUnknownEffect(Trajectory.Trajectory)(value)
    )
    return { events: yield* EventLog.read(journal), state, trajectories }
  }).pipe(Effect.provide(layerMemory, { local: true }))

const failedIn = (event: RunEvent): ReadonlyArray<Trajectory.TrajectoryId> =>
  "failed" in event ? (event.failed?.trajectories ?? []) : []

describe("A run whose retriever fails", () => {
  it.effect.each([0, 10, 80])(
    "in %i of 100 calls goes on to its end, keeps failed trajectories out of credit, training and memory, and counts each",
    (percent) =>
      Effect.gen(function* () {
        const { events, state, trajectories } = yield* history(algorithm, flaky(percent))
        assert.strictEqual(events.at(-1)?._tag, "RunFinished")
        const failed = new Set(trajectories.filter(Trajectory.isFailed).map(({ id }) => id))
        assert.strictEqual(failed.size > 0, percent > 0)
        assert.deepStrictEqual(new Set(events.flatMap(failedIn)), failed)
        assert.strictEqual(events.flatMap(failedIn).length, failed.size)
        const groups = events.flatMap((event) => ("groups" in event ? event.groups : []))
        for (const group of groups) {
          assert.isTrue(group.trajectories.every((id) => !failed.has(id)))
          assert.strictEqual(group.rewards.length, group.trajectories.length)
        }
        const sizes = new Set(
          events.flatMap((event) =>
            event._tag === "RolloutsCollected" ? event.groups.map(({ rewards }) => rewards.length) : []
          )
        )
        if (percent === 80) assert.includeMembers([...sizes], [1, 2])
        assert.isTrue(state.buffer.experiences.every(({ trajectoryId }) => !failed.has(trajectoryId)))
        const { evaluation, train, verification } = state.failed
        assert.strictEqual(train + verification + evaluation, failed.size)
        const degraded = state.degraded.filter(({ part }) => part !== "candidates")
        assert.strictEqual(
          degraded.reduce((total, { count }) => total + count, 0),
          failed.size
        )
        const reasons = new Set(trajectories.map(({ failure }) => failure))
        assert.isTrue(degraded.every(({ message }) => reasons.has(message)))
        assert.strictEqual(
          state.spent.rollouts.train,
          algorithm.schedule.steps * algorithm.train.batchSize * algorithm.rollout.groupSize
        )
        const all = trajectories.reduce((sum, one) => sum + one.promptTokens + one.responseTokens, 0)
        const { tokens } = state.spent
        assert.strictEqual(tokens.train + tokens.verification + tokens.evaluation, all)
      })
  )

  it.effect("verifies candidates and parent on the questions that failed for none of them", () =>
    Effect.gen(function* () {
      const { events } = yield* history(algorithm, flaky(15))
      let partly = 0
      for (const event of events) {
        if (event._tag !== "CandidatesVerified") continue
        const { candidates, failed, parent, questions, rollouts } = event
        for (const scores of [...candidates, ...(parent === null ? [] : [parent])])
          assert.strictEqual(scores.length, questions.length)
        if (failed !== undefined && questions.length > 0) partly++
        const arms = candidates.length + (parent === null ? 0 : 1)
        assert.isAtLeast(rollouts, arms * questions.length + (failed?.trajectories.length ?? 0))
      }
      assert.isAbove(partly, 0)
    })
  )

  it.effect("that is down all the time trains nothing and credits nothing", () =>
    Effect.gen(function* () {
      const { events, state } = yield* history(algorithm, flaky(100))
      assert.isTrue(state.population.members.every(({ value }) => value === null))
      assert.isTrue(events.every((event) => event._tag !== "StepTrained" || event.metrics.length === 0))
    })
  )

  it.effect("stops before it learns from too few survivors, and resumes as if nothing had happened", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      const layer = Layer.succeed(Journal, journal)
      const error = yield* Effect.flip(runOn(algorithm, layer, undefined, { meddle: flaky(80) }))
      assert.strictEqual(error._tag, "TooManyFailures")
      const events = yield* EventLog.read(journal)
      assert.isFalse(events.some(({ _tag }) => _tag === "RolloutsCollected"))
      assert.isAbove((yield* journal.listRecords("trajectory")).length, 0)
      const resumed = yield* runOn(algorithm, layer)
      assert.deepStrictEqual(resumed, (yield* history(algorithm, (search) => search)).state)
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )

  it.effect("stops in its first step if no prompt fits", () =>
    Effect.gen(function* () {
      const short = { ...base, rollout: { ...base.rollout, maxPromptTokens: 10 } }
      const error = yield* Effect.flip(runOn(short, layerMemory))
      assert.include(error, { _tag: "NothingWritten", maxPromptTokens: 10 })
    })
  )

  it.effect("leaves no trace in the events when nothing fails", () =>
    Effect.gen(function* () {
      const { events } = yield* history(algorithm, (search) => search)
      assert.isFalse(JSON.stringify(events).includes('"failed"'))
    })
  )
})
