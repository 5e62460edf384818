import { assert, describe, it } from "@effect/vitest"
import { EventLog, type Algorithm } from "@inspo/coevolution"
import { join, local } from "@inspo/config"
import { Trajectory } from "@inspo/domain"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Effect, Hash, Layer, Schema } from "effect"
import * as Scripted from "../../../../packages/coevolution/test/support/ScriptedRun.ts"
import { SearchError } from "../../../../packages/retrieval/src/Search.ts"
import { countModes, index, instructionText, isFailure, select } from "../../src/projection/Trajectories.ts"
import * as RunRecord from "../../src/RunRecord.ts"
import { TrajectoryQuery } from "../../src/view/TrajectoryView.ts"
import { config, events } from "../support/Log.ts"

const record = RunRecord.observe(RunRecord.empty(config), events)
const all = index(record.batches)
const known = { diagnoses: new Map(), text: () => undefined }
const Query = Schema.Struct({
  ...TrajectoryQuery.fields,
  instruction: Schema.optionalKey(Schema.Literals(["i0", "i1", "i7", "none"])),
  source: Schema.optionalKey(Schema.Literals(["dry run", "none"])),
  text: Schema.optionalKey(Schema.Literals(["q1", "Q2", "", "none"])),
  fromStep: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 }))),
  toStep: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 })))
})

const Step = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 21 }))

const failing: Algorithm = {
  ...Scripted.algorithm,
  rollout: { ...Scripted.algorithm.rollout, agent: { name: "search-r1-exact" } }
}

/** A small run, its search failing for `percent` of 100 queries: its record and the trajectories its journal holds. */
const played = (settings: Algorithm, percent = 0) =>
  Effect.gen(function* () {
    const journal = yield* Journal
    let calls = 0
    yield* Scripted.runOn(settings, Layer.succeed(Journal, journal), undefined, {
      maxFailedShare: 1,
      meddle: (search) => ({
        search: (queries, topK) => {
          calls++
          return queries.some((query) => (Hash.string(`${calls} ${query}`) >>> 0) % 100 < percent)
            ? Effect.fail(new SearchError({ operation: "search", reason: "it is down" }))
            : search.search(queries, topK)
        }
      })
    })
    const stored = yield* Effect.forEach(yield* journal.listRecords("trajectory"), ({ value }) =>
      Schema.decodeUnknownEffect(Trajectory.Trajectory)(value)
    )
    const record = RunRecord.observe(RunRecord.empty(join(settings, local)), yield* EventLog.read(journal))
    return { record, rows: index(record.batches).rows, stored: new Map(stored.map((one) => [one.id, one])) }
  }).pipe(Effect.provide(layerMemory, { local: true }))

describe("trajectories", () => {
  it.effect.each([
    { name: "with candidates verified in rounds", settings: Scripted.algorithm, percent: 0 },
    { name: "with instructions on the same questions", settings: Scripted.comparing, percent: 0 },
    { name: "with shared samples", settings: Scripted.sharing, percent: 0 },
    { name: "with a search that fails", settings: failing, percent: 10 }
  ])("$name are those of the journal, each once, as they are stored", ({ percent, settings }) =>
    Effect.gen(function* () {
      const { record, rows, stored } = yield* played(settings, percent)
      const listed = new Map(rows.map((row) => [row.id, row]))
      assert.strictEqual(listed.size, rows.length)
      for (const [id, row] of listed) {
        const trajectory = stored.get(id)
        assert.isDefined(trajectory, id)
        assert.strictEqual(row.reward, trajectory?.reward, id)
        if (row.outcome === "failed") continue
        assert.strictEqual(row.question, trajectory?.questionId, id)
        assert.strictEqual(row.instruction, trajectory?.instructionId, id)
        assert.strictEqual(row.toolCalls ?? trajectory?.toolCalls, trajectory?.toolCalls, id)
        const text =
          row.instruction === null ? null : instructionText(record.lives, record.state.instructions, row.instruction)
        assert.isNotNull(text, id)
      }
      // What was rolled out on a question that failed for another arm has no score.
      const unlisted = [...stored.values()].filter(({ id }) => !listed.has(id))
      assert.strictEqual(unlisted.length > 0, percent > 0)
      assert.isTrue(unlisted.every(({ id }) => id.startsWith("verify/")))
    })
  )

  it.prop("between two steps include both ends", [Step, Step], ([fromStep, toStep]) => {
    assert.deepStrictEqual(
      select(all, { fromStep, toStep, order: "oldest" }, known),
      all.rows.filter(({ step }) => step >= fromStep && step <= toStep)
    )
  })

  it("are those of the events", () => {
    const { rollouts } = record.state.spent
    const count = (...purposes: ReadonlyArray<string>) =>
      all.rows.filter((row) => purposes.includes(row.purpose)).length
    assert.isAbove(rollouts.verification, 0)
    assert.strictEqual(count("verify"), rollouts.verification)
    assert.strictEqual(
      count("train", "validate", "evaluate"),
      record.batches.reduce(
        (sum, batch) =>
          sum +
          (batch.purpose === "verify" ? 0 : batch.groups.reduce((own, group) => own + group.trajectories.length, 0)),
        0
      )
    )
  })

  it.prop("of a query are those of the list that match each of its filters", [Query], ([query]) => {
    const { order, ...conditions } = query
    const found = new Set(select(all, query, known))
    const expected = Object.entries(conditions).reduce(
      (rows, [field, value]) => {
        const meeting = new Set(select(all, { [field]: value }, known))
        return rows.filter((row) => meeting.has(row))
      },
      [...all.rows]
    )
    assert.deepStrictEqual(
      all.rows.filter((row) => found.has(row)),
      expected
    )
    const ordered = select(all, query, known)
    for (const [place, row] of ordered.entries()) {
      const before = ordered[place - 1]
      if (before === undefined) continue
      if (order === undefined || order === "newest") assert.isAtLeast(before.step, row.step)
      if (order === "oldest") assert.isAtMost(before.step, row.step)
      if (order === "longest") assert.isAtLeast(before.responseTokens ?? -1, row.responseTokens ?? -1)
      if (order === "calls") assert.isAtLeast(before.toolCalls ?? -1, row.toolCalls ?? -1)
    }
  })

  it("are complete over all pages", () => {
    const before = all.rows.map(({ id }) => id)
    for (const order of ["newest", "longest", "calls"] as const) select(all, { order }, known)
    assert.deepStrictEqual(
      all.rows.map(({ id }) => id),
      before
    )
  })

  it("are counted once for each of their failure modes", () => {
    // The synthetic log names trajectories by their question alone.
    const named = {
      ...all,
      rows: all.rows.map((row, place) => ({ ...row, id: Trajectory.TrajectoryId.make(`t${place}`) }))
    }
    const failures = named.rows.filter(isFailure)
    const diagnoses = new Map(
      failures.map(({ id }, place) => [
        id,
        { modes: place % 2 === 0 ? ["no-search" as const] : [], toolCalls: 0, responseTokens: 0 }
      ])
    )
    const shown = failures.filter(({ id }) => diagnoses.get(id)?.modes.length === 1).length
    assert.deepStrictEqual(countModes(failures, diagnoses), [{ mode: "no-search", count: shown }])
    assert.strictEqual(select(named, { mode: "no-search" }, { ...known, diagnoses }).length, shown)
  })
})
