import { assert, describe, it } from "@effect/vitest"
import {
  type State,
  type Answer,
  type Command,
  create,
  fold,
  handle,
  learnedUpTo,
  Settings,
  Strategies,
  type PopulationEvent
} from "@inspo/cohorts"
import { Instruction } from "@inspo/domain"
import { Journal, JournalError } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import * as LivePopulation from "../src/live/LivePopulation.ts"
import * as Loading from "../src/store/Loading.ts"
import { Cause, Clock, Deferred, Effect, Exit, Fiber, HashMap, Logger, Result, Schema, Scope, Struct } from "effect"
import { TestClock } from "effect/testing"
import { inMemory } from "../../cohorts/test/support/Archive.ts"
import { changed } from "../../cohorts/test/support/Changed.ts"

const Cohort = Schema.Literals(["a", "b", "c"])
const Key = Schema.Literals(["k1", "k2", "k3", "k4"])

const Lease = Schema.TaggedStruct("Lease", {
  cohort: Schema.NullOr(Cohort),
  phase: Schema.Literals(["train", "train", "train", "validation"]),
  keys: Schema.NonEmptyArray(Key).check(Schema.isMaxLength(4)),
  n: Schema.Literals([1, 1, 1, 2]),
  sticky: Schema.NullOr(Schema.Literals(["s"])),
  instructions: Schema.Literals([1, 1, 2, 3]),
  isFullBatch: Schema.Boolean
})
const Reward = Schema.TaggedStruct("Reward", {
  lease: Schema.Literals([0, 1, 2, 3, 4, 5]),
  sample: Schema.Literals([0, 0, 0, 1]),
  value: Schema.NullOr(Schema.Literals([0, 0.5, 1, "abandoned"]))
})
const Close = Schema.TaggedStruct("Close", { cohort: Cohort, groups: Schema.NullOr(Schema.Literals([1, 2])) })

/** What is asked of a population; what is asked most often stands here most often. */
const Ask = Schema.Union([
  Lease,
  Lease,
  Lease,
  Lease,
  Reward,
  Reward,
  Reward,
  Reward,
  Reward,
  Reward,
  Close,
  Close,
  Schema.TaggedStruct("Seal", { cohort: Cohort }),
  Schema.TaggedStruct("Tick", {}),
  Schema.TaggedStruct("Evolve", {}),
  Schema.TaggedStruct("Propose", { candidates: Schema.Literals([0, 1, 2]) }),
  Schema.TaggedStruct("Review", { place: Schema.Literals([0, 1]), isApproved: Schema.Boolean }),
  Schema.TaggedStruct("Retire", { id: Schema.Literals(["i1", "i2", "i3"]) }),
  Schema.TaggedStruct("Freeze", { isFrozen: Schema.Boolean }),
  Schema.TaggedStruct("Freeze", { isFrozen: Schema.Literal(true), usesSeed: Schema.Literal(true) })
])
type Ask = typeof Ask.Type

const Asked = Schema.TaggedStruct("Asked", { asks: Schema.NonEmptyArray(Ask).check(Schema.isMaxLength(4)) })

/** Some asks at once, or what befalls the server. */
const Op = Schema.Union([
  Asked,
  Asked,
  Asked,
  Asked,
  Asked,
  Asked,
  Schema.TaggedStruct("Wait", { milliseconds: Schema.Literals([1, 400, 2000]) }),
  Schema.TaggedStruct("Rewind", { to: Cohort, requestId: Schema.Literals(["r1", "r2"]) }),
  Schema.TaggedStruct("Restart", {}),
  Schema.TaggedStruct("TakeOver", {}),
  Schema.TaggedStruct("Fail", {})
])
type Op = typeof Op.Type

/** Small cohorts, quick decisions. */
const settings = (profile: "trainer" | "online"): Settings.Settings => ({
  ...changed(Settings[profile](7), {
    sealAfterLeases: 3,
    sealAfterSeconds: 1,
    horizonSeconds: 1.5,
    pruneEvery: 1,
    evolveEvery: 2,
    size: 3
  }),
  guardrails: ["usd.p99=0.5", "usd=0.3"]
})

const texts = ["Be brief.", "Think first.", "Search twice."] as const

/** The population as it would be without a journal. */
class Twin {
  state: State.State
  readonly events: Array<PopulationEvent>
  readonly archive = inMemory()

