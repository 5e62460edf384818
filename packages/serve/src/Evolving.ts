/** Evolution in the background: whenever a population waits for a proposal, a proposer is shown its work and asked for one. */
import type { Refused } from "@inspo/cohorts"
import { ofContent } from "@inspo/domain/Instruction"
import { Journal, type JournalError } from "@inspo/journal"
import { Bookkeeping, ProposerCalls } from "@inspo/ledger"
import {
  CandidateLint,
  type Proposal,
  type Proposer,
  type ProposerError,
  type ProposerErrorKind
} from "@inspo/reflection"
import { Context, Duration, Effect, Result, Schedule, Stream } from "effect"
import * as Notes from "./internal/Notes.ts"
import * as Reflecting from "./internal/Reflecting.ts"
import * as View from "./internal/View.ts"
import * as Work from "./internal/Work.ts"
import type { LivePopulation } from "./LivePopulation.ts"
import type { Degraded, Skipped } from "./internal/Notes.ts"

export type { Degraded, Skipped } from "./internal/Notes.ts"

/**
 * Who writes candidates, and the most that each population may spend on it in US dollars, whatever its own setting.
 * `commonAnswers` is the share of the newest work from which on a golden answer is common, so that a candidate may name it;
 * 0.01 where left out.
 */
export interface ServerProposer {
  readonly proposer: Proposer["Service"]
  readonly commonAnswers?: number
  readonly budgetUsd: number | null
}

/** The proposer of a server; null where none is configured. */
export const CurrentProposer = Context.Reference<ServerProposer | null>("@inspo/serve/Evolving/CurrentProposer", {
  defaultValue: () => null
})

/** The evolution of one population. */
export interface Evolving {
  /** Proposes whenever a proposal is waited for. What goes wrong is told by `degraded`, and tried again ever more rarely. */
  readonly run: Effect.Effect<never>
  /** What keeps it from evolving; empty where nothing does. It is durable. */
  readonly degraded: Effect.Effect<ReadonlyArray<Degraded>>
  /** The last evolution that was skipped, and why. */
  readonly skipped: Effect.Effect<Skipped | null>
  /** What proposals have cost, in US dollars; null where the model's price is not known. */
  readonly spentUsd: Effect.Effect<number | null, JournalError>
  /** What the server lets each population spend on them, null for no bound. */
  readonly capUsd: number | null
}

/** The evolution of a population; without a proposer each is skipped with the reason. */
export const make = Effect.fnUntraced(function* (
  live: LivePopulation,
  proposer: ServerProposer | null
): Effect.fn.Return<Evolving, JournalError> {
  const { journal } = live
  const notes = yield* Notes.open(journal)
  const evolve = proposer === null ? () => skip(live, notes, noProposer) : evolving(live, notes, proposer)

  const run = live.changes.pipe(
    // A call in flight is not given up because a population is frozen.
    Stream.filter(({ isFrozen }) => !isFrozen),
    Stream.map(Reflecting.due),
    Stream.changesWith((one, other) => one?.key === other?.key),
    Stream.switchMap((due) =>
      Stream.fromEffect(
        (due === null ? Reflecting.forget(journal) : evolve(due)).pipe(
          Effect.tapError(({ message }) => Effect.logWarning(`evolution is tried again: ${message}`)),
          Effect.retry(Schedule.spaced(pause(0)))
        )
      )
    ),
    Stream.runDrain
  )
  return {
    run: run.pipe(
      Effect.catchCause((cause) => Effect.logError("evolution broke off, and is taken up again", cause)),
      Effect.andThen(Effect.sleep(pause(0))),
      Effect.forever
    ),
    degraded: notes.degraded,
    skipped: notes.skipped,
    spentUsd: Notes.spentUsd(journal),
    capUsd: proposer?.budgetUsd ?? null
  }
})

const noProposer = "no proposer is configured, so there is nobody to propose: name one in the server's settings"

/** From half a minute to an hour. */
const pause = (failures: number): Duration.Duration =>
  Duration.millis(Math.min(3_600_000, 30_000 * 2 ** Math.min(failures, 10)))

/** So many answers that hold no usable candidate are paid for. */
const mostAnswers = 3

