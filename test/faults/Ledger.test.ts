import { assert, describe, it } from "@effect/vitest"
import { EventLog, type RunEvent } from "@inspo/coevolution"
import { type Bookkeeping, Ledger } from "@inspo/ledger"
import { ToolLoop } from "@inspo/rollout"
import { JudgeCost, join, local, type RunConfig } from "@inspo/config"
import { Spent } from "@inspo/domain"
import { Journal } from "@inspo/journal"
import { layerMemory } from "@inspo/journal/sqlite"
import { Prices } from "@inspo/reflection"
import { Cause, Effect, Exit, Random, Schema } from "effect"
import { algorithm } from "../../packages/coevolution/test/support/ScriptedRun.ts"
import type { Asked } from "./support/CountedModel.ts"
import * as FaultyRun from "./support/FaultyRun.ts"

/** Schedules tried of each kind: few here, `INSPO_FAULT_SCHEDULES` as many as wanted. */
const schedules = Number(process.env["INSPO_FAULT_SCHEDULES"] ?? 1)

const kinds: ReadonlyArray<FaultyRun.Kind> = [
  { profile: "inspo", encoding: "json" },
  { profile: "inspo", encoding: "protobuf" },
  { profile: "tinker", encoding: "json" },
  { profile: "verl", encoding: "json" }
]

const scripted = join(algorithm, local)

/** All kinds of work that are paid for, in the fewest rollouts. */
const config: RunConfig = {
  ...scripted,
  population: { ...scripted.population, size: 3 },
  schedule: { ...scripted.schedule, steps: 2, pruneEvery: 1, evolveEvery: 1, evolveUntil: 1 },
  proposer: { ...scripted.proposer, candidates: 2 },
  selection: { ...scripted.selection, onError: "stop", rounds: 1 },
  verification: { samples: 2 },
  train: {
    ...scripted.train,
    batchSize: 2,
    miniBatch: { ...scripted.train.miniBatch, size: 2 },
    kl: { name: "none" }
  },
  reward: {
    kind: { name: "judge", model: `openai-compatible:${FaultyRun.price.model}`, criteria: null },
    shaping: { name: "none" }
  },
  requests: { ...scripted.requests, retries: FaultyRun.retries },
  budget: { ...scripted.budget, prices: [FaultyRun.price] },
  evaluation: { ...scripted.evaluation, questions: 1 }
}

/** The parts of the ledger that the servers know of. */
type Part = Pick<Ledger.Amounts, "rollouts" | "tokens" | "calls" | "usd">

describe("the ledger of a run over servers that fail", () => {
  for (const kind of kinds) {
    it.effect(
      "has committed ≤ settled ≤ served ≤ settled + open of what the servers counted, and spent ≤ cap + in flight, " +
        `${kind.profile} over ${kind.encoding}`,
      () =>
        Effect.gen(function* () {
          const world = yield* FaultyRun.makeWorld(config)
          const whole = yield* undisturbed(kind, world)
          let faults = 0
          let sessions = 0
          for (let schedule = 0; schedule < schedules; schedule++) {
            const seed = `${kind.profile}/${kind.encoding}/${schedule}`
            const seen = yield* disturbed(kind, world, whole, seed, [0.1, 0.02, 0.25][schedule % 3] ?? 0)
            faults += seen.faults
            sessions += seen.sessions
          }
          assert.isAbove(faults, schedules)
          assert.isAbove(sessions, schedules)
        }).pipe(Effect.scoped),
      600_000
    )
  }
})

/** A run without faults: what it spent is exactly what its servers counted. */
const undisturbed = Effect.fnUntraced(
  function* (kind: FaultyRun.Kind, world: FaultyRun.World) {
    const faulty = yield* FaultyRun.make(kind, world, { seed: "0", rate: 0 })
    const { exit, ledger, served } = yield* faulty.next(config)
    assert.isTrue(Exit.isSuccess(exit), String(exit))
    const { engine, proposer } = partsOf(ledger.phases)
    const judged = sum((yield* faulty.asked.judge).map(servedBy))
    const { rollouts, tokens } = minus(engine, judged)
    assert.isAbove(judged.calls, 0)
    assert.deepStrictEqual([ledger.open, ledger.redone], [Ledger.nothing, Ledger.nothing])
    assert.deepStrictEqual(served, { begun: rollouts, finished: { rollouts, tokens }, tokens, repeated: 0 })
    assertEqual(yield* storedTrajectories, engine, "the trajectories")
    assertEqual(sum((yield* faulty.asked.proposer).map(servedBy)), proposer, "the proposer")
    return { total: ledger.total, decisions: yield* decisions }
  },
  Effect.scoped,
  Effect.provide(layerMemory, { local: true })
)

