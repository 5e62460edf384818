import { assert, describe, it } from "@effect/vitest"
import { Settings } from "@inspo/cohorts"
import { Rules } from "@inspo/evolution"
import { RemovalLaws, AdmissionLaws } from "@inspo/successive-halving/testing"
import { Effect, Layer, Struct } from "effect"
import { EventLog } from "@inspo/coevolution"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { algorithm, runOn } from "../../packages/coevolution/test/support/ScriptedRun.ts"
import { Server } from "../../packages/cohorts/test/support/Server.ts"

describe.each(Struct.keys(Rules.removals))("the rule %s of the registry", (name) => {
  const led = Rules.removals[name]({ ...Rules.sets.paper, size: 5, parents: 1, risk: 0.9, asks: false })

  for (const { check, name: law } of [...RemovalLaws.laws(led.removal), ...AdmissionLaws.laws(led.admission)])
    it.effect(law, () => check)

  it.effect("prunes in a run", () =>
    Effect.gen(function* () {
      const journal = yield* Journal
      yield* runOn(
        { ...algorithm, selection: { ...algorithm.selection, average: "questions", removal: name, risk: 0.99 } },
        Layer.succeed(Journal, journal)
      )
      const events = yield* EventLog.read(journal)
      const started = events.find((event) => event._tag === "RunStarted")
      assert.strictEqual(started?.strategies.removal.name, led.removal.identity.name)
      assert.isTrue(events.some((event) => event._tag === "Pruned"))
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )

  it("prunes in a served population", () => {
    const settings: Settings.Settings = {
      ...Settings.trainer(1),
      selection: { removal: name, risk: 0.9 },
      schedule: { pruneEvery: 1, evolveEvery: 0, evolveUntil: null }
    }
    const server = new Server(settings, ["the seed", "a variant", "another", "a fourth"])
    for (let index = 1; index <= 12; index++) {
      const cohort = `train/${index}`
      const keys = Array.from({ length: 24 }, (_, key) => `k${key}`)
      const leases = server.lease(index, keys, cohort)
      server.reward(
        index,
        leases.map(({ instruction, lease }) => ({ lease, value: instruction === "i0" ? 1 : 0 }))
      )
      server.do({ _tag: "Close", now: index, cohort, groups: null })
    }
    const pruned = server.log.flatMap((event) => (event._tag === "Pruned" ? event.pruned : []))
    assert.isAbove(pruned.length, 0)
    for (const { id } of pruned) assert.notStrictEqual<string>(id, "i0")
  })
})
