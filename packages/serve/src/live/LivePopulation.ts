/** A population in service: commands are committed, texts redacted, and old records deleted. */
import { type Answer, create, learnedUpTo, type Refused, type Settings, type State, Strategies } from "@inspo/cohorts"
import type { Content } from "@inspo/domain/Instruction"
import type { Journal, JournalError } from "@inspo/journal"
import { type Array as Arr, Clock, Effect, identity, type Scope, type Stream } from "effect"
import type { Details } from "../store/Details.ts"
import { toJournal, written } from "../store/internal/Stored.ts"
import * as Loading from "../store/Loading.ts"
import * as Commit from "./internal/Commit.ts"
import * as LogLine from "./internal/LogLine.ts"
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
  /** Where it is stored. */
  readonly journal: Journal.Interface
  /** The durable state. */
  readonly state: Effect.Effect<State.State>
  /** The durable state now and after each change; a slow reader gets the latest. */
  readonly changes: Stream.Stream<State.State>
}

/** A command once the time is known. */
export type At = Commit.At

/**
 * `redact` is applied to texts of users before the population's own patterns, which a `redactor` applies on one thread for
 * all populations that share it; `decides` gives the strategies of settings.
 */
export interface Options {
  readonly redact?: Redaction.Redact
  readonly redactor?: Redactor.Redactor
  readonly decides?: Commit.Decides
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

/** Opens a population from its journal. It handles commands as long as the scope lasts. */
export const open = Effect.fnUntraced(function* (
  journal: Journal.Interface,
  options: Options = {}
): Effect.fn.Return<LivePopulation, JournalError, Scope.Scope> {
  const { decides = Strategies.ofSettings, redact = identity, redactor = yield* Redactor.make } = options
  const commits = yield* Commit.make(journal, decides)
  const { forget, retain } = yield* Retention.make(journal, commits.state)
  const submit: LivePopulation["submit"] = Effect.fnUntraced(function* (at, details = {}) {
    const { settings } = yield* commits.state
    const redacted = yield* Redaction.details((texts) => redactor(settings.redact, texts.map(redact)), details)
    return yield* commits.submit(at, redacted)
  })
  return {
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
        to
      )
      return yield* submit((now) => ({ _tag: "Rewind", now, to, requestId, base }))
    })
  }
})
