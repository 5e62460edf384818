import { assert, describe, it } from "@effect/vitest"
import { fold, PopulationEvent, Refused, Settings, State } from "@inspo/cohorts"
import { Schema } from "effect"
import * as fc from "fast-check"
import { changed } from "./support/Changed.ts"
import { plain } from "./support/Plain.ts"
import { Server } from "./support/Server.ts"

const online = () =>
  new Server(changed(Settings.online(7), { pruneEvery: 0, evolveEvery: 0 }), ["seed", "better", "other"])

const ask = (
  server: Server,
  now: number,
  requests: ReadonlyArray<{ readonly key: string; readonly sticky?: string; readonly instructions?: number }>
) => {
  const { answer, events } = server.do({
    _tag: "Lease",
    now,
    cohort: null,
    phase: "train",
    isFullBatch: false,
    requests: requests.map(({ instructions = 1, key, sticky = null }) => ({
      key,
      sticky,
      instructions,
      n: 1,
      stratum: "all",
      question: null
    }))
  })
  return { events, leases: answer._tag === "Leases" ? answer.leases : [] }
}

const switchTo = (server: Server, now: number, isSeed: boolean) =>
  server.do({ _tag: "Freeze", now, isFrozen: isSeed, ...(isSeed ? { usesSeed: true as const } : {}) })

const request = fc.record(
  {
    key: fc.integer({ min: 0, max: 25 }).map((key) => `k${key}`),
    sticky: fc.integer({ min: 0, max: 3 }).map((key) => `s${key}`)
  },
  { requiredKeys: ["key"] }
)
const requests = fc.uniqueArray(request, { minLength: 1, maxLength: 8, selector: ({ key }) => key })

describe("the switch to the seed", () => {
  it("gives the seed to every lease at once, also to known keys, conversations and after a restart, and learns nothing from them", () =>
    fc.assert(
      fc.property(
        fc.array(requests, { maxLength: 4 }),
        fc.array(requests, { minLength: 1, maxLength: 6 }),
        fc.boolean(),
        (before, during, restarts) => {
          const server = online()
          const given = before.flatMap((some, now) => ask(server, now, some).leases)
          server.reward(
            9,
            given.filter((_, place) => place % 2 === 0).map(({ lease }) => ({ lease, value: 1 }))
          )
          const { learning } = server.state
          switchTo(server, 10, true)
          for (const [at, some] of during.entries()) {
            if (restarts) server.state = restarted(server)
            const { leases } = ask(server, 11 + at, some)
            assert.deepEqual(
              leases.map(({ instruction, key, probability }) => [key, instruction, probability]),
              some.map(({ key }) => [key, "i0", 1])
            )
            server.reward(
              11 + at,
              leases.map(({ lease }) => ({ lease, value: 0 }))
            )
          }
          assert.deepEqual(server.state.learning, learning)
          assert.strictEqual(State.incumbentOf(server.state).id, "i0")
          server.do({ _tag: "Tick", now: 3 * 86_400_000 })
          const evidence = server.log.flatMap((event) =>
            event._tag === "Closed" ? event.units.flatMap(({ rewards }) => rewards) : []
          )
          assert.isTrue(evidence.every((reward) => reward === 1))
        }
      ),
      { numRuns: 200 }
    ))

  it("gives conversations their instruction again once it is over, and takes the rewards of the work before it", () => {
    const server = online()
    const conversations = Array.from({ length: 30 }, (_, place) => ({ key: `a${place}`, sticky: `s${place}` }))
    const first = ask(server, 0, conversations).leases
    assert.isAbove(new Set(first.map(({ instruction }) => instruction)).size, 1)
    switchTo(server, 1, true)
    const outcomes = server.reward(
      2,
      first.slice(0, 10).map(({ lease }) => ({ lease, value: 1 }))
    )
    assert.deepEqual(new Set(outcomes), new Set(["accepted"]))
    ask(
      server,
      3,
      conversations.map(({ sticky }, place) => ({ key: `b${place}`, sticky }))
    )
    switchTo(server, 4, false)
    const again = ask(
      server,
      5,
      conversations.map(({ sticky }, place) => ({ key: `c${place}`, sticky }))
    ).leases
    assert.deepEqual(
      again.map(({ instruction }) => instruction),
      first.map(({ instruction }) => instruction)
    )
  })

  it("abandons a lease whose key is requested again, so that work under the seed is no evidence on its instruction", () => {
    const server = online()
    const keys = Array.from({ length: 40 }, (_, place) => ({ key: `a${place}` }))
    const other = ask(server, 0, keys).leases.find(({ instruction }) => instruction !== "i0")
    assert.isDefined(other)
    if (other === undefined) return
    switchTo(server, 1, true)
    const [lease] = ask(server, 2, [{ key: other.key }]).leases
    assert.strictEqual(lease?.replaces, other.instruction)
    assert.deepEqual(server.reward(3, [{ lease: other.lease, value: 1 }]), ["duplicate"])
  })

  it("is ended by a resumption alone, and ends cohorts that measured another incumbent", () => {
    const server = online()
    const validate = (now: number, key: string) => {
      const requests = [{ key, sticky: null, instructions: 1, n: 1, stratum: "all", question: null }]
      server.do({ _tag: "Lease", now, cohort: null, phase: "validation", isFullBatch: false, requests })
      return server.state.cohorts.filter(({ phase }) => phase === "validation").map(({ name }) => name)
    }
    const [before] = validate(0, "v")
    switchTo(server, 1, true)
    server.do({ _tag: "Freeze", now: 1, isFrozen: true })
    assert.isTrue(server.state.usesSeed)
    const during = validate(2, "w")
    assert.notInclude(during, before)
    switchTo(server, 3, false)
    assert.deepEqual([server.state.usesSeed, server.state.isFrozen], [false, false])
    assert.notIncludeMembers(validate(4, "x"), during)
  })

  it("is refused to trainers, which name their cohorts", () => {
    const refused = new Server(Settings.trainer(1), ["seed"]).try({
      _tag: "Freeze",
      now: 0,
      isFrozen: true,
      usesSeed: true
    })
    assert.instanceOf(refused, Refused)
  })
})

const encode = Schema.encodeSync(PopulationEvent)
const decode = Schema.decodeUnknownSync(PopulationEvent)

/** The state that a server reads from what it stored. */
const restarted = (server: Server): State.State => {
  const again = fold(server.log.map((event) => decode(JSON.parse(JSON.stringify(encode(event))))))
  assert.deepEqual(plain(again), plain(server.state))
  return again
}
