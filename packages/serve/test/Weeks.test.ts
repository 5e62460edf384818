import { assert, describe, it } from "@effect/vitest"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Replay } from "@inspo/cohorts"
import { Clock, Context, Effect, Layer, Schema } from "effect"
import * as Loading from "../src/store/Loading.ts"
import { kinds, minute, StoredEvent } from "../src/store/internal/Stored.ts"
import * as Weeks from "./support/Weeks.ts"

const decode = Schema.decodeUnknownSync(StoredEvent)

describe("simulated days of several populations", () => {
  it.effect(
    "evolve, fold every cohort in order and hold none that is over; their journals come to the same states by the same decisions",
    () =>
      Effect.gen(function* () {
        const { leases, rewards, served } = yield* Weeks.serve({
          populations: 3,
          leases: 1500,
          days: 4,
          retention: 1,
          seed: 1,
          journal: () => Effect.map(Layer.build(Layer.fresh(layerMemory)), Context.get(Journal)),
          onDay: () => Effect.void
        })
        assert.isAtLeast(leases, 1500)
        assert.isAbove(rewards, leases / 3)
        for (const { journal, live } of served) {
          const state = yield* live.state
          assert.deepStrictEqual((yield* Loading.state(journal)).learning, state.learning)
          // A day of waiting after six hours of leasing.
          assert.isAtMost(state.cohorts.length, 8)
          const log = (yield* journal.read).map(({ payload }) => decode(payload).event)
          const { decisions, difference } = Replay.replay(log)
          assert.isNull(difference)
          assert.isAbove(decisions, 5)
          // What is over and older than the retention is gone, but for the minutes until it is dropped again.
          const kept = (yield* journal.listRecords(kinds.lease)).map(({ step }) => step)
          const open = Math.min(...state.cohorts.map(({ openedAt }) => openedAt))
          const now = yield* Clock.currentTimeMillis
          assert.isAtLeast(Math.min(...kept), minute(Math.min(now - 24 * 3_600_000, open)) - 20)
          const closed = log.flatMap((event) => (event._tag === "Closed" ? [event.index] : []))
          assert.deepStrictEqual(
            closed,
            closed.map((_, place) => place + 1)
          )
          assert.isAbove(closed.length, 5)
        }
      }).pipe(Effect.scoped),
    60_000
  )
})