  constructor(of: Settings.Settings) {
    const { events, state } = create(of, texts)
    this.state = state
    this.events = [...events]
  }

  do(command: Command): Result.Result<Answer, string> {
    const handled = handle(Strategies.ofSettings(this.state.settings), this.state, this.archive, command)
    if (Result.isFailure(handled)) return Result.fail(handled.failure.message)
    const { answer, events, state } = handled.success
    this.state = state
    for (const event of events) {
      this.events.push(event)
      this.archive.record(event)
    }
    return Result.succeed(answer)
  }
}

const commandOf = (op: Ask, state: State.State, leases: ReadonlyArray<string>): LivePopulation.At => {
  switch (op._tag) {
    case "Lease": {
      const requests = Array.from(new Set(op.keys), (key) => ({
        key,
        n: op.n,
        stratum: "all",
        sticky: op.sticky,
        question: null,
        instructions: op.sticky === null && !op.isFullBatch ? op.instructions : 1
      }))
      const { cohort, isFullBatch, phase } = op
      return (now) => ({ _tag: "Lease", now, cohort, phase, isFullBatch, requests })
    }
    case "Reward": {
      const lease = leases.at(-1 - op.lease) ?? "0/a/nothing"
      return (now) => ({
        _tag: "Reward",
        now,
        rewards: [{ lease, sample: op.sample, value: op.value, metrics: { usd: 0.3 * op.lease } }]
      })
    }
    case "Close":
      return (now) => ({ _tag: "Close", now, cohort: op.cohort, groups: op.groups })
    case "Seal":
      return (now) => ({ _tag: "Seal", now, cohort: op.cohort })
    case "Tick":
      return (now) => ({ _tag: "Tick", now })
    case "Evolve":
      return (now) => ({ _tag: "Evolve", now })
    case "Propose": {
      const [parent = Instruction.InstructionId.make("i0")] = state.learning.evolution?.parents ?? []
      const candidates = Array.from({ length: op.candidates }, (_, at) => ({
        text: `${state.learning.born} ${at}`,
        rationale: ""
      }))
      return (now) => ({ _tag: "Propose", now, parent, candidates, reflected: [] })
    }
    case "Review":
      return (now) => ({ _tag: "Review", now, place: op.place, isApproved: op.isApproved })
    case "Retire":
      return (now) => ({ _tag: "Retire", now, id: Instruction.InstructionId.make(op.id) })
    case "Freeze":
      return (now) => ({ now, ...op })
  }
}

/** A state as JSON writes it, whatever the order in which its maps were filled. */
const plain = ({ cohorts, ...state }: State.State): unknown =>
  JSON.parse(
    JSON.stringify({
      ...state,
      cohorts: cohorts.map(({ leases, sticky, ...cohort }) => ({
        ...cohort,
        leases: HashMap.toEntries(leases).sort(([a], [b]) => (a < b ? -1 : 1)),
        sticky: HashMap.toEntries(sticky).sort(([a], [b]) => (a < b ? -1 : 1))
      }))
    })
  )

/** Both are asked the same in one order; the server may commit it together. */
const asked = Effect.fnUntraced(function* (
  live: LivePopulation.LivePopulation,
  twin: Twin,
  now: number,
  asks: ReadonlyArray<Ask>,
  leases: ReadonlyArray<string>
) {
  const commands = asks.map((ask) => commandOf(ask, twin.state, leases))
  const told = yield* Effect.forEach(commands, (command) => Effect.result(live.submit(command)), {
    concurrency: "unbounded"
  })
  return [told, commands.map((command) => twin.do(command(now)))] as const
})

