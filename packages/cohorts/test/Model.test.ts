/** @module-tag deep */
import { assert, it } from "@effect/vitest"
import {
  type Command,
  fold,
  learnedUpTo,
  type Learning,
  PopulationEvent,
  Refused,
  type RewardOutcome,
  Settings,
  State
} from "@inspo/cohorts"
import { Schema } from "effect"
import * as fc from "fast-check"
import { plain } from "./support/Plain.ts"
import { Server } from "./support/Server.ts"
import { changed } from "./support/Changed.ts"

/** A lease as its client remembers it, with what it was told of each sample. */
interface Remembered {
  readonly branch: number
  readonly cohort: string
  readonly key: string
  readonly n: number
  readonly instruction: string
  readonly isTrain: boolean
  readonly known: Map<number, State.RewardValue>
  /** Whether its unit has its instruction from an earlier cohort, so that it is no evidence here. */
  readonly isCarried: boolean
  /** Its samples but those that were accepted as never used. */
  evidence: number
}

/** What a population should do, told by its log alone: who was leased what, which cohorts take evidence, which branch stands. */
interface Model {
  now: number
  branch: number
  readonly leases: Map<string, Remembered>
  /** Cohorts by branch and name: complete or closed ones take no evidence. */
  readonly complete: Set<string>
  readonly closed: Map<string, { readonly index: number; readonly learning: Learning.Learning | null }>
  /** The branches that stand, with the last index of each that counts. */
  line: Map<number, number>
  /** Rewards answered as accepted, by cohort. */
  readonly accepted: Map<string, Array<State.RewardValue>>
  folded: number
}

class Watched extends Server {
  before = this.state
}

const name = (branch: number, cohort: string): string => JSON.stringify([branch, cohort])

const decodeEvent = Schema.decodeUnknownSync(PopulationEvent)
const encodeEvent = Schema.encodeSync(PopulationEvent)

/** What each event must keep, as it happens. */
const observe = (model: Model, server: Watched, events: ReadonlyArray<PopulationEvent>): void => {
  for (const event of events) {
    switch (event._tag) {
      case "CohortOpened": {
        const { newcomerShare, seedShare } = server.state.settings.sampler
        const total = event.shares.reduce((sum, { probability }) => sum + probability, 0)
        assert.approximately(total, 1, 1e-9)
        if (event.phase === "validation") break
        const share = (id: string) => event.shares.find((one) => one.id === id)?.probability ?? 0
        const isKnown = server.before.learning.incumbent.why === "better than the seed"
        assert.isAtLeast(share("i0"), (isKnown ? seedShare / 4 : seedShare) - 1e-9)
        const newcomers = Object.entries(server.before.learning.stats).filter(([, { isNewcomer }]) => isNewcomer)
        const held = newcomers.reduce((sum, [id]) => sum + share(id), 0)
        assert.isAtMost(held, (typeof newcomerShare === "number" ? newcomerShare : 1) + 1e-9)
        break
      }
      case "Leased":
        for (const { instruction, isCarried = false, key, lease, n, probability } of event.leases) {
          assert.isFalse(model.leases.has(lease), `${lease} is given out once`)
          assert.isTrue(probability > 0 && probability <= 1)
          const cohort = event.cohort
          const isTrain = !cohort.includes("validation")
          model.leases.set(lease, {
            branch: model.branch,
            cohort,
            key,
            n,
            instruction,
            isTrain,
            known: new Map(),
            isCarried,
            evidence: isCarried ? 0 : n
          })
        }
        break
      case "Settled":
        model.complete.add(name(model.branch, event.cohort))
        break
      case "Closed": {
        assert.strictEqual(event.index, model.folded + 1, "cohorts are folded in their order")
        model.folded = event.index
        checkEvidence(model, event)
        model.closed.set(name(model.branch, event.cohort), { index: event.index, learning: null })
        break
      }
      case "ValidationClosed":
        model.closed.set(name(model.branch, event.cohort), { index: 0, learning: null })
        break
      case "Rewound": {
        model.line = new Map(
          [...model.line].map(([branch, upTo]) => [branch, Math.min(upTo, event.learning.population.step)])
        )
        model.branch = event.branch
        model.line.set(event.branch, Infinity)
        model.folded = event.learning.population.step
        break
      }
    }
  }
  if (server.state.learning.due === "Nothing")
    for (const [key, one] of model.closed)
      if (
        one.learning === null &&
        one.index === server.state.learning.population.step &&
        key.startsWith(`[${model.branch},`)
      )
        model.closed.set(key, { ...one, learning: server.state.learning })
}