/** A run with faults, kills and caps, resumed until it ends as if there had been none. The laws hold after each session. */
const disturbed = Effect.fnUntraced(
  function* (
    kind: FaultyRun.Kind,
    world: FaultyRun.World,
    whole: Effect.Success<ReturnType<typeof undisturbed>>,
    seed: string,
    rate: number
  ) {
    const faulty = yield* FaultyRun.make(kind, world, { seed, rate })
    const random = yield* Random.withSeed(Random.Random, `${seed}/budget`)
    const capOf = (spent: number) => (random.nextDoubleUnsafe() < 0.6 ? null : spent * random.nextDoubleUnsafe())
    let budget: RunConfig["budget"] = {
      ...config.budget,
      rollouts: wholeNumber(capOf(whole.total.rollouts)),
      tokens: wholeNumber(capOf(whole.total.tokens)),
      usd: capOf(whole.total.usd),
      minutes: null
    }
    let begun = 0
    let finished = 0
    let servedTokens = 0
    let finishedTokens = 0
    for (let sessions = 1; ; sessions++) {
      assert.isBelow(sessions, 400, seed)
      const { exit, ledger, served } = yield* faulty.next({ ...config, budget })
      const told = `${seed}, session ${sessions}`
      const asked = yield* faulty.asked.proposer
      const judging = yield* faulty.asked.judge
      const settled = partsOf(ledger.phases.map((phase) => ({ phase: phase.phase, ...minus(phase, phase.open) })))
      const spent = partsOf(ledger.phases)

      begun += served.begun
      servedTokens += served.tokens
      finished += served.finished.rollouts
      finishedTokens += served.finished.tokens
      const stored = yield* storedTrajectories
      assertAtMost(stored, settled.engine, `${told}: committed of the engine`)
      const played = { ...none, rollouts: finished, tokens: finishedTokens }
      assertAtMost(settled.engine, sum([played, ...judging.map(chargedFor)]), `${told}: settled`)
      const generated = { ...none, rollouts: begun, tokens: servedTokens }
      assertAtMost(
        sum([generated, ...judging.map(servedBy)]),
        spent.engine,
        `${told}: served by the engine and the judge`
      )
      if (kind.profile !== "verl") assert.strictEqual(served.repeated, 0, told)

      assertAtMost(yield* storedAnswers, settled.proposer, `${told}: committed of the proposer`)
      assertAtMost(settled.proposer, sum(asked.map(chargedFor)), `${told}: settled of the proposer`)
      assertAtMost(sum(asked.map(servedBy)), spent.proposer, `${told}: served by the proposer`)
      // Where no kill left a call open, there is no doubt.
      if (spent.proposer.calls === settled.proposer.calls)
        assertEqual(settled.proposer, sum(asked.map(chargedFor)), `${told}: the proposer`)

      const inFlight = mostInFlight(asked, world)
      for (const cap of ["rollouts", "tokens", "usd"] as const)
        assert.isAtMost(ledger.total[cap], (budget[cap] ?? Infinity) + inFlight[cap] + tiny, `${told}: ${cap}`)

      if (Exit.isSuccess(exit)) {
        const ended = yield* decisions
        // A run makes do with fewer candidates where nobody wrote the rejected ones anew.
        if (!ended.some((event) => event._tag === "CandidatesProposed" && event.failure !== undefined))
          assert.deepStrictEqual(ended, whole.decisions, seed)
        assert.strictEqual(ledger.total.rollouts - ledger.redone.rollouts, stored.rollouts, `${told}: redone`)
        return { sessions, faults: faulty.faults() }
      }
      const reached = Cause.findErrorOption(exit.cause)
      if (reached._tag === "Some" && isReached(reached.value)) {
        const { cap, spent: known } = reached.value
        assert.approximately(known, cap === "minutes" ? NaN : ledger.total[cap], tiny, told)
        budget = raised(budget, reached.value)
      }
    }
  },
  Effect.scoped,
  Effect.provide(layerMemory, { local: true })
)

const isReached = (error: { readonly _tag: string }): error is Bookkeeping.BudgetReached =>
  error._tag === "BudgetReached"

const raised = (budget: RunConfig["budget"], { cap, limit }: Bookkeeping.BudgetReached): RunConfig["budget"] => ({
  ...budget,
  [cap]: cap === "usd" ? 3 * limit + 0.1 : 3 * limit
})

