import { assert, describe, it } from "@effect/vitest"
import { EventLog, type Algorithm } from "@inspo/coevolution"
import { type Bookkeeping, Ledger } from "@inspo/ledger"
import { ToolLoop } from "@inspo/rollout"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Proposer, ProposerError } from "@inspo/reflection"
import { Spent } from "@inspo/domain"
import { Effect, Fiber, Layer, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import { algorithm, type Replaced, runOn } from "./support/ScriptedRun.ts"

const within = (budget: Partial<Ledger.Limits>): Replaced => ({ budget: { ...Ledger.unlimited, ...budget } })

const books = Effect.flatMap(Journal, (journal) => Effect.map(journal.ledger, Ledger.summarize))

const go = (settings: Algorithm, replaced: Replaced = {}) =>
  Effect.flatMap(Journal, (journal) => runOn(settings, Layer.succeed(Journal, journal), undefined, replaced))

const phase = ({ phases }: Ledger.Summary, name: Ledger.Phase) =>
  phases.find((one) => one.phase === name) ?? Ledger.nothing

/** What the journal keeps of rollouts: one record for each that was paid for. */
const stored = Effect.flatMap(Journal, (journal) => journal.listRecords("trajectory"))

const spentAndStored = Effect.gen(function* () {
  const { open, redone, total } = yield* books
  return { rollouts: total.rollouts, redone: redone.rollouts, open: open.rollouts, stored: (yield* stored).length }
})

/** Interrupts the run at the `count`-th search. */
const stopAtSearch = (count: number): Replaced => {
  let searches = 0
  return {
    meddle: ({ search }) => ({
      search: (...request) => (++searches > count ? Effect.interrupt : search(...request))
    })
  }
}

const fresh = Effect.provide(layerMemory, { local: true })

describe("the ledger", () => {
  it.effect("of an undisturbed run is what its state spent, phase by phase", () =>
    Effect.gen(function* () {
      const { spent } = yield* go(algorithm)
      const summary = yield* books
      for (const name of ["train", "verification", "evaluation"] as const) {
        assert.strictEqual(phase(summary, name).rollouts, spent.rollouts[name])
        assert.strictEqual(phase(summary, name).tokens, spent.tokens[name])
      }
      assert.deepStrictEqual([summary.redone, summary.open], [Ledger.nothing, Ledger.nothing])
    }).pipe(fresh)
  )

  it.effect.prop(
    "holds every rollout that was begun, whenever the run is killed: what is not stored is open, and done again",
    [Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 120 }))],
    ([searches]) =>
      Effect.gen(function* () {
        yield* go(algorithm, stopAtSearch(searches)).pipe(Effect.forkChild, Effect.flatMap(Fiber.await))
        const killed = yield* spentAndStored
        assert.strictEqual(killed.rollouts - killed.open, killed.stored)
        const { spent } = yield* go(algorithm)
        const resumed = yield* spentAndStored
        const { evaluation, train, verification } = spent.rollouts
        assert.strictEqual(resumed.stored, train + verification + evaluation)
        assert.strictEqual(resumed.rollouts, resumed.stored + killed.open)
        assert.strictEqual(resumed.redone, killed.open)
        assert.strictEqual(resumed.open, killed.open)
      }).pipe(fresh),
    { arbitrary: { runs: 4 } }
  )
})

const undisturbed = Effect.runSync(
  Effect.cached(
    Effect.andThen(
      go(algorithm),
      Effect.flatMap(Journal, (journal) => EventLog.read(journal))
    ).pipe(fresh)
  )
)

