import { assert, describe, it } from "@effect/vitest"
import { Projection } from "@inspo/analysis"
import { EventLog } from "@inspo/coevolution"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { SearchError } from "@inspo/retrieval"
import { Effect, Layer } from "effect"
import { algorithm, historyOf, runOn } from "../../coevolution/test/support/ScriptedRun.ts"

describe("Projection", () => {
  it.effect("metrics: one row per step, probabilities summing to 1", () =>
    Effect.gen(function* () {
      const { events } = yield* historyOf(algorithm)
      const rows = Projection.metrics({ algorithm }, events)
      assert.deepStrictEqual(
        rows.map(({ step }) => step),
        Array.from({ length: algorithm.schedule.steps }, (_, i) => i + 1)
      )
      for (const row of rows) {
        const total = Object.entries(row).reduce((sum, [key, p]) => (key.startsWith("inspo/prob/") ? sum + p : sum), 0)
        assert.approximately(total, 1, 1e-9)
      }
    })
  )

  it.effect.each([{ baseline: "stored" }, { baseline: "rerun" }] as const)(
    "candidates: what each verdict compared, with the parent's mean $baseline",
    (changes) =>
      Effect.gen(function* () {
        const { events } = yield* historyOf({
          ...algorithm,
          selection: { ...algorithm.selection, ...changes }
        })
        let texts: ReadonlyArray<string> = []
        const verdicts = events.flatMap((event) => {
          if (event._tag === "CandidatesProposed") texts = event.candidates.map(({ text }) => text)
          if (event._tag !== "CandidatesJudged") return []
          return event.verdicts.map(({ mean, parentMean, questions }, index) => ({
            text: texts[index] ?? "",
            verification: { mean, parentMean, questions }
          }))
        })
        assert.isTrue(verdicts.some(({ verification }) => verification.parentMean !== null))
        const records = Projection.candidates(events)
        for (const { text, verification } of verdicts) {
          const { difference = null, ...compared } = records.find((record) => record.text === text)?.verification ?? {}
          assert.deepStrictEqual(compared, verification, text)
          const isRerun = changes.baseline === "rerun" && verification.questions > 1
          assert.strictEqual(difference !== null, isRerun, text)
          if (difference === null) continue
          assert.approximately(difference.mean, verification.mean - (verification.parentMean ?? 0), 1e-12)
          assert.strictEqual(difference.n, verification.questions)
        }
      })
  )

  it.effect("candidates: each text once, and the living are the population", () =>
    Effect.gen(function* () {
      const { events, state } = yield* historyOf(algorithm)
      const records = Projection.candidates(events)
      assert.strictEqual(new Set(records.map(({ text }) => text)).size, records.length)
      assert.sameMembers(
        records.flatMap(({ fate, id }) => (fate === "alive" && id !== null ? [id] : [])),
        state.population.members.map(({ instruction }) => instruction.id)
      )
    })
  )

  it.effect("metrics: no mean of a step in which all rollouts failed", () =>
    Effect.gen(function* () {
      const failing = {
        ...algorithm,
        rollout: { ...algorithm.rollout, groupSize: 3, agent: { name: "search-r1-exact" } as const }
      }
      const journal = yield* Journal
      const down = { search: () => Effect.fail(new SearchError({ operation: "search", reason: "it is down" })) }
      yield* runOn(failing, Layer.succeed(Journal, journal), undefined, { meddle: () => down, maxFailedShare: 1 })
      const rows = Projection.metrics({ algorithm: failing }, yield* EventLog.read(journal))
      assert.strictEqual(rows.length, failing.schedule.steps)
      for (const row of rows) {
        assert.notProperty(row, "reward/mean")
        assert.strictEqual(row["rollouts/failed"], failing.train.batchSize * failing.rollout.groupSize)
      }
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )
})
