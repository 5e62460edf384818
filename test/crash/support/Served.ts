/** What a population's journal must hold of what its clients were told. */
import { readFileSync } from "node:fs"
import { Journal, type JournalError } from "@inspo/journal"
import { assert } from "vitest"
import { Effect, type Layer, Schema } from "effect"
import { kinds, StoredEvent, StoredLease, StoredReward } from "../../../packages/serve/src/store/internal/Stored.ts"

/** What a client wrote of what was acknowledged. */
export interface Acknowledged {
  readonly leases: ReadonlyMap<string, string>
  readonly rewards: ReadonlyMap<string, number>
  readonly faults: ReadonlyArray<string>
}

/** Reads the file of a client, which may have been killed within a line. */
export const acknowledged = (file: string): Acknowledged => {
  const lines = readFileSync(file, "utf8")
    .split("\n")
    .slice(0, -1)
    .map((line) => line.split("\t"))
  const of = (what: string) => lines.filter(([word, , , end]) => word === what && end !== undefined)
  return {
    leases: new Map(of("leased").map(([, , id = "", instruction = ""]) => [inJournal(id), instruction])),
    rewards: new Map(of("rewarded").map(([, id = "", value]) => [inJournal(id), Number(value)])),
    faults: lines.filter(([word]) => word === "fault").map((words) => words.join(" "))
  }
}

/** Whether a reward is of the fourth client, which has its number in the last digits. */
const isFlagged = (value: number): boolean => Math.round(value * 1e8) % 100 === 3

/** A lease as its journal calls it: without the population and the code that authenticates it. */
const inJournal = (id: string): string => id.split("/").slice(2).join("/")

/**
 * Nothing acknowledged is lost: each lease is there with its instruction, each reward with its value. Nothing is counted
 * twice: each reward is in the evidence of its cohort once, or told late, or waits in a cohort that is not closed.
 */
export const verify = async (
  journal: Layer.Layer<Journal, JournalError>,
  clients: ReadonlyArray<Acknowledged>
): Promise<{ readonly leases: number; readonly rewards: number; readonly evidence: number; readonly late: number }> => {
  const { leases, log, rewards } = await Effect.runPromise(Effect.provide(contents, journal))
  for (const client of clients) assert.isAbove(client.rewards.size, 0)
  const faults = clients.flatMap((client) => client.faults)
  assert.deepStrictEqual(faults, [])
  const given = new Map(leases.map((lease) => [lease.given.lease, lease.given.instruction]))
  const stored = new Map(rewards.map((reward) => [reward.lease, reward]))
  assert.strictEqual(stored.size, rewards.length)

  const folded = count(
    log.flatMap(({ event }) => (event._tag === "Closed" ? event.units.flatMap((unit) => unit.rewards) : []))
  )
  const late = count(
    log.flatMap(({ event }) => (event._tag === "RewardedLate" ? event.rewards.map(({ value }) => value) : []))
  )
  const closed = new Set(log.flatMap(({ event }) => (event._tag === "Closed" ? [event.cohort] : [])))
  const cohorts = new Map(leases.map((lease) => [lease.given.lease, lease.cohort]))
  for (const [lease, instruction] of merged(clients.map((client) => client.leases)))
    assert.strictEqual(given.get(lease), instruction, `the acknowledged lease ${lease}`)
  for (const [lease, value] of merged(clients.map((client) => client.rewards))) {
    const reward = stored.get(lease)
    assert.strictEqual(reward?.value, value, `the acknowledged reward of ${lease}`)
    // Log records name no cost; that of a late reward is in the log alone.
    const costs = [given.get(lease) === "i1" ? 0.2 : 0.01, ...(isFlagged(value) ? [undefined] : [])]
    if (reward?.isLate === false) assert.include(costs, reward.metrics?.["usd"], `the cost of ${lease}`)
    const expected = reward?.isLate === true ? [0, 1] : [closed.has(cohorts.get(lease) ?? "") ? 1 : 0, 0]
    assert.deepStrictEqual([folded.get(value) ?? 0, late.get(value) ?? 0], expected, `the evidence of ${lease}`)
  }
  assertGuarded({ leases, log, rewards })
  // Also of what nobody was told. Leases that came too late for their client are given back, without a value of their own.
  for (const counts of [folded, late])
    for (const [value, times] of counts)
      if (typeof value === "number") assert.strictEqual(times, 1, `the reward ${value}`)
  return { leases: leases.length, rewards: rewards.length, evidence: folded.size, late: late.size }
}

type Contents = Effect.Success<typeof contents>

/**
 * The one that costs too much was paused once and leased no more in later cohorts, and each number that came in time counts once for its
 * instruction: none was lost with a server.
 */
const assertGuarded = ({ leases, log, rewards }: Contents): void => {
  const events = log.map(({ event }) => event)
  const paused = events.flatMap((event) => (event._tag === "Paused" ? [event.id] : []))
  assert.deepStrictEqual<ReadonlyArray<string>>(paused, ["i1"])
  for (const event of events.slice(events.findIndex(({ _tag }) => _tag === "Paused")))
    if (event._tag === "CohortOpened")
      for (const { id, probability } of event.shares) assert.isTrue(id !== "i1" || probability === 0)
  const given = new Map(leases.map((lease) => [lease.given.lease, lease]))
  for (const event of events) {
    if (event._tag !== "Closed") continue
    const counted = Object.entries(event.numbers ?? {}).flatMap(([id, tallies]) =>
      Object.entries(tallies).map(([guardrail, { count }]) => `${id} ${guardrail} ${count}`)
    )
    const own = rewards.filter(({ isLate, lease }) => !isLate && given.get(lease)?.cohort === event.cohort)
    const expected = count(
      own.flatMap(({ lease, metrics = {} }) =>
        Object.keys(metrics).map(
          (name) => `${given.get(lease)?.given.instruction} ${name === "usd" ? "usd=0.05" : "latency.p95=2s"}`
        )
      )
    )
    assert.sameMembers(
      counted,
      [...expected].map(([what, times]) => `${what} ${times}`)
    )
  }
}

const contents = Effect.gen(function* () {
  const journal = yield* Journal
  return {
    log: (yield* journal.read).map(({ payload }) => decodeEvent(payload)),
    leases: (yield* journal.listRecords(kinds.lease)).map(({ value }) => decodeLease(value)),
    rewards: (yield* journal.listRecords(kinds.reward)).map(({ value }) => decodeReward(value))
  }
})

const decodeEvent = Schema.decodeUnknownSync(StoredEvent)
const decodeLease = Schema.decodeUnknownSync(StoredLease)
const decodeReward = Schema.decodeUnknownSync(StoredReward)

const count = <A>(values: ReadonlyArray<A>): Map<A, number> => {
  const counts = new Map<A, number>()
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1)
  return counts
}

const merged = <A>(maps: ReadonlyArray<ReadonlyMap<string, A>>) => maps.flatMap((map) => [...map])