/** Every lease of a cohort is in its evidence once, with the first rewards that were accepted and no others. */
const checkEvidence = (
  model: Model,
  { cohort, units }: Extract<PopulationEvent, { readonly _tag: "Closed" }>
): void => {
  const leases = [...model.leases.values()].filter((one) => one.branch === model.branch && one.cohort === cohort)
  const told = model.accepted.get(name(model.branch, cohort)) ?? []
  const samples = leases.reduce((sum, { evidence }) => sum + evidence, 0)
  assert.strictEqual(
    units.reduce((sum, { failed = 0, missing, rewards }) => sum + rewards.length + missing + failed, 0),
    samples
  )
  const accepted = told.filter((value) => typeof value === "number")
  const counted = units.flatMap(({ rewards }) => rewards)
  const ascending = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)
  assert.deepEqual(ascending(counted), ascending(accepted))
  for (const instruction of new Set(leases.map((one) => one.instruction)))
    assert.strictEqual(
      units
        .filter((unit) => unit.instruction === instruction)
        .reduce((sum, { failed = 0, missing, rewards }) => sum + rewards.length + missing + failed, 0),
      leases.filter((one) => one.instruction === instruction).reduce((sum, { evidence }) => sum + evidence, 0)
    )
}

/** What the client should be told of a reward. */
const predict = (model: Model, lease: string, sample: number): RewardOutcome => {
  const known = model.leases.get(lease)
  if (known === undefined) return "unknown"
  const place = model.closed.get(name(known.branch, known.cohort))
  const stands =
    known.branch === model.branch ||
    (place !== undefined &&
      place.index > 0 &&
      place.index <= (model.line.get(known.branch) ?? -1) &&
      model.line.has(known.branch))
  if (!stands) return "superseded"
  if (known.known.has(sample)) return "duplicate"
  const settled = model.complete.has(name(known.branch, known.cohort))
  return settled ? "late" : "accepted"
}

const step = (model: Model, server: Watched, command: Command): Refused | undefined => {
  server.before = server.state
  const done = server.try(command)
  if (done instanceof Refused) {
    assert.strictEqual(server.state, server.before)
    return done
  }
  // Rewards are learned of before what they lead to.
  const rewarded = done.events.filter(({ _tag }) => _tag === "Rewarded")
  if (command._tag === "Reward") {
    assert.strictEqual(done.answer._tag, "Rewards")
    if (done.answer._tag !== "Rewards") return undefined
    const early = done.events.slice(
      0,
      done.events.findIndex(({ _tag }) => _tag.startsWith("Rewarded"))
    )
    observe(model, server, early)
    const outcomes = command.rewards.map(({ lease, sample, value }) => {
      const outcome = predict(model, lease, sample ?? 0)
      const known = model.leases.get(lease)
      if (known !== undefined && (outcome === "accepted" || outcome === "late")) {
        known.known.set(sample ?? 0, value)
        const cohort = name(known.branch, known.cohort)
        // What a unit earns after its own cohort is evidence of none.
        if (known.isCarried || outcome === "late") return outcome
        if (value === "abandoned") known.evidence--
        model.accepted.set(cohort, [...(model.accepted.get(cohort) ?? []), value])
      }
      return outcome
    })
    assert.deepEqual(done.answer.outcomes, outcomes)
    assert.strictEqual(rewarded.length > 0, outcomes.includes("accepted"))
    observe(model, server, done.events.slice(early.length))
  } else {
    // A lease that gets the seed in place of its instruction is abandoned.
    for (const event of rewarded)
      if (event._tag === "Rewarded")
        for (const { key, sample, value } of event.rewards) {
          const known = model.leases.get(State.leaseId(model.branch, event.cohort, key))
          assert.isTrue(server.before.usesSeed && value === "abandoned" && known !== undefined)
          if (known === undefined) continue
          known.known.set(sample, value)
          if (known.isCarried) continue
          known.evidence--
          const cohort = name(model.branch, event.cohort)
          model.accepted.set(cohort, [...(model.accepted.get(cohort) ?? []), value])
        }
    observe(model, server, done.events)
  }
  if (done.answer._tag === "Leases" && command._tag === "Lease") {
    const given = Map.groupBy(done.answer.leases, ({ key }) => State.baseKey(key))
    assert.deepEqual(
      [...given.keys()],
      command.requests.map(({ key }) => key)
    )
    for (const { instructions, key } of command.requests) {
      const own = given.get(key)?.map(({ instruction }) => instruction) ?? []
      assert.isTrue(own.length >= 1 && own.length <= instructions && new Set(own).size === own.length)
    }
    for (const { instruction, lease, n } of done.answer.leases) {
      const known = model.leases.get(lease)
      assert.deepEqual([server.before.usesSeed ? "i0" : known?.instruction, known?.n], [instruction, n])
    }
  }
  return undefined
}

