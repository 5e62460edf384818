import { Engine, type EngineError, type Tokenizer } from "@inspo/engine"
import { Journal, type JournalError } from "@inspo/journal"
import type { Proposer, ProposerError } from "@inspo/reflection"
import type { Rollout, RolloutError } from "@inspo/rollout"
import { kindOf, type RewardError } from "@inspo/reward"
import type { Bookkeeping } from "@inspo/ledger"
import { Effect } from "effect"
import { Digest } from "effect/crypto"
import { apply, foldStored, type IncoherentJournal } from "./Apply.ts"
import type * as Command from "./Command.ts"
import { type Algorithm, unsupported } from "./Algorithm.ts"
import * as AlgorithmDiff from "./AlgorithmDiff.ts"
import { type ConfigError, unknownPrice } from "./ConfigError.ts"
import * as EventLog from "./EventLog.ts"
import { next } from "./Next.ts"
import * as Perform from "./Perform.ts"
import { type RunData, RunMismatch } from "./RunData.ts"
import type { RunEvent, RunStarted } from "./RunEvent.ts"
import { isRunning, type Running, type RunState, unstarted } from "./RunState.ts"
import * as Strategies from "./Strategies.ts"
import type { Limits, NothingWritten, TooManyFailures } from "./TrajectoryStore.ts"
import type { DecisionContext } from "./Strategies.ts"

export interface RunOptions<E = never> extends Limits {
  readonly algorithm: Algorithm
  readonly data: RunData
  /** Identifies the code that computes the results. Only recorded. */
  readonly code: string
  /** Called after each committed event, with the state after it. A failure stops the run, which can be resumed. */
  readonly onEvent: (event: RunEvent, state: RunState) => Effect.Effect<void, E>
}

export type RunError =
  | ConfigError
  | IncoherentJournal
  | EngineError
  | JournalError
  | RolloutError
  | ProposerError
  | RunMismatch
  | Bookkeeping.BudgetReached
  | RewardError
  | TooManyFailures
  | NothingWritten

/**
 * Algorithm 1, from the current state of the journal to the end: an empty journal starts a run, any other is continued. Each
 * event is committed before the next command is chosen, so that a run can be interrupted at any point.
 *
 * Fails with `ConfigError` when the engine cannot do what the algorithm asks, with `RunMismatch` when the journal belongs to
 * another algorithm, other strategies, or another engine, tokenizer, data set or search, with `IncoherentJournal` when its
 * events are inconsistent, with `BudgetReached` when the next piece of work does not fit the budget, with
 * `RewardError` when a judge fails, with `TooManyFailures` when an environment that is down would bias the run, and with
 * `NothingWritten` when no prompt of the first step fits.
 */
export const run = Effect.fn("Run.run")(function* <E = never>(
  options: RunOptions<E>
): Effect.fn.Return<RunState, RunError | E, Engine | Journal | Proposer | Rollout | Strategies.Services> {
  const engine = yield* Engine
  const impossible = unsupported(options.algorithm, engine) ?? unmetered(options)
  if (impossible !== null) return yield* impossible
  const journal = yield* Journal
  const strategies = yield* Strategies.fromContext
  const context = makeDecisionContext({ algorithm: options.algorithm, strategies }, options.data)
  const { catchUp, perform } = yield* Perform.make(context, options.data, options).pipe(
    Effect.provide(Digest.layerWebCrypto)
  )
  const commit = Effect.fnUntraced(function* (state: RunState, event: RunEvent) {
    const after = apply(context, state, event)
    yield* EventLog.append(journal, event, after)
    yield* options.onEvent(event, after)
    return after
  })

  const advance = Effect.fnUntraced(
    function* (state: Running) {
      return yield* commit(state, yield* perform(next(context, state), state))
    },
    (effect, { phase, step }) => Effect.annotateSpans(effect, { completedSteps: step, phase: phase._tag })
  )

  const started = {
    _tag: "RunStarted",
    algorithm: options.algorithm,
    strategies: Strategies.identities(strategies),
    engine: engine.profile.fingerprint,
    tokenizer: yield* tokenizerFingerprint(engine.tokenizer),
    data: options.data.fingerprint,
    search: options.data.search,
    code: options.code
  } as const
  // The events of earlier sessions are in memory only for as long as this takes.
  const begun = Effect.gen(function* () {
    const events = yield* EventLog.read(journal)
    yield* assertSameRun(events, started)
    const stored = yield* foldStored(context, events)
    if (events.length === 0) return yield* commit(stored, started)
    yield* catchUp(stored, updatesAfter(context, events, stored.checkpoints.at(-1)?.step ?? 0))
    return stored
  })
  let state = yield* begun
  while (isRunning(state)) state = yield* advance(state)
  return state
})