describe("a cap", () => {
  it.effect.prop(
    "of rollouts is never exceeded; with a higher one the run goes on as if there had been none",
    [Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 130 }))],
    ([rollouts]) =>
      Effect.gen(function* () {
        const whole = yield* undisturbed
        const error = yield* Effect.option(Effect.flip(go(algorithm, within({ rollouts }))))
        const { total } = yield* books
        assert.isAtMost(total.rollouts, rollouts)
        if (Option.isSome(error)) {
          assert.strictEqual(error.value._tag, "BudgetReached")
          assert.include(error.value.message, "budget.rollouts")
        }
        yield* go(algorithm)
        const events = yield* Effect.flatMap(Journal, (journal) => EventLog.read(journal))
        assert.deepStrictEqual(events.slice(1), whole.slice(1))
      }).pipe(fresh),
    { arbitrary: { runs: 4 } }
  )

  it.effect("of tokens is exceeded by the rollouts in flight at most", () =>
    Effect.gen(function* () {
      const error = yield* reached(go(algorithm, within({ tokens: 20_000 })))
      assert.strictEqual(error.cap, "tokens")
      const { total } = yield* books
      assert.isAbove(total.tokens, 20_000)
      assert.isAtMost(total.tokens, 20_000 + 64 * ToolLoop.maximumTokens(algorithm.rollout))
    }).pipe(fresh)
  )

  it.effect("of minutes counts all sessions together, and not the time between them", () =>
    Effect.gen(function* () {
      const slow: Replaced = {
        meddle: ({ search }) => ({
          search: (...request) => Effect.andThen(TestClock.adjust("20 seconds"), search(...request))
        })
      }
      yield* reached(go(algorithm, { ...slow, ...within({ minutes: 1 }) }))
      const first = yield* books
      assert.isAtLeast(first.total.seconds, 60)
      yield* TestClock.adjust("1 hour")
      yield* reached(go(algorithm, { ...slow, ...within({ minutes: 2 }) }))
      const second = yield* books
      assert.isAtLeast(second.total.seconds, 120)
      assert.isAtMost(second.total.seconds, 600)
      assert.strictEqual(
        yield* Effect.map(reached(go(algorithm, { ...slow, ...within({ minutes: 2 }) })), ({ cap }) => cap),
        "minutes"
      )
    }).pipe(fresh)
  )

  it.effect(
    "of dollars ends a run before a call to the proposer; an answer that was paid for is never asked for again",
    () =>
      Effect.gen(function* () {
        const asked: Array<string> = []
        const proposer = talkative(asked)
        yield* reached(go(algorithm, { proposer, ...within({ usd: 1 }) }))
        assert.strictEqual((yield* books).total.usd, 1)
        const before = asked.length
        yield* go(algorithm, { proposer, ...within({ usd: 100 }) })
        assert.strictEqual(new Set(asked).size, asked.length)
        assert.isAbove(asked.length, before)
        assert.strictEqual((yield* books).total.calls, asked.length)
      }).pipe(fresh)
  )

  it.effect("in dollars is refused where the price of the proposer is not known", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(go(algorithm, { proposer: talkative([], null), ...within({ usd: 1 }) }))
      assert.strictEqual(error._tag, "ConfigError")
    }).pipe(fresh)
  )
})

const reached = <A, E extends { readonly _tag: string }, R>(
  running: Effect.Effect<A, E | Bookkeeping.BudgetReached, R>
) =>
  Effect.filterOrElse(Effect.flip(running), isReached, ({ _tag }) =>
    Effect.die(new Error(`the run failed with ${_tag}`))
  )

const isReached = (error: { readonly _tag: string }): error is Bookkeeping.BudgetReached =>
  error._tag === "BudgetReached"

/** A proposer that asks a model once per proposal, for half a dollar. */
const talkative = (asked: Array<string>, usd: number | null = 0.5): Layer.Layer<Proposer> => {
  const propose: Proposer.Interface["initial"] = ({ makeCall, parent, stream }) => {
    const spent = { calls: 1, tokens: 100, usd }
    const call = { key: stream.join("/"), atMost: spent }
    const ask = Effect.sync(() => {
      asked.push(call.key)
      return { text: `${parent.text} Mind ${call.key}.`, end: "done" as const, spent }
    })
    return Effect.map(makeCall === undefined ? ask : makeCall(call, ask), ({ text }) => ({
      critique: "",
      candidates: [{ text, rationale: "" }],
      spent
    }))
  }
  return Layer.succeed(Proposer, { propose, initial: propose })
}

describe("a call to the proposer", () => {
  it.effect("that was answered before a kill is read on the redo, and not paid for again", () =>
    Effect.gen(function* () {
      const asked: Array<string> = []
      const whole = talkative(asked)
      const killed = Layer.effect(
        Proposer,
        Effect.map(Proposer, ({ initial, propose }) =>
          Proposer.of({ initial, propose: (request) => Effect.andThen(propose(request), Effect.interrupt) })
        )
      ).pipe(Layer.provide(whole))
      yield* go(algorithm, { proposer: killed }).pipe(Effect.forkChild, Effect.flatMap(Fiber.await))
      assert.lengthOf(asked, 2)
      yield* go(algorithm, { proposer: whole })
      assert.strictEqual(new Set(asked).size, asked.length)
      const { redone, total } = yield* books
      assert.deepStrictEqual([total.calls, redone.calls], [asked.length, 0])
    }).pipe(fresh)
  )
})

describe("a failed call to the proposer", () => {
  it.effect("is booked with what it cost", () =>
    Effect.gen(function* () {
      const propose: Proposer.Interface["initial"] = ({ makeCall, stream }) => {
        const spent = { calls: 1, tokens: 7, usd: 0 }
        const failing = Effect.fail(new ProposerError({ proposer: "broken", reason: "no answer", spent }))
        return Effect.andThen(
          makeCall?.({ key: stream.join("/"), atMost: { calls: 1, tokens: 1000, usd: 1 } }, failing) ?? failing,
          Effect.succeed({ critique: "", candidates: [], spent: Spent.nothing })
        )
      }
      yield* go(algorithm, { proposer: Layer.succeed(Proposer, { propose, initial: propose }) })
      const { open, total } = yield* books
      assert.isAbove(total.calls, 0)
      assert.deepStrictEqual([total.usd, open], [0, Ledger.nothing])
      assert.isTrue((yield* books).phases.every(({ calls, rollouts, tokens }) => rollouts > 0 || tokens === 7 * calls))
    }).pipe(fresh)
  )
})