const law = Effect.fnUntraced(function* (profile: "trainer" | "online", ops: ReadonlyArray<Op>) {
  const stored = yield* Journal
  let fails = false
  let writers = 0
  /** The journal as a new writer has it, until the next one comes. */
  const held = (): Journal.Interface => {
    const writer = ++writers
    const fault = (reason: "storage" | "fenced") =>
      Effect.fail(new JournalError({ reason, file: "disk", sequence: null, detail: "nothing is written" }))
    return {
      ...stored,
      commit: (events, records) =>
        writer < writers ? fault("fenced") : fails ? fault("storage") : stored.commit(events, records)
    }
  }
  const journal = held()
  yield* LivePopulation.begin(journal, settings(profile), texts)
  const twin = new Twin(settings(profile))
  let scope = yield* Scope.make()
  let live = yield* Scope.provide(LivePopulation.open(journal), scope)
  const leases: Array<string> = []
  for (const op of ops) {
    if (op._tag === "Restart") {
      yield* Scope.close(scope, Exit.void)
      scope = yield* Scope.make()
      live = yield* Scope.provide(LivePopulation.open(held()), scope)
      assert.deepStrictEqual(plain(yield* live.state), plain(twin.state))
      continue
    }
    if (op._tag === "TakeOver") {
      // A standby reads what the active one has, and takes over while that one is frozen, asked and not yet answered.
      assert.deepStrictEqual(plain(yield* Loading.state(stored)), plain(yield* live.state))
      const frozen = { live, scope }
      scope = yield* Scope.make()
      live = yield* Scope.provide(LivePopulation.open(held()), scope)
      const freeze: LivePopulation.At = (now) => ({ _tag: "Freeze", now, isFrozen: !twin.state.isFrozen })
      const late = yield* Effect.flip(frozen.live.submit(freeze))
      assert.strictEqual(late._tag === "JournalError" && late.reason, "fenced")
      yield* Scope.close(frozen.scope, Exit.void)
      assert.deepStrictEqual(plain(yield* live.state), plain(twin.state))
      continue
    }
    if (op._tag === "Fail") {
      fails = true
      const before = plain(yield* live.state)
      const failed = yield* Effect.flip(live.submit((now) => ({ _tag: "Freeze", now, isFrozen: !twin.state.isFrozen })))
      assert.strictEqual(failed._tag, "JournalError")
      assert.deepStrictEqual(plain(yield* live.state), before)
      fails = false
      continue
    }
    if (op._tag === "Wait") {
      yield* TestClock.adjust(op.milliseconds)
      continue
    }
    const now = yield* Clock.currentTimeMillis
    const [told, expected] =
      op._tag === "Rewind"
        ? [
            [yield* Effect.result(live.rewind(op.to, op.requestId))],
            [
              twin.do({
                _tag: "Rewind",
                now,
                to: op.to,
                requestId: op.requestId,
                base: learnedUpTo(twin.events, op.to)
              })
            ]
          ]
        : yield* asked(live, twin, now, op.asks, leases)
    assert.deepStrictEqual(told.map(Result.mapError(({ message }) => message)), expected)
    assert.deepStrictEqual(plain(yield* live.state), plain(twin.state))
    for (const answer of expected)
      if (Result.isSuccess(answer) && answer.success._tag === "Leases")
        leases.push(...answer.success.leases.map(({ lease }) => lease))
  }
  yield* Scope.close(scope, Exit.void)
  assert.deepStrictEqual(plain(twin.state), plain(fold(twin.events)))
})

const sequences = Number(process.env["INSPO_SEQUENCES"] ?? 15)

