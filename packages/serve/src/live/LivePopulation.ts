/** A population in service: commands are committed, texts redacted, and old records deleted. */
import {
  type Answer,
  type Command,
  create,
  handle,
  learnedUpTo,
  type PopulationEvent,
  type Refused,
  type Settings,
  type State,
  Strategies
} from "@inspo/cohorts"
import type { Instruction } from "@inspo/domain"
import type { Journal, JournalError } from "@inspo/journal"
import {
  Array as Arr,
  Cause,
  Clock,
  Effect,
  Exit,
  identity,
  PubSub,
  Queue,
  Result,
  type Scope,
  Stream,
  Tracer
} from "effect"
import type { Details } from "../store/Details.ts"
import * as ArchiveLookup from "../store/internal/ArchiveLookup.ts"
import { auxiliaryRecords, type Row, toJournal, type Written, written } from "../store/internal/Stored.ts"
import * as Loading from "../store/Loading.ts"
import * as LogLine from "./internal/LogLine.ts"
import * as Metrics from "./internal/Metrics.ts"
import * as Retention from "./internal/Retention.ts"
import * as Redaction from "./Redaction.ts"
import * as Redactor from "./Redactor.ts"

/** A population that handles commands. */
export interface LivePopulation extends Retention.Retention {
  /**
   * Handles a command at the present time and returns its answer once its events are durable; commands that arrive meanwhile
   * are committed together. Fails with `JournalError` if nothing could be written; nothing of the command was done then. Its
   * details are redacted, and stored with new leases and with rewards that are accepted or late.
   */
  readonly submit: (command: At, details?: Details) => Effect.Effect<Answer, Refused | JournalError>
  /** Returns to a closed cohort, once for each `requestId`; answers the branch that continues from there. */
  readonly rewind: (to: string, requestId: string) => Effect.Effect<Answer, Refused | JournalError>
  /** The strategies of settings, as its context provides them. */
  readonly decides: Strategies.Decides
  /** Where it is stored. */
  readonly journal: Journal.Interface
  /** The durable state. */
  readonly state: Effect.Effect<State.State>
  /** The durable state now and after each change; a slow reader gets the latest. */
  readonly changes: Stream.Stream<State.State>
}

/** A command once the time is known. */
export type At = (now: number) => Command

/** `redact` comes before the population's own patterns, which a `redactor` applies on one thread for all populations that share it. */
export interface Options {
  readonly redact?: Redaction.Redact
  readonly redactor?: Redactor.Redactor
}

/** Writes a new population into an empty journal; refuses patterns of redaction that cannot be used. */
export const begin = Effect.fnUntraced(function* (
  journal: Journal.Interface,
  settings: Settings.Settings,
  contents: Arr.NonEmptyReadonlyArray<Instruction.Content>
): Effect.fn.Return<void, JournalError | Refused> {
  yield* Effect.fromResult(Redaction.make(settings.redact))
  const { events, state } = create(settings, contents)
  const now = yield* Clock.currentTimeMillis
  yield* journal.append(toJournal([written(state, events, now)]).events)
  yield* LogLine.log(events)
})

/** Opens a population from its journal, with the strategies of the context. It handles commands as long as the scope lasts. */
export const open = Effect.fnUntraced(function* (
  journal: Journal.Interface,
  options: Options = {}
): Effect.fn.Return<LivePopulation, JournalError, Scope.Scope> {
  const { redact = identity, redactor = yield* Redactor.make } = options
  const decides = latest(yield* Strategies.fromContext)
  const commits = yield* commitsOf(journal, decides)
  const { forget, retain } = yield* Retention.make(journal, commits.state)
  const redacted = Effect.fnUntraced(function* (details: Details) {
    const { settings } = yield* commits.state
    return yield* Redaction.details((texts) => redactor(settings.redact, texts.map(redact)), details)
  })
  const submit: LivePopulation["submit"] = (at, details = {}) =>
    Redaction.isWithoutTexts(details)
      ? commits.submit(at, details)
      : Effect.flatMap(redacted(details), (own) => commits.submit(at, own))
  return {
    decides,
    journal,
    state: commits.state,
    changes: commits.changes,
    forget,
    retain,
    submit,
    rewind: Effect.fn("LivePopulation.rewind")(function* (to, requestId) {
      yield* Effect.annotateCurrentSpan({ to, requestId })
      const log = yield* Loading.events(journal)
      const base = learnedUpTo(
        log.map(({ event }) => event),
        to,
        decides
      )
      return yield* submit((now) => ({ _tag: "Rewind", now, to, requestId, base }))
    })
  }
})

/** Strategies, made once as long as the settings are the same. */
const latest = (decides: Strategies.Decides): Strategies.Decides => {
  let known: { readonly of: Settings.Settings; readonly strategies: Strategies.Strategies } | undefined
  return (settings) =>
    (known?.of === settings ? known : (known = { of: settings, strategies: decides(settings) })).strategies
}

