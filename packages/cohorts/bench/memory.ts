/**
 * Folds the events of ten million leases in memory and tells what it takes: the state holds open cohorts alone, so the heap
 * stays flat.
 *
 *     node --expose-gc packages/cohorts/bench/memory.ts [leases]
 */
import { apply, create, handle, type PopulationEvent, Settings, State, Strategies } from "@inspo/cohorts"
import * as Archive from "../src/Archive.ts"
import { Console, Effect, Result } from "effect"

const [total = "10000000"] = process.argv.slice(2)
const leases = Number(total)
const batch = 500
const cohorts = leases / batch
const tellEvery = Math.max(1, Math.floor(cohorts / 10))

const settings: Settings.Settings = {
  ...Settings.online(1),
  sealAfterLeases: batch,
  sealAfterSeconds: null,
  schedule: { ...Settings.online(1).schedule, evolveEvery: 0 }
}
const created = create(settings, ["the seed", "a variant", "another"])

/** What happens in one cohort, rewards one by one as from so many clients. */
const one = (): ReadonlyArray<PopulationEvent> => {
  const strategies = Strategies.ofSettings(settings)
  const requests = Array.from({ length: batch }, (_, place) => ({
    key: `${place}`,
    n: 1,
    stratum: "all",
    sticky: null,
    question: null,
    instructions: 1
  }))
  const leased = Result.getOrThrow(
    handle(strategies, created.state, Archive.empty, {
      _tag: "Lease",
      now: 1,
      cohort: null,
      phase: "train",
      isFullBatch: false,
      requests
    })
  )
  const events = [...leased.events]
  let { state } = leased
  for (const { key } of requests) {
    const rewards = [{ lease: State.leaseId(0, "auto/train/1", key), sample: null, value: Number(key) % 2 }]
    const rewarded = Result.getOrThrow(handle(strategies, state, Archive.empty, { _tag: "Reward", now: 2, rewards }))
    events.push(...rewarded.events)
    state = rewarded.state
  }
  return events
}

/** The same in the cohort of another index, with leases of its own. */
const moved = (event: PopulationEvent, index: number): PopulationEvent => {
  const cohort = `auto/train/${index}`
  switch (event._tag) {
    case "CohortOpened":
    case "Closed":
      return { ...event, cohort, index }
    case "Leased":
      return { ...event, cohort, leases: event.leases.map((lease) => ({ ...lease, lease: `0/${index}/${lease.key}` })) }
    case "Rewarded":
    case "Sealed":
    case "Settled":
      return { ...event, cohort }
    default:
      return event
  }
}

const heap = (): number => {
  globalThis.gc?.()
  return Math.round(process.memoryUsage().heapUsed / 1e5) / 10
}

const fold = Effect.fnUntraced(function* (events: ReadonlyArray<PopulationEvent>) {
  let { state } = created
  for (let index = 1; index <= cohorts; index++) {
    for (const event of events) state = apply(state, moved(event, index))
    if (index % tellEvery === 0)
      yield* Console.log(
        `${String(index * batch).padStart(10)} leases, ${String(state.cohorts.length)} open cohorts, heap ${heap()} MB, ` +
          `${Math.round(process.uptime())} s`
      )
  }
})

await Effect.runPromise(fold(one()))