const evolving = (live: LivePopulation, notes: Notes.Notes, proposer: ServerProposer) => {
  const ask = asking(live, proposer)
  return Effect.fn("Evolving.evolve")(function* (due: Reflecting.Due) {
    const state = yield* live.state
    const work = yield* Work.of(live.journal, state, due.parent, proposer.commonAnswers)
    if (work.records.length === 0)
      return yield* skip(
        live,
        notes,
        `nothing is known of the work under ${due.parent}: tell transcripts or feedback with its rewards`
      )
    const task = Reflecting.taskOf(state, due, work)
    let answers = 0
    for (let failures = 0; ; failures++) {
      const asked = yield* Effect.result(ask(due, task, answers))
      if (Result.isSuccess(asked)) {
        yield* notes.recovered
        return yield* propose(live, notes, due, task, asked.success, work.questions)
      }
      const { failure } = asked
      yield* notes.degrade(told(failure))
      if (failure._tag === "ProposerError" && isAnswer(failure.failure.kind)) {
        answers++
        if (answers >= mostAnswers) return yield* skip(live, notes, failure.message)
      }
      yield* Effect.sleep(pause(failures))
    }
  })
}

/** Asks the proposer; every call is booked, and its answer kept until the proposal is durable, so that it is paid once. */
const asking = (live: LivePopulation, { budgetUsd: capUsd, proposer }: ServerProposer) =>
  Effect.fnUntraced(
    function* (due: Reflecting.Due, task: Reflecting.Task, attempt: number) {
      const { settings } = yield* live.state
      const budget = { usd: View.budgetUsd(settings, capUsd), rollouts: null, tokens: null, minutes: null }
      const bookkeeping = yield* Bookkeeping.make(budget)
      const makeCall = yield* ProposerCalls.make(bookkeeping)
      return yield* proposer.propose({
        ...task.request,
        seed: settings.randomSeed,
        stream: due.stream,
        makeCall: makeCall("proposing", due.step, attempt)
      })
    },
    Effect.provideService(Journal, live.journal)
  )

/** Failures of an answer that was kept: asked once more it would be read again, so another one is asked for. */
const isAnswer = (kind: ProposerErrorKind): boolean =>
  kind === "refused" || kind === "empty" || kind === "cut" || kind === "no-candidates"

const told = (failure: ProposerError | ProposerCalls.CallError): Omit<Degraded, "since"> =>
  failure._tag === "BudgetReached"
    ? {
        reason: `evolution has spent its budget: ${failure.spent} of ${failure.limit} US dollars`,
        remedy: "Raise the population's budget, or that of the server's proposer; the population goes on as it is"
      }
    : failure._tag === "UnknownPrice"
      ? {
          reason: `evolution may spend ${failure.limit} US dollars, and the price of the proposer's model is not known`,
          remedy:
            "Give its price under proposer.prices of the server's config file, or leave out both budgets: budgetUsd of the population and of the proposer"
        }
      : {
          reason: failure.message,
          remedy: "Fix what the reason names. The proposer is asked again by itself, at the latest after an hour"
        }

/** Hands in what keeps the rules. */
const propose = Effect.fnUntraced(function* (
  live: LivePopulation,
  notes: Notes.Notes,
  due: Reflecting.Due,
  task: Reflecting.Task,
  { candidates }: Proposal,
  reflected: Work.Work["questions"]
) {
  const { accepted, rejected } = CandidateLint.lint(candidates, task.request.rules)
  const contents = accepted.map(({ text }) => task.contentOf(text)).filter((content) => content !== null)
  const why = [...new Set(rejected.map(({ reason }) => CandidateLint.description[reason]))].join(", or ")
  if (contents.length === 0) {
    return yield* skip(
      live,
      notes,
      `none of ${candidates.length} candidates could be taken${why === "" ? ": all are longer than a text may be" : `: each ${why}`}`
    )
  }
  if (rejected.length > 0)
    yield* Effect.logInfo(`${rejected.length} of ${candidates.length} candidates were rejected: each ${why}`)
  const proposed = contents.map((content) => ({ ...ofContent(content), rationale: task.rationale }))
  yield* handIn(live.submit((now) => ({ _tag: "Propose", now, parent: due.parent, candidates: proposed, reflected })))
  yield* Reflecting.forget(live.journal)
})

const skip = Effect.fnUntraced(function* (live: LivePopulation, notes: Notes.Notes, reason: string) {
  yield* notes.skip(reason)
  yield* handIn(live.submit((now) => ({ _tag: "SkipEvolution", now, reason })))
  yield* Reflecting.forget(live.journal)
})

/** Where the evolution has ended meanwhile, such as by a rewind, nobody waits for its proposal any more. */
const handIn = <A>(submitting: Effect.Effect<A, Refused | JournalError>): Effect.Effect<void, JournalError> =>
  submitting.pipe(
    Effect.catchTag("Refused", ({ message }) => Effect.logInfo(`a proposal came too late: ${message}`)),
    Effect.asVoid
  )
