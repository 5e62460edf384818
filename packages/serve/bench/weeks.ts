/**
 * Weeks of ten populations in minutes, with load by day and night, rewards hours later and leases that are dropped after three
 * days: what the process holds, compiled code left out, and the journals grow by for each lease. Exits with 1 where memory grows, or where a log does not
 * lead to the same decisions again.
 *
 *     node --expose-gc packages/serve/bench/weeks.ts [LEASES] [DAYS]
 */
import { mkdtempSync, readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { Replay } from "@inspo/cohorts"
import { Journal } from "@inspo/journal"
import * as sqlite from "@inspo/journal/sqlite"
import { Console, Context, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import * as Loading from "../src/store/Loading.ts"
import type { StoredEvent } from "../src/store/internal/Stored.ts"
import * as Weeks from "../test/support/Weeks.ts"

const [total = "300000", length = "21"] = process.argv.slice(2)
const populations = 10
/** Bytes that a lease may add to the heap. */
const limit = 8

setFlagsFromString("--expose-gc")
const collect: unknown = runInNewContext("gc")

/** What the process holds, without compiled code, which grows as long as the engine learns what is hot. */
const heap = (): number => {
  if (typeof collect === "function") collect()
  return getHeapSpaceStatistics().reduce(
    (sum, { space_name, space_used_size }) => (/code|trusted/u.test(space_name) ? sum : sum + space_used_size),
    0
  )
}

const folder = mkdtempSync(join(tmpdir(), "inspo-weeks-"))

const bytes = (): number => readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)

/** Bytes per lease, by least squares, once caches are full: after a quarter of the time. */
const slope = (samples: ReadonlyArray<readonly [leases: number, heap: number]>): number => {
  const settled = samples.slice(Math.floor(samples.length / 4))
  const mean = (of: 0 | 1) => settled.reduce((sum, sample) => sum + sample[of], 0) / settled.length
  const [leases, held] = [mean(0), mean(1)]
  return (
    settled.reduce((sum, sample) => sum + (sample[0] - leases) * (sample[1] - held), 0) /
    settled.reduce((sum, sample) => sum + (sample[0] - leases) ** 2, 0)
  )
}

const replayOf = (log: ReadonlyArray<StoredEvent>) => Replay.replay(log.map(({ event }) => event))

const samples: Array<readonly [leases: number, heap: number]> = []

const bench = Effect.gen(function* () {
  const { leases, rewards, served } = yield* Weeks.serve({
    populations,
    leases: Number(total),
    days: Number(length),
    retention: 3,
    seed: 1,
    journal: (name) =>
      Effect.map(
        Layer.build(Layer.fresh(sqlite.layer({ file: join(folder, `${name}.sqlite`), mode: "create" }))),
        Context.get(Journal)
      ),
    onDay: (day, leases) => {
      samples.push([leases, heap()])
      const [, held] = samples.at(-1) ?? [0, 0]
      return Console.log(
        `day ${String(day).padStart(3)}  ${String(leases).padStart(8)} leases  heap ${(held / 2 ** 20).toFixed(2)} MB  ` +
          `journals ${(bytes() / 2 ** 20).toFixed(1)} MB  ${process.uptime().toFixed(0)} s`
      )
    }
  })
  const grows = slope(samples)
  const replayed = yield* Effect.forEach(served, ({ journal }) => Effect.map(Loading.events(journal), replayOf))
  const sum = (of: (one: (typeof replayed)[number]) => number) => replayed.reduce((total, one) => total + of(one), 0)
  return {
    grows,
    leases,
    rewards,
    events: sum(({ events }) => events),
    decisions: sum(({ decisions }) => decisions),
    differences: sum(({ difference }) => (difference === null ? 0 : 1))
  }
}).pipe(
  Effect.scoped,
  // Journals that are closed have no log beside them.
  Effect.tap(({ grows, ...told }) => {
    const met = grows <= limit && told.differences === 0
    if (!met) process.exitCode = 1
    return Console.log(
      JSON.stringify({
        bench: "weeks",
        met,
        ...told,
        heapBytesPerLease: grows,
        journalBytesPerLease: bytes() / told.leases,
        seconds: process.uptime()
      })
    )
  }),
  Effect.provide(TestClock.layer()),
  Effect.ensuring(Effect.sync(() => rmSync(folder, { recursive: true, force: true })))
)

await Effect.runPromise(bench)