/** Reads the state from the journal and commits commands as long as the scope lasts: its state in memory, its events in the journal, one command after the other. */
const commitsOf = Effect.fnUntraced(function* (journal: Journal.Interface, decides: Strategies.Decides) {
  let state = yield* Loading.state(journal, decides)
  const timing = yield* Metrics.timing
  // Spans that are dropped would take longer than many commits.
  const isTraced = (yield* Tracer.Tracer) !== Tracer.nativeTracer
  // The server limits the requests that wait.
  const waiting = yield* Queue.unbounded<Submission>()
  const states = yield* PubSub.sliding<State.State>({ capacity: 1, replay: 1 })
  yield* PubSub.publish(states, state)
  yield* Effect.addFinalizer(() => PubSub.shutdown(states))

  const lookUp = ArchiveLookup.make(journal)
  const commit = Effect.fnUntraced(
    function* (batch: ReadonlyArray<Submission>) {
      const now = yield* Clock.currentTimeMillis
      const commands = batch.map(({ at, details }) => ({ command: at(now), details }))
      const archive = yield* lookUp(
        state,
        commands.map(({ command }) => command)
      )
      const { after, answers, events, happened, leases, records, rewards } = decide(
        decides,
        state,
        archive,
        commands,
        now
      )
      if (isTraced)
        yield* Effect.annotateCurrentSpan({ commands: batch.length, events: events.length, leases, rewards })
      if (events.length > 0 || records.length > 0) yield* journal.commit(events, records)
      yield* LogLine.log(happened)
      if (after !== state) {
        state = after
        yield* PubSub.publish(states, state)
      }
      return answers
    },
    isTraced ? Effect.withSpan("LivePopulation.commit") : identity
  )

  // Added first, so that it runs last: commands that are still queued get no answer.
  yield* Effect.addFinalizer(() =>
    Effect.map(Queue.clear(waiting), (left) => {
      for (const { answer } of left) answer(Exit.interrupt())
    })
  )
  yield* Effect.forkScoped(
    Effect.forever(Effect.andThen(gathered(waiting), Effect.flatMap(Queue.takeAll(waiting), answerAll(commit))))
  )
  return {
    submit: (at: At, details: Details) =>
      Effect.callback<Answer, Refused | JournalError>((answer) => {
        const began = timing.now()
        const done: Submission["answer"] = (exit) => {
          if (Exit.isSuccess(exit)) timing.since(began)
          answer(exit)
        }
        if (!Queue.offerUnsafe(waiting, { at, details, answer: done })) answer(Exit.interrupt())
      }),
    state: Effect.sync(() => state),
    /** The state now and after each change; a slow reader gets the latest. */
    changes: Stream.fromPubSub(states)
  }
})

interface Submission {
  readonly at: At
  readonly details: Details
  readonly answer: (answer: Exit.Exit<Answer, Refused | JournalError>) => void
}

/**
 * Waits for commands, and then as long as each turn of the event loop brings more: an idle thread commits at once, and one
 * that reads requests commits those together that have arrived.
 */
const gathered = Effect.fnUntraced(function* (waiting: Queue.Dequeue<Submission>) {
  yield* Queue.peek(waiting)
  let known = 0
  for (let turn = 0; turn < mostTurns && Queue.sizeUnsafe(waiting) > known; turn++) {
    known = Queue.sizeUnsafe(waiting)
    yield* Effect.yieldNow
  }
})

/** Turns of the event loop for which a commit waits for more commands. */
const mostTurns = 4

type Commit = (
  batch: ReadonlyArray<Submission>
) => Effect.Effect<ReadonlyArray<Result.Result<Answer, Refused>>, JournalError>

/**
 * Commits commands together and answers each of them, with its result or with the reason why nothing was written. After a
 * defect, which wrote nothing either, each half is committed by itself until the command that causes it is alone, so that it
 * fails no other.
 */
const answerAll =
  (commit: Commit) =>
  (batch: ReadonlyArray<Submission>): Effect.Effect<void> =>
    commit(batch).pipe(
      Effect.matchCauseEffect({
        onFailure: (cause) => {
          const failAll = Effect.sync(() => {
            for (const { answer } of batch) answer(Exit.failCause(cause))
          })
          if (!Cause.hasDies(cause)) return failAll
          if (batch.length > 1) {
            const middle = Math.ceil(batch.length / 2)
            return Effect.andThen(answerAll(commit)(batch.slice(0, middle)), answerAll(commit)(batch.slice(middle)))
          }
          return Effect.andThen(Effect.logError("A command failed; others of its commit did not", cause), failAll)
        },
        onSuccess: (answers) =>
          Effect.sync(() => {
            for (const [{ answer }, result] of Arr.zip(batch, answers))
              answer(Result.isSuccess(result) ? Exit.succeed(result.success) : Exit.fail(result.failure))
          })
      }),
      Effect.uninterruptible
    )

/** Handles commands one after the other: their answers, and what has to be written before these are returned. */
const decide = (
  decides: Strategies.Decides,
  before: State.State,
  archive: ArchiveLookup.ArchiveLookup,
  commands: ReadonlyArray<{ readonly command: Command; readonly details: Details }>,
  now: number
) => {
  const answers: Array<Result.Result<Answer, Refused>> = []
  const writes: Array<Written> = []
  const auxiliary: Array<Row> = []
  const happened: Array<PopulationEvent> = []
  let after = before
  let strategies = decides(before.settings)
  for (const { command, details } of commands) {
    const handled = Result.flatMap(validated(command), () => handle(strategies, after, archive, command))
    answers.push(Result.map(handled, ({ answer }) => answer))
    if (Result.isFailure(handled)) continue
    const { events, state } = handled.success
    const own = written(after, events, now)
    archive.learn(own)
    writes.push(own)
    for (const event of events) happened.push(event)
    auxiliary.push(...auxiliaryRecords({ command, details, written: own, archive, now }))
    if (state.settings !== after.settings) strategies = decides(state.settings)
    after = state
  }
  const count = (of: "leases" | "rewards") => writes.reduce((sum, one) => sum + one[of].length, 0)
  return {
    after,
    answers,
    happened,
    leases: count("leases"),
    rewards: count("rewards"),
    ...toJournal(writes, auxiliary)
  }
}

const validated = (command: Command): Result.Result<unknown, Refused> =>
  command._tag === "Configure" ? Redaction.make(command.settings.redact) : Result.void
