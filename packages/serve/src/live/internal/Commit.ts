/** Commits the commands of a population: its state in memory, its events in a journal, one command after the other. */
import {
  type Answer,
  type Command,
  handle,
  type PopulationEvent,
  type Refused,
  type Settings,
  type State,
  type Strategies
} from "@inspo/cohorts"
import type { Journal, JournalError } from "@inspo/journal"
import { Array as Arr, Cause, Clock, Deferred, Effect, PubSub, Queue, Result, type Scope, Stream } from "effect"
import type { Details } from "../../store/Details.ts"
import * as ArchiveLookup from "../../store/internal/ArchiveLookup.ts"
import { auxiliaryRecords } from "../../store/internal/AuxiliaryRecords.ts"
import { type Row, toJournal, type Written, written } from "../../store/internal/Stored.ts"
import * as Loading from "../../store/Loading.ts"
import * as Redaction from "../Redaction.ts"
import * as LogLine from "./LogLine.ts"

/** A command once the time is known. */
export type At = (now: number) => Command

export type Decides = (settings: Settings.Settings) => Strategies.Strategies

export interface Commits {
  /** Commits a command and returns its answer. */
  readonly submit: (at: At, details: Details) => Effect.Effect<Answer, Refused | JournalError>
  readonly state: Effect.Effect<State.State>
  /** The state now and after each change; a slow reader gets the latest. */
  readonly changes: Stream.Stream<State.State>
}

/** Reads the state from the journal and commits commands as long as the scope lasts. */
export const make = Effect.fnUntraced(function* (
  journal: Journal.Interface,
  decides: Decides
): Effect.fn.Return<Commits, JournalError, Scope.Scope> {
  let state = yield* Loading.state(journal)
  const waiting = yield* Queue.bounded<Submission>(mostWaiting)
  const states = yield* PubSub.sliding<State.State>({ capacity: 1, replay: 1 })
  yield* PubSub.publish(states, state)
  yield* Effect.addFinalizer(() => PubSub.shutdown(states))

  const lookUp = ArchiveLookup.make(journal)
  const commit = Effect.fn("LivePopulation.commit")(function* (batch: ReadonlyArray<Submission>) {
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
    yield* Effect.annotateCurrentSpan({ commands: batch.length, events: events.length, leases, rewards })
    if (events.length > 0 || records.length > 0) yield* journal.commit(events, records)
    yield* LogLine.log(happened)
    if (after !== state) {
      state = after
      yield* PubSub.publish(states, state)
    }
    return answers
  })

  // Added first, so that it runs last: commands that are still queued get no answer.
  yield* Effect.addFinalizer(() =>
    Effect.flatMap(
      Queue.clear(waiting),
      Effect.forEach(({ answer }) => Deferred.interrupt(answer), { discard: true })
    )
  )
  yield* Effect.forkScoped(
    Effect.forever(Effect.andThen(gathered(waiting), Effect.flatMap(Queue.takeAll(waiting), answerAll(commit))))
  )
  return {
    submit: Effect.fnUntraced(function* (at, details) {
      const answer = yield* Deferred.make<Answer, Refused | JournalError>()
      yield* Queue.offer(waiting, { at, details, answer })
      return yield* Deferred.await(answer)
    }),
    state: Effect.sync(() => state),
    changes: Stream.fromPubSub(states)
  }
})

interface Submission {
  readonly at: At
  readonly details: Details
  readonly answer: Deferred.Deferred<Answer, Refused | JournalError>
}

/** Commands that wait for a commit; further ones wait to be queued. */
const mostWaiting = 4096

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
          const failAll = Effect.forEach(batch, ({ answer }) => Deferred.failCause(answer, cause), { discard: true })
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
              Deferred.doneUnsafe(answer, Effect.fromResult(result))
          })
      }),
      Effect.uninterruptible
    )

/** Handles commands one after the other: their answers, and what has to be written before these are returned. */
const decide = (
  decides: Decides,
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
    const handled = Result.flatMap(validate(command), () => handle(strategies, after, archive, command))
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

const validate = (command: Command): Result.Result<unknown, Refused> =>
  command._tag === "Configure" ? Redaction.make(command.settings.redact) : Result.void