const wholeNumber = (cap: number | null): number | null => (cap === null ? null : Math.ceil(cap))

/** What work that is begun together takes at the most: the rollouts of one purchase with their verdicts, or a call with its repetitions. */
const mostInFlight = (asked: ReadonlyArray<Asked>, { data }: FaultyRun.World): Part => {
  const verdicts = [...data.train, ...data.test].map((question) => JudgeCost.atMost(config, question))
  const verdict = (amount: "tokens" | "usd") =>
    FaultyRun.concurrency * Math.max(...verdicts.map((one) => one[amount] ?? NaN))
  const calls = asked.map((one) => chargedFor({ ...one, outcome: "lost" }))
  const most = (amount: "tokens" | "usd") => (1 + FaultyRun.retries) * Math.max(0, ...calls.map((call) => call[amount]))
  const played = FaultyRun.concurrency * ToolLoop.maximumTokens(config.rollout)
  return {
    rollouts: 0,
    calls: Infinity,
    tokens: Math.max(played + verdict("tokens"), most("tokens")),
    usd: Math.max(verdict("usd"), most("usd"))
  }
}

/** What a request counts in the ledger: what was answered as it was, and at the most what may have been. */
const chargedFor = (asked: Asked): Part =>
  asked.outcome === "lost" ? call(asked.estimated, FaultyRun.maxOutputTokens) : servedBy(asked)

/** What a request counts at the server. */
const servedBy = ({ input, output }: Asked): Part => call(input, output)

const call = (input: number, output: number): Part => ({
  rollouts: 0,
  calls: 1,
  tokens: input + output,
  usd: Prices.usd(FaultyRun.price, { input, output }) ?? NaN
})

const none: Part = { rollouts: 0, tokens: 0, calls: 0, usd: 0 }

const sum = (parts: ReadonlyArray<Part>): Part => parts.reduce((total, part) => minus(total, minus(none, part)), none)

const minus = (a: Part, b: Part): Part => ({
  rollouts: a.rollouts - b.rollouts,
  tokens: a.tokens - b.tokens,
  calls: a.calls - b.calls,
  usd: a.usd - b.usd
})

/** Proposals cost calls to the proposer, and everything else rollouts. */
const partsOf = (phases: ReadonlyArray<Part & { readonly phase: string }>) => {
  const [engine, proposer] = [false, true].map((asks) =>
    sum(phases.filter(({ phase }) => (phase === "initial" || phase === "proposing") === asks))
  )
  return { engine: engine ?? none, proposer: proposer ?? none }
}

/** Dollars are sums of fractions. */
const tiny = 1e-9

const assertAtMost = (less: Part, more: Part, told: string): void => {
  for (const amount of ["rollouts", "tokens", "calls", "usd"] as const)
    assert.isAtMost(less[amount], more[amount] + tiny, `${told}: ${amount}`)
}

const assertEqual = (one: Part, other: Part, told: string): void => {
  assertAtMost(one, other, told)
  assertAtMost(other, one, told)
}

const decodeTrajectory = Schema.decodeUnknownEffect(
  Schema.Struct({
    promptTokens: Schema.Natural,
    responseTokens: Schema.Natural,
    scoring: Schema.optionalKey(Spent.Spent)
  })
)
const decodeAnswer = Schema.decodeUnknownEffect(
  Schema.Struct({ spent: Schema.Struct({ calls: Schema.Natural, tokens: Schema.Natural, usd: Schema.Finite }) })
)

const recordsOf = (kind: string) => Effect.flatMap(Journal, (journal) => journal.listRecords(kind))

const storedTrajectories = Effect.gen(function* () {
  const stored = yield* Effect.forEach(yield* recordsOf("trajectory"), ({ value }) => decodeTrajectory(value))
  return sum(
    stored.flatMap(({ promptTokens, responseTokens, scoring = Spent.nothing }) => [
      { ...none, rollouts: 1, tokens: promptTokens + responseTokens },
      Ledger.ofSpent(scoring)
    ])
  )
})

const storedAnswers = Effect.gen(function* () {
  const stored = yield* Effect.forEach(yield* recordsOf("proposer"), ({ value }) => decodeAnswer(value))
  return sum(stored.map(({ spent }) => ({ ...none, ...spent })))
})

/** The events of the run, without its budget and the names that a server gave. */
const decisions = Effect.gen(function* () {
  const events = yield* EventLog.read(yield* Journal)
  return events
    .slice(1)
    .map((event: RunEvent) => (event._tag === "CheckpointSaved" ? { ...event, checkpoint: null } : event))
})