/** The context of `next` for a run. */
export const makeDecisionContext = (
  { algorithm, strategies }: Strategies.Deciding,
  data: Pick<RunData, "train">
): DecisionContext => ({
  algorithm,
  strategies,
  questions: data.train.map(({ dataSource, id }) => ({ id, dataSource }))
})

const updatesAfter = (
  context: DecisionContext,
  events: ReadonlyArray<RunEvent>,
  step: number
): ReadonlyArray<Command.Train> => {
  let state = unstarted
  return events.flatMap((event) => {
    const command = event._tag === "StepTrained" && event.step > step && isRunning(state) ? next(context, state) : null
    state = apply(context, state, event)
    return command?._tag === "Train" ? [command] : []
  })
}

const assertSameRun = (events: ReadonlyArray<RunEvent>, started: typeof RunStarted.Type) => {
  const [first] = events
  if (first === undefined) return Effect.void
  if (first._tag !== "RunStarted")
    return Effect.fail(new RunMismatch({ reason: `the journal begins with ${first._tag}, expected RunStarted` }))
  const [change] = AlgorithmDiff.of(first.algorithm, started.algorithm)
  if (change !== undefined)
    return Effect.fail(
      new RunMismatch({
        reason: `${AlgorithmDiff.describe(change)}; continue with the original value, or start another run`
      })
    )
  const strategy = Strategies.difference(first.strategies, started.strategies)
  if (strategy !== null)
    return Effect.fail(
      new RunMismatch({
        reason: `${strategy}; continue in a program that provides the original one, or start another run`
      })
    )
  const other = guarded.find(({ part }) => first[part] !== undefined && first[part] !== started[part])
  return other === undefined
    ? Effect.void
    : Effect.fail(
        new RunMismatch({
          reason:
            `${other.subject} not the one that the run began with (${started[other.part]}, expected ${first[other.part]}); ` +
            "continue with the original one, or start another run"
        })
      )
}

/** The parts that must stay the same during a run, while their addresses may change. */
const guarded = [
  { part: "engine", subject: "the engine is" },
  { part: "tokenizer", subject: "the tokenizer is" },
  { part: "data", subject: "the data set is" },
  { part: "search", subject: "the search corpus is" }
] as const

/** Identifies a tokenizer and its chat template by their output for a text that most treat differently. */
const tokenizerFingerprint = Effect.fnUntraced(function* (tokenizer: Tokenizer) {
  const text = "Who, in 1984, wrote <search> it? Answer briefly."
  const made = [
    tokenizer.vocabularySize,
    tokenizer.endOfSequence,
    tokenizer.encode(text),
    tokenizer.prompt([{ role: "user", content: text }])
  ]
  const bytes = new TextEncoder().encode(JSON.stringify(made))
  return yield* Digest.Digest.use((digest) => digest.digestHex(Digest.sha256, bytes))
}, Effect.provide(Digest.layerWebCrypto))

/** A limit in dollars that cannot be enforced, since the cost of the judge is unknown. */
const unmetered = ({ algorithm, budget, scoringAtMost }: RunOptions<unknown>): ConfigError | null =>
  kindOf(algorithm.reward).needs === "model" && typeof budget?.usd === "number" && scoringAtMost === undefined
    ? unknownPrice("judge", budget.usd)
    : null
