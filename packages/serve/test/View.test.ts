import { assert, describe, it } from "@effect/vitest"
import { Archive, type Command, create, handle, Settings, type State, Strategies } from "@inspo/cohorts"
import { Question } from "@inspo/domain"
import { View } from "@inspo/serve"
import { Result } from "effect"
import { inMemory } from "../../cohorts/test/support/Archive.ts"
import { changed } from "../../cohorts/test/support/Changed.ts"

const base = changed(Settings.online(1), {
  sealAfterLeases: 20,
  sealAfterSeconds: null,
  pruneEvery: 0,
  seedShare: 0
})

/** A population of two, of which `isReported` says whose rewards come. */
const after = (
  cohorts: number,
  isReported: (key: string, instruction: string) => boolean,
  valueOf: (instruction: string, at: number) => number = () => 1,
  units = 20,
  question: Question.QuestionId | null = null
): State.State => {
  const settings = changed(base, { sealAfterLeases: units })
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
    const requests = Array.from({ length: units }, (_, at) => ({
      key: `${now}.${at}`,
      n: 1,
      stratum: "all",
      sticky: null,
      question,
      instructions: 1
    }))
    const answer = run({ _tag: "Lease", now, cohort: null, phase: "train", isFullBatch: false, requests })
    const leases = answer._tag === "Leases" ? answer.leases : []
    const rewards = leases.filter(({ instruction, key }) => isReported(key, instruction))
    run({
      _tag: "Reward",
      now,
      rewards: rewards.map(({ instruction, lease }, at) => ({ lease, sample: null, value: valueOf(instruction, at) }))
    })
  }
  return state
}

const shown = (state: State.State) =>
  View.population(
    Strategies.ofSettings,
    { name: "support", spentUsd: 0, capUsd: null, degraded: [], skipped: null },
    state
  )

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

  it("has the probability of each member to be the best, the difference to the seed, and what it takes to know it", () => {
    const state = after(
      2,
      () => true,
      (instruction, at) => (instruction === "i1" ? (at % 5 < 4 ? 1 : 0) : at % 2)
    )
    const { ahead, members, next } = shown(state)
    assert.strictEqual(ahead?.id, "i1")
    assert.approximately(
      members.reduce((sum, { chance }) => sum + chance, 0),
      1,
      1e-9
    )
    const [seed, variant] = members
    assert.isNull(seed?.toSeed)
    const { high = 0, low = 0, mean = 0 } = variant?.toSeed ?? {}
    assert.isTrue(low < mean && mean < high && low < 0.3 && high > 0.3)
    assert.match(next, /about \d+ more rewards until i1 is known to be better than the seed/u)
    const known = shown(
      after(
        60,
        () => true,
        (instruction, at) => (instruction === "i1" ? 1 : at % 2)
      )
    )
    assert.deepStrictEqual([known.incumbent, known.ahead], ["i1", null])
  })

  it("states that cohorts of one instruction were compared with their neighbours, and that questions are repeated", () => {
    const apart = shown(after(12, () => true, undefined, 1))
    assert.isAbove(apart.acrossCohorts, 0)
    assert.match(apart.next, /compared with their neighbours, which assumes that the policy hardly changes/u)
    const together = shown(after(12, () => true))
    assert.deepStrictEqual([together.acrossCohorts, together.repeatedQuestions], [0, false])
    const repeated = shown(after(2, () => true, undefined, 20, Question.QuestionId.make("q")))
    assert.isTrue(repeated.repeatedQuestions)
    assert.include(repeated.next, "the risk is not guaranteed")
  })

  it("warns if rewards are missing for one instruction more often than for another", () => {
    const state = after(40, (key, instruction) => instruction !== "i1" || Number(key.split(".")[1]) % 2 === 0)
    const settled = Result.getOrThrow(
      handle(Strategies.ofSettings(base), state, Archive.empty, { _tag: "Tick", now: 10 * 86_400_000 })
    ).state
    assert.match(shown(settled).next, /warning: rewards are missing for \d+ % of the samples of i1 and for 0 % of i0/u)
    assert.notInclude(shown(after(20, () => true)).next, "warning")
  })
})
