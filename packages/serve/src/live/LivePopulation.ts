/** One population in service: its state in memory, its events in a journal, one command after the other. */
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
import type { Content } from "@inspo/domain/Instruction"
import type { Journal, JournalError } from "@inspo/journal"
import {
  Array as Arr,
  Cause,
  Clock,
  Deferred,
  Effect,
  identity,
  PubSub,
  Queue,
  Result,
  Schedule,
  type Scope,
  Stream
} from "effect"
import { besides } from "../store/internal/AuxiliaryRecords.ts"
import * as Keeping from "./internal/Retention.ts"
import * as Loading from "../store/Loading.ts"
import * as LogLine from "./internal/LogLine.ts"
import * as Recalled from "../store/internal/ArchiveLookup.ts"
import { type Row, toJournal, type Written, written } from "../store/internal/Stored.ts"
import * as Redaction from "./Redaction.ts"
import * as Redactor from "./Redactor.ts"
import type { Told } from "../store/Details.ts"

/** A population that takes commands. */
export interface LivePopulation {
  /**
   * Does a command at the present time. The answer comes after what it led to is durable; commands that wait meanwhile are
   * committed together. Fails with `JournalError` where nothing could be written: nothing of it was done then. What is told
   * beside it is redacted, and kept with leases that are new, and with rewards that are accepted or late.
   */
  readonly submit: (command: At, told?: Told) => Effect.Effect<Answer, Refused | JournalError>
  /** Goes back to a closed cohort, once for each `requestId`; gives the branch that goes on from there. */
  readonly rewind: (to: string, requestId: string) => Effect.Effect<Answer, Refused | JournalError>
  /**
   * Deletes the texts of leases. Their rewards stay, and everything learned from them. False while a reader of the journal
   * still has the texts: they are then removed in the background as soon as it ends.
   */
  readonly forget: (leases: ReadonlyArray<string>) => Effect.Effect<boolean, JournalError>
  /** Forgets what is older than the population's retention, as is done by itself every few minutes. */
  readonly retain: Effect.Effect<void, JournalError>
  /** Where it is kept. */
  readonly journal: Journal.Interface
  /** What is durable. */
  readonly state: Effect.Effect<State.State>
  /** What is durable, now and whenever it changes; who is slow sees the latest. */
  readonly changes: Stream.Stream<State.State>
}

/** A command once the time is known. */
export type At = (now: number) => Command

/**
 * `redact` gives a text of a user as it may be stored, before the population's own patterns do by a `redactor`, which has one
 * thread for all who share it; `decides`, who decides.
 */
export interface Options {
  readonly redact?: Redaction.Redact
  readonly redactor?: Redactor.Redactor
  readonly decides?: (settings: Settings.Settings) => Strategies.Strategies
}

/** Writes a new population into an empty journal; refuses patterns of redaction that cannot be used. */
export const begin = Effect.fnUntraced(function* (
  journal: Journal.Interface,
  settings: Settings.Settings,
  contents: Arr.NonEmptyReadonlyArray<Content>
): Effect.fn.Return<void, JournalError | Refused> {
  yield* Effect.fromResult(Redaction.make(settings.redact))
  const { events, state } = create(settings, contents)
  const now = yield* Clock.currentTimeMillis
  yield* journal.append(toJournal([written(state, events, now)]).events)
  yield* LogLine.log(events)
})

/** Takes a population up from its journal. It takes commands as long as the scope lasts. */
export const open = Effect.fnUntraced(function* (
  journal: Journal.Interface,
  options: Options = {}
): Effect.fn.Return<LivePopulation, JournalError, Scope.Scope> {
  let state = yield* Loading.state(journal)
  const waiting = yield* Queue.bounded<Waiting>(mostWaiting)
  const states = yield* PubSub.sliding<State.State>({ capacity: 1, replay: 1 })
  yield* PubSub.publish(states, state)
  yield* Effect.addFinalizer(() => PubSub.shutdown(states))

  const { decides = Strategies.ofSettings } = options
  const recall = Recalled.make(journal)
  const commit = Effect.fnUntraced(function* (batch: ReadonlyArray<Waiting>) {
    const now = yield* Clock.currentTimeMillis
    const commands = batch.map(({ at, told }) => ({ command: at(now), told }))
    const archive = yield* recall(
      state,
      commands.map(({ command }) => command)
    )
    const { after, answers, events, happened, records } = decide(decides, state, archive, commands, now)
    if (events.length > 0 || records.length > 0) yield* journal.commit(events, records)
    yield* LogLine.log(happened)
    if (after !== state) {
      state = after
      yield* PubSub.publish(states, state)
    }
    return answers
  })

  // Added first, so that it runs last: what nobody takes any more is not waited for.
  yield* Effect.addFinalizer(() =>
    Effect.flatMap(
      Queue.clear(waiting),
      Effect.forEach(({ answer }) => Deferred.interrupt(answer), { discard: true })
    )
  )
  yield* Effect.forkScoped(
    Effect.forever(Effect.andThen(gathered(waiting), Effect.flatMap(Queue.takeAll(waiting), answerAll(commit))))
  )

  const { redact = identity, redactor = yield* Redactor.make } = options
  const submit: LivePopulation["submit"] = Effect.fnUntraced(function* (at, told = {}) {
    const answer = yield* Deferred.make<Answer, Refused | JournalError>()
    const redacted = yield* Redaction.told((texts) => redactor(state.settings.redact, texts.map(redact)), told)
    yield* Queue.offer(waiting, { at, told: redacted, answer })
    return yield* Deferred.await(answer)
  })

  const erasing = yield* Keeping.makeErasing(journal)
  const retain = Effect.suspend(() => erasing(Keeping.retain(journal, state))).pipe(
    Effect.asVoid,
    Effect.withSpan("LivePopulation.retain")
  )
  yield* retain.pipe(
    Effect.catch(({ message }) => Effect.logWarning(`what is old could not be dropped: ${message}`)),
    Effect.repeat(Schedule.spaced(retainEvery)),
    Effect.forkScoped
  )

  return {
    journal,
    state: Effect.sync(() => state),
    changes: Stream.fromPubSub(states),
    forget: (leases) => erasing(Keeping.forget(journal, leases)),
    retain,
    submit,
    rewind: Effect.fn("LivePopulation.rewind")(function* (to, requestId) {
      const log = yield* Loading.events(journal)
      const base = learnedUpTo(
        log.map(({ event }) => event),
        to
      )
      return yield* submit((now) => ({ _tag: "Rewind", now, to, requestId, base }))
    })
  }
})