describe("LivePopulation", () => {
  for (const profile of ["trainer", "online"] as const)
    it.effect.prop(
      `answers as one in memory does, across restarts, take-overs and failed commits: ${profile}`,
      [Schema.Array(Op).check(Schema.isMinLength(40), Schema.isMaxLength(80))],
      ([ops]) => Effect.provide(law(profile, ops), layerMemory, { local: true }),
      { arbitrary: { runs: sequences }, timeout: 60_000 + 600 * sequences }
    )

  for (const [name, cohort, isFullBatch] of [
    ["a whole cohort", "a", true],
    ["requests for several instructions in a cohort", "a", false],
    ["requests for several instructions", null, false]
  ] as const)
    it.effect(`answers ${name} once closed as when it was open, with the leases of all instructions`, () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const settings = cohort === null ? Settings.online(1) : Settings.trainer(1)
        yield* LivePopulation.begin(journal, changed(settings, { pruneEvery: 0 }), texts)
        const ask: LivePopulation.At = (now) => ({
          _tag: "Lease",
          now,
          cohort,
          phase: "train",
          isFullBatch,
          requests: ["k1", "k2", "k3", "k4"].map((key) => ({
            key,
            n: 1,
            stratum: "all",
            sticky: null,
            question: null,
            instructions: isFullBatch ? 1 : 2
          }))
        })
        const leasesOf = (answer: Answer) =>
          answer._tag === "Leases" ? answer.leases.map((lease) => Struct.omit(lease, ["closesAt"])) : []
        const live = yield* LivePopulation.open(journal)
        const open = leasesOf(yield* live.submit(ask))
        assert.isTrue(open.some(({ key }) => key.includes("#i")))
        const name = open[0]?.cohort ?? ""
        yield* live.submit((now) => ({ _tag: "Close", now, cohort: name, groups: null }))
        assert.lengthOf((yield* live.state).cohorts, 0)
        assert.deepStrictEqual(leasesOf(yield* live.submit(ask)), open)
        const again = yield* LivePopulation.open(journal)
        assert.deepStrictEqual(leasesOf(yield* again.submit(ask)), open)
      }).pipe(Effect.scoped, Effect.provide(layerMemory, { local: true }))
    )

  it.effect("reads no lease of an open cohort from the journal, even if it is closed before their rewards", () =>
    Effect.gen(function* () {
      const stored = yield* Journal
      const asked: Array<string> = []
      const journal: Journal.Interface = {
        ...stored,
        getRecords: (kind, keys) =>
          Effect.andThen(
            Effect.sync(() => asked.push(kind)),
            stored.getRecords(kind, keys)
          ),
        commit: (events, records) =>
          Effect.andThen(
            Effect.sync(() => asked.push("commit")),
            stored.commit(events, records)
          )
      }
      yield* LivePopulation.begin(journal, settings("trainer"), texts)
      const live = yield* LivePopulation.open(journal)
      const lease = (cohort: string): LivePopulation.At => {
        const requests = ["k1", "k2"].map((key) => ({
          key,
          n: 1,
          stratum: "all",
          sticky: null,
          question: null,
          instructions: 1
        }))
        return (now) => ({ _tag: "Lease", now, cohort, phase: "train", isFullBatch: false, requests })
      }
      const reward =
        (lease: string): LivePopulation.At =>
        (now) => ({ _tag: "Reward", now, rewards: [{ lease, sample: null, value: 1 }] })
      const close: LivePopulation.At = (now) => ({ _tag: "Close", now, cohort: "b", groups: null })
      yield* live.submit(lease("a"))
      yield* live.submit(lease("b"))
      asked.splice(0)
      assert.deepStrictEqual(yield* live.submit(reward("0/b/k1")), { _tag: "Rewards", outcomes: ["accepted"] })
      assert.deepStrictEqual(asked, ["commit"])
      const waiting = [close, reward("0/b/k1"), reward("0/b/k2"), reward("0/b/k2"), reward("0/a/k1")]
      const answers = yield* Effect.forEach(waiting, (one) => live.submit(one), { concurrency: "unbounded" })
      assert.deepStrictEqual(
        answers.flatMap((answer) => (answer._tag === "Rewards" ? answer.outcomes : [])),
        ["duplicate", "late", "duplicate", "accepted"]
      )
      assert.deepStrictEqual(asked, ["commit", "cohort", "commit"])
    }).pipe(Effect.scoped, Effect.provide(layerMemory, { local: true }))
  )

  it.effect("returns a fault to the waiting commands, logs it, and continues", () => {
    const logged: Array<string> = []
    const logger = Logger.make(({ cause, logLevel }) => {
      if (logLevel === "Error") logged.push(`${logLevel} ${Cause.pretty(cause)}`)
    })
    return Effect.gen(function* () {
      const stored = yield* Journal
      let isBroken = true
      const journal: Journal.Interface = {
        ...stored,
        commit: (events, records) =>
          isBroken ? Effect.die(new Error("broken within")) : stored.commit(events, records)
      }
      yield* LivePopulation.begin(journal, settings("online"), texts)
      const live = yield* LivePopulation.open(journal)
      const freeze = live.submit((now) => ({ _tag: "Freeze", now, isFrozen: true }))
      const defect = yield* Effect.catchDefect(freeze, (error) => Effect.succeed(String(error)))
      assert.strictEqual(defect, "Error: broken within")
      assert.lengthOf(logged, 1)
      assert.match(logged[0] ?? "", /^Error .*broken within/u)
      isBroken = false
      assert.deepStrictEqual(yield* freeze, { _tag: "Done" })
    }).pipe(Effect.scoped, Effect.provide([layerMemory, Logger.layer([logger])], { local: true }))
  })

  const Hostile = Schema.Struct({ key: Key, field: Schema.Literals(["none", "key", "cohort", "sticky", "defect"]) })
  it.effect.prop(
    "a command with a malformed name, or with a defect, changes nothing for the commands beside it",
    [Schema.NonEmptyArray(Hostile).check(Schema.isMaxLength(12))],
    ([asks]) =>
      Effect.gen(function* () {
        const lease =
          ({ field, key }: typeof Hostile.Type): LivePopulation.At =>
          (now) => {
            if (field === "defect") throw new Error("planted")
            const broken = (name: string) => (field === name ? "\ud800" : "")
            const sticky = field === "sticky" ? "\ud800" : null
            const request = {
              key: `${key}${broken("key")}`,
              n: 1,
              stratum: "all",
              sticky,
              question: null,
              instructions: 1
            }
            return {
              _tag: "Lease",
              now,
              cohort: `a${broken("cohort")}`,
              phase: "train",
              isFullBatch: false,
              requests: [request]
            }
          }
        const answersOf = Effect.fnUntraced(
          function* (some: ReadonlyArray<typeof Hostile.Type>) {
            const journal = yield* Journal
            yield* LivePopulation.begin(journal, { ...settings("trainer"), sealAfterLeases: null }, texts)
            const live = yield* LivePopulation.open(journal)
            return yield* Effect.forEach(some, (one) => Effect.exit(live.submit(lease(one))), {
              concurrency: "unbounded"
            })
          },
          Effect.scoped,
          Effect.provide(layerMemory, { local: true })
        )
        const isGood = ({ field }: typeof Hostile.Type) => field === "none"
        const together = yield* answersOf(asks)
        const alone = yield* answersOf(asks.filter(isGood))
        assert.deepStrictEqual(
          together.filter((_, at) => isGood(asks[at] ?? asks[0])),
          alone
        )
        assert.isTrue(alone.every(Exit.isSuccess))
        for (const [at, exit] of together.entries()) {
          const { field } = asks[at] ?? asks[0]
          if (field === "none") continue
          const isRefused = Exit.isFailure(exit) && !Cause.hasDies(exit.cause)
          assert.strictEqual(isRefused, field !== "defect")
        }
      }),
    { arbitrary: { runs: 30 } }
  )

  it.effect("commits together what comes turn after turn of the event loop, and alone what comes alone", () =>
    Effect.gen(function* () {
      const stored = yield* Journal
      let commits = 0
      const journal: Journal.Interface = {
        ...stored,
        commit: (events, records) =>
          Effect.andThen(
            Effect.sync(() => void commits++),
            stored.commit(events, records)
          )
      }
      yield* LivePopulation.begin(journal, settings("online"), texts)
      const live = yield* LivePopulation.open(journal)
      const freeze = (isFrozen: boolean) => live.submit((now) => ({ _tag: "Freeze", now, isFrozen }))
      yield* freeze(true)
      assert.strictEqual(commits, 1)
      const together: Array<Fiber.Fiber<unknown, unknown>> = []
      for (const isFrozen of [false, true, false]) {
        together.push(yield* Effect.forkChild(freeze(isFrozen), { startImmediately: true }))
        yield* Effect.yieldNow
      }
      yield* Fiber.joinAll(together)
      assert.strictEqual(commits, 2)
    }).pipe(Effect.scoped, Effect.provide(layerMemory, { local: true }))
  )

  it.effect("answers all waiting commands once it is closed", () =>
    Effect.gen(function* () {
      const stored = yield* Journal
      const begun = yield* Deferred.make<void>()
      const journal: Journal.Interface = {
        ...stored,
        commit: (events, records) =>
          Effect.andThen(Deferred.succeed(begun, undefined), Effect.delay(stored.commit(events, records), "1 second"))
      }
      yield* LivePopulation.begin(journal, settings("online"), texts)
      const scope = yield* Scope.make()
      const live = yield* Scope.provide(LivePopulation.open(journal), scope)
      const submit = (isFrozen: boolean) =>
        Effect.forkChild(Effect.exit(live.submit((now) => ({ _tag: "Freeze", now, isFrozen }))), {
          startImmediately: true
        })
      const committed = yield* submit(true)
      yield* Deferred.await(begun)
      const late = yield* submit(false)
      const closing = yield* Effect.forkChild(Scope.close(scope, Exit.void), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(closing)
      assert.isTrue(Exit.isSuccess(yield* Fiber.join(committed)))
      assert.isTrue(Exit.hasInterrupts(yield* Fiber.join(late)))
    }).pipe(Effect.provide(layerMemory, { local: true }))
  )
})