const act = (label: string, run: (model: Model, server: Watched) => void): fc.Command<Model, Watched> => ({
  check: () => true,
  run: (model, server) => {
    run(model, server)
    for (const { probability } of server.state.cohorts.flatMap(({ shares }) => shares)) assert.isAtLeast(probability, 0)
  },
  toString: () => label
})

const pick = (model: Model, at: number) => [...model.leases][at % Math.max(1, model.leases.size)]

const cohorts = fc.constantFrom(null, null, "train/1", "train/2", "train/3", "train/4")

const commands = [
  fc
    .tuple(
      cohorts,
      fc.uniqueArray(fc.nat(30), { minLength: 1, maxLength: 6 }),
      fc.integer({ min: 1, max: 2 }),
      fc.option(fc.nat(2)),
      fc.constantFrom(1, 1, 2, 3)
    )
    .map(([cohort, keys, n, sticky, instructions]) =>
      act(`lease ${cohort} ${keys.join()} n ${n} sticky ${sticky} × ${instructions}`, (model, server) => {
        const requests = keys.map((key) => ({
          key: `k${key}`,
          n,
          stratum: key % 2 === 0 ? "even" : "odd",
          sticky: sticky === null ? null : `s${sticky}`,
          question: null,
          instructions: sticky === null ? instructions : 1
        }))
        step(model, server, { _tag: "Lease", now: model.now, cohort, phase: "train", isFullBatch: false, requests })
      })
    ),
  fc.tuple(fc.nat(9), fc.nat(3)).map(([key, at]) =>
    act(`validate ${key} ${at}`, (model, server) => {
      const requests = [{ key: `v${key}`, n: 1, stratum: "even", sticky: null, question: null, instructions: 1 }]
      const before = server.state.learning
      const cohort = `validation/${at}`
      step(model, server, { _tag: "Lease", now: model.now, cohort, phase: "validation", isFullBatch: false, requests })
      for (const one of server.state.cohorts.filter(({ phase }) => phase === "validation"))
        assert.deepEqual(
          one.shares.map(({ probability }) => probability),
          [1]
        )
      if (server.state.learning.population.step === before.population.step)
        assert.deepEqual(server.state.learning, before)
    })
  ),
  fc
    .array(fc.tuple(fc.nat(60), fc.nat(1), fc.option(fc.constantFrom<number | "abandoned">(0, 0.5, 1, "abandoned"))), {
      minLength: 1,
      maxLength: 8
    })
    .map((items) =>
      act(`reward ${JSON.stringify(items)}`, (model, server) => {
        const rewards = items.flatMap(([at, sample, value]) => {
          const found = pick(model, at)
          return found === undefined ? [] : [{ lease: found[0], sample: sample % found[1].n, value }]
        })
        step(model, server, { _tag: "Reward", now: model.now, rewards })
      })
    ),
  fc.nat(99).map((key) =>
    act("reward without a lease", (model, server) =>
      step(model, server, {
        _tag: "Reward",
        now: model.now,
        rewards: [{ lease: State.leaseId(model.branch, "train/1", `never ${key}`), sample: null, value: 1 }]
      })
    )
  ),
  fc.tuple(fc.nat(9), fc.option(fc.nat(4)), fc.boolean()).map(([at, groups, seals]) =>
    act(`${seals ? "seal" : "close"} ${at} ${groups}`, (model, server) => {
      const open = server.state.cohorts[at % Math.max(1, server.state.cohorts.length)]
      if (open === undefined) return
      const { name: cohort } = open
      step(
        model,
        server,
        seals ? { _tag: "Seal", now: model.now, cohort } : { _tag: "Close", now: model.now, cohort, groups }
      )
    })
  ),
  fc.nat(8).map((by) =>
    act(`${by} later`, (model, server) => {
      model.now += by
      step(model, server, { _tag: "Tick", now: model.now })
    })
  ),
  fc.constant(act("evolve", (model, server) => void step(model, server, { _tag: "Evolve", now: model.now }))),
  fc.nat(2).map((count) =>
    act(`propose ${count}`, (model, server) => {
      const [parent] = server.state.learning.evolution?.parents ?? []
      if (parent === undefined) return
      const candidates = Array.from({ length: count }, (_, place) => ({ text: `candidate ${place}`, rationale: "" }))
      step(model, server, { _tag: "Propose", now: model.now, parent, candidates, reflected: [] })
    })
  ),
  fc
    .tuple(fc.nat(1), fc.boolean())
    .map(([place, isApproved]) =>
      act(`review ${place} ${isApproved}`, (model, server) =>
        step(model, server, { _tag: "Review", now: model.now, place, isApproved })
      )
    ),
  fc.constant(
    act("skip", (model, server) => void step(model, server, { _tag: "SkipEvolution", now: model.now, reason: "none" }))
  ),
  fc.constantFrom("add", "pin", "retire", "freeze", "resume", "seed").chain((what) =>
    fc.nat(5).map((at) =>
      act(`${what} ${at}`, (model, server) => {
        const { now } = model
        const { members } = server.state.learning.population
        const id = members[at % members.length]?.instruction.id
        if (id === undefined) return
        if (what === "add") step(model, server, { _tag: "Add", now, content: "by hand", parent: null })
        else if (what === "pin") step(model, server, { _tag: "Pin", now, id, isPinned: at % 2 === 0 })
        else if (what === "retire") step(model, server, { _tag: "Retire", now, id })
        else if (what === "seed") step(model, server, { _tag: "Freeze", now, isFrozen: true, usesSeed: true })
        else step(model, server, { _tag: "Freeze", now, isFrozen: what === "freeze" })
      })
    )
  ),
  fc.tuple(fc.nat(9), fc.nat(3)).map(([at, request]) =>
    act(`rewind ${at} as r${request}`, (model, server) => {
      const trained = [...model.closed].filter(([, { index }]) => index > 0)
      const [key, known] = trained[at % Math.max(1, trained.length)] ?? []
      if (key === undefined || known === undefined) return
      const [branch, to]: [number, string] = JSON.parse(key)
      const stands = known.index <= (model.line.get(branch) ?? -1)
      const base = learnedUpTo(server.log, to)
      const repeated = server.state.rewinds.some(({ requestId }) => requestId === `r${request}`)
      const refused = step(model, server, { _tag: "Rewind", now: model.now, to, requestId: `r${request}`, base })
      if (refused !== undefined || repeated || !stands) return
      assert.isEmpty(server.state.cohorts)
      // What was due then, such as a trial that was put off while the population was frozen, may follow at once.
      if (server.log.at(-1)?._tag === "Rewound") assert.deepEqual(server.state.learning, base)
    })
  ),
  fc.constant(
    act("crash", (model, server) => {
      const stored = server.log.map((event) => decodeEvent(JSON.parse(JSON.stringify(encodeEvent(event)))))
      const again = fold(stored)
      assert.deepEqual(plain(again), plain(server.state))
      assert.strictEqual(again.learning.population.step, model.folded)
      server.state = again
    })
  )
]

it("a population keeps its promises under any sequence of commands", { timeout: 120_000 }, () =>
  fc.assert(
    fc.property(fc.commands(commands, { maxCommands: 30, size: "max" }), fc.boolean(), (sequence, approval) => {
      const settings = changed(Settings.online(3), {
        size: 4,
        sealAfterLeases: 5,
        sealAfterSeconds: 0.012,
        horizonSeconds: 0.006,
        pruneEvery: 1,
        evolveEvery: 2,
        approval: approval ? "by-hand" : "automatic"
      })
      fc.modelRun(
        () => ({
          model: {
            now: 0,
            branch: 0,
            leases: new Map(),
            complete: new Set<string>(),
            closed: new Map(),
            line: new Map([[0, Infinity]]),
            accepted: new Map(),
            folded: 0
          },
          real: new Watched(settings, ["the seed", "a variant"])
        }),
        sequence
      )
    }),
    { numRuns: 1000 }
  )
)
