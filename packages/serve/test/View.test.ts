import { assert, describe, it } from "@effect/vitest"
import { Archive, type Command, create, handle, Settings, type State, Strategies } from "@inspo/cohorts"
import * as View from "@inspo/serve/live/View"
import { Result } from "effect"
import { inMemory } from "../../cohorts/test/support/Archive.ts"
import { changed } from "../../cohorts/test/support/Changed.ts"

const settings = changed(Settings.online(1), {
  sealAfterLeases: 20,
  sealAfterSeconds: null,
  pruneEvery: 0,
  seedShare: 0
})

/** A population of two, of which `isReported` says whose rewards come. */
const after = (cohorts: number, isReported: (key: string, instruction: string) => boolean): State.State => {
  const archive = inMemory()
  let { state } = create(settings, ["Be brief.", "Be kind."])
  const run = (command: Command) => {
    const {
      answer,
      events,
      state: next
    } = Result.getOrThrow(handle(Strategies.ofSettings(settings), state, archive, command))
    for (const event of events) archive.record(event)
    state = next
    return answer
  }
  for (let now = 0; now < cohorts; now++) {
    const requests = Array.from({ length: 20 }, (_, at) => ({
      key: `${now}.${at}`,
      n: 1,
      stratum: "all",
      sticky: null,
      question: null
    }))
    const answer = run({ _tag: "Lease", now, cohort: null, phase: "train", isFullBatch: false, requests })
    const leases = answer._tag === "Leases" ? answer.leases : []
    const rewards = leases.filter(({ instruction, key }) => isReported(key, instruction))
    run({ _tag: "Reward", now, rewards: rewards.map(({ lease }) => ({ lease, sample: null, value: 1 })) })
  }
  return state
}

const shown = (state: State.State) =>
  View.population({ name: "support", spentUsd: 0, capUsd: null, degraded: [], skipped: null }, state)

describe("what is shown of a population", () => {
  it("names the lease that holds back decisions, how long it is waited for, and counts what came after it", () => {
    const { horizonSeconds, members, next, settings } = shown(after(20, (key) => key !== "0.7"))
    assert.include(next, "19 of 20 leases are reported (not 0.7)")
    assert.strictEqual(settings.horizonSeconds, "observed")
    assert.strictEqual(horizonSeconds, 3600)
    assert.strictEqual(
      members.reduce((sum, { estimate }) => sum + estimate.samples, 0),
      20 * 20 - 1
    )
  })

  it("warns where rewards are missing for one instruction more often than for another", () => {
    const state = after(40, (key, instruction) => instruction !== "i1" || Number(key.split(".")[1]) % 2 === 0)
    const settled = Result.getOrThrow(
      handle(Strategies.ofSettings(settings), state, Archive.empty, { _tag: "Tick", now: 10 * 86_400_000 })
    ).state
    assert.match(shown(settled).next, /warning: rewards are missing for \d+ % of the samples of i1 and for 0 % of i0/u)
    assert.notInclude(shown(after(20, () => true)).next, "warning")
  })
})