/**
 * Waits for commands, and then as long as each turn of the event loop brings more: a thread that has nothing else to do
 * commits at once, and one that reads requests commits those together that have come.
 */
const gathered = Effect.fnUntraced(function* (waiting: Queue.Dequeue<Waiting>) {
  yield* Queue.peek(waiting)
  let known = 0
  for (let turn = 0; turn < mostTurns && Queue.sizeUnsafe(waiting) > known; turn++) {
    known = Queue.sizeUnsafe(waiting)
    yield* Effect.yieldNow
  }
})

type Commit = (
  batch: ReadonlyArray<Waiting>
) => Effect.Effect<ReadonlyArray<Result.Result<Answer, Refused>>, JournalError>

/**
 * Commits commands together and answers each of them, with its result or with why nothing was written. A defect wrote
 * nothing either: halves are committed apart until the command that causes it is alone, so that it fails no other.
 */
const answerAll =
  (commit: Commit) =>
  (batch: ReadonlyArray<Waiting>): Effect.Effect<void> =>
    commit(batch).pipe(
      Effect.matchCauseEffect({
        onFailure: (cause) => {
          if (!Cause.hasDies(cause)) return failAll(batch, cause)
          if (batch.length > 1) {
            const middle = Math.ceil(batch.length / 2)
            return Effect.andThen(answerAll(commit)(batch.slice(0, middle)), answerAll(commit)(batch.slice(middle)))
          }
          return Effect.andThen(
            Effect.logError("A command failed; the commands beside it did not", cause),
            failAll(batch, cause)
          )
        },
        onSuccess: (answers) =>
          Effect.sync(() => {
            for (const [{ answer }, result] of Arr.zip(batch, answers))
              Deferred.doneUnsafe(answer, Effect.fromResult(result))
          })
      }),
      Effect.uninterruptible
    )

const failAll = (batch: ReadonlyArray<Waiting>, cause: Cause.Cause<JournalError>): Effect.Effect<void> =>
  Effect.forEach(batch, ({ answer }) => Deferred.failCause(answer, cause), { discard: true })

/** What commands lead to, one after the other: their answers, and what is to be written before these are given. */
const decide = (
  decides: NonNullable<Options["decides"]>,
  before: State.State,
  archive: Recalled.Recalled,
  commands: ReadonlyArray<{ readonly command: Command; readonly told: Told }>,
  now: number
) => {
  const answers: Array<Result.Result<Answer, Refused>> = []
  const writes: Array<Written> = []
  const beside: Array<Row> = []
  const happened: Array<PopulationEvent> = []
  let after = before
  let strategies = decides(before.settings)
  for (const { command, told } of commands) {
    const handled = Result.flatMap(usable(command), () => handle(strategies, after, archive, command))
    answers.push(Result.map(handled, ({ answer }) => answer))
    if (Result.isFailure(handled)) continue
    const { events, state } = handled.success
    const own = written(after, events, now)
    archive.learn(own)
    writes.push(own)
    for (const event of events) happened.push(event)
    beside.push(...besides({ command, told, written: own, archive, now }))
    if (state.settings !== after.settings) strategies = decides(state.settings)
    after = state
  }
  return { after, answers, happened, ...toJournal(writes, beside) }
}

const usable = (command: Command): Result.Result<unknown, Refused> =>
  command._tag === "Configure" ? Redaction.make(command.settings.redact) : Result.void

interface Waiting {
  readonly at: At
  readonly told: Told
  readonly answer: Deferred.Deferred<Answer, Refused | JournalError>
}

/** Commands that wait for a commit; more wait before they are taken. */
const mostWaiting = 4096

/** Turns of the event loop for which a commit waits for more of them. */
const mostTurns = 4

/** How often what is old is dropped. */
const retainEvery = "10 minutes"
