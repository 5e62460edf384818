/** Evolution in the background: whenever a population waits for a proposal, its work is sent to a proposer. */
import { History, type Refused, Learning, type State } from "@inspo/cohorts"
import { Journal, type JournalError } from "@inspo/journal"
import { Bookkeeping, ProposerCalls } from "@inspo/ledger"
import { CandidateLint, type Proposal, type Proposer, type ProposerError, Reflect } from "@inspo/reflection"
import { Context, Effect, Ref, Schedule, Stream, Array as Arr } from "effect"
import * as EvolutionStatus from "./EvolutionStatus.ts"
import * as Loading from "../store/Loading.ts"
import * as Work from "./internal/Work.ts"
import type { LivePopulation } from "./LivePopulation.ts"
import * as View from "./View.ts"
import type { Instruction } from "@inspo/domain"
import { isAlive, isIn, Notebook } from "@inspo/evolution"
import { Population } from "@inspo/population"

/**
 * The proposer of candidates, and the most that each population may spend on it in US dollars, whatever its own setting.
 * A golden answer is common, so that a candidate may name it, from the share `commonAnswers` of the newest work on; 0.01 by
 * default.
 */
export interface ServerProposer {
  readonly proposer: Proposer["Service"]
  readonly commonAnswers?: number
  readonly budgetUsd: number | null
}

/** The proposer of a server; null if none is configured. */
export const CurrentProposer = Context.Reference<ServerProposer | null>("@inspo/serve/Evolving/CurrentProposer", {
  defaultValue: () => null
})

/** The evolution of one population. */
export interface Evolving {
  /** Proposes whenever the population waits for a proposal. Faults are reported by `degraded`, and retried at growing intervals. */
  readonly run: Effect.Effect<never>
  /** The faults that keep it from evolving. They are durable. */
  readonly degraded: EvolutionStatus.EvolutionStatus["degraded"]
  /** The last evolution that was skipped, and why. */
  readonly skipped: EvolutionStatus.EvolutionStatus["skipped"]
  /** What proposals have cost, in US dollars; null if the model's price is unknown. */
  readonly spentUsd: Effect.Effect<number | null, JournalError>
  /** The most that the server allows each population to spend on them, null for no limit. */
  readonly capUsd: number | null
}

/** The evolution of a population; without a proposer it is skipped with the reason. */
export const make = Effect.fnUntraced(function* (
  live: LivePopulation,
  proposer: ServerProposer | null
): Effect.fn.Return<Evolving, JournalError> {
  const { journal } = live
  const status = yield* EvolutionStatus.open(journal)
  const evolve = proposer === null ? () => skip(live, status, noProposer) : evolving(live, status, proposer)

  const run = live.changes.pipe(
    // A call in flight continues while a population is frozen.
    Stream.filter(({ isFrozen }) => !isFrozen),
    Stream.map(due),
    Stream.changesWith((one, other) => one?.key === other?.key),
    Stream.switchMap((due) =>
      Stream.fromEffect(
        (due === null ? forget(journal) : evolve(due)).pipe(
          Effect.tapError(({ message }) => Effect.logWarning(`evolution is retried: ${message}`)),
          Effect.retry(Schedule.spaced(retryAfter))
        )
      )
    ),
    Stream.runDrain,
    Effect.catchCause((cause) => Effect.logError("evolution failed, and starts again", cause))
  )
  return {
    run: Effect.andThen(Effect.repeat(run, Schedule.spaced(retryAfter)), Effect.never),
    degraded: status.degraded,
    skipped: status.skipped,
    spentUsd: EvolutionStatus.spentUsd(journal),
    capUsd: proposer?.budgetUsd ?? null
  }
})

const noProposer = "no proposer is configured to write proposals: name one in the server's settings"

const retryAfter = "30 seconds"

/** From half a minute to an hour. */
const backoff = Schedule.min([Schedule.exponential(retryAfter), Schedule.spaced("1 hour")])

/** So many answers without a usable candidate are paid for. */
const mostAnswers = 3

const evolving = (live: LivePopulation, status: EvolutionStatus.EvolutionStatus, proposer: ServerProposer) => {
  const ask = asking(live, proposer)
  return Effect.fn("Evolving.evolve")(function* (due: Due) {
    yield* Effect.annotateCurrentSpan({ parent: due.parent, step: due.step, round: due.round })
    const state = yield* live.state
    const work = yield* Work.of(live.journal, state, due.parent, proposer.commonAnswers)
    if (work.records.length === 0)
      return yield* skip(
        live,
        status,
        `no texts are known of the work under ${due.parent}: report transcripts or feedback with rewards`
      )
    const { known } = yield* Loading.history(live.journal)
    const reflection = reflectionOn(
      state,
      due,
      work,
      // What a branch tried that was given up may be tried again.
      Array.from(known.values())
        .filter((one) => History.fate(one) !== "rewound")
        .map(({ content }) => content)
    )
    const unusable = yield* Ref.make(0)
    yield* Effect.flatMap(Ref.get(unusable), (attempt) => ask(due, reflection, attempt)).pipe(
      Effect.tapError((failure) => status.degrade(faultOf(failure))),
      Effect.tapErrorTag("ProposerError", ({ isUnusable }) =>
        // The same call would read the stored answer again, so the next attempt is another call.
        isUnusable ? Ref.update(unusable, (count) => count + 1) : Effect.void
      ),
      Effect.retry({
        schedule: backoff,
        while: ({ _tag }) => Effect.map(Ref.get(unusable), (count) => _tag !== "JournalError" && count < mostAnswers)
      }),
      Effect.tap(() => status.recovered),
      Effect.flatMap((proposal) => propose(live, status, due, reflection, proposal, work.questions)),
      Effect.catchTags({
        ProposerError: ({ message, notes }) => skip(live, status, message, notedOf(due, notes)),
        // Each of them is retried without end.
        BudgetReached: Effect.die,
        UnknownPrice: Effect.die
      })
    )
  })
}

/** Calls the proposer. Every call is booked, and its answer stored until the proposal is durable, so that it is paid once. */
const asking = (live: LivePopulation, { budgetUsd: capUsd, proposer }: ServerProposer) =>
  Effect.fnUntraced(
    function* (due: Due, { request }: Reflect.Reflection, attempt: number) {
      const { settings } = yield* live.state
      const budget = { usd: View.budgetUsd(settings, capUsd), rollouts: null, tokens: null, minutes: null }
      const bookkeeping = yield* Bookkeeping.make(budget)
      const makeCall = yield* ProposerCalls.make(bookkeeping)
      return yield* proposer.propose({
        ...request,
        seed: settings.randomSeed,
        stream: due.stream,
        makeCall: makeCall("proposing", due.step, attempt)
      })
    },
    Effect.provideService(Journal, live.journal)
  )

const faultOf = (failure: ProposerError | ProposerCalls.CallError): Omit<EvolutionStatus.Degraded, "since"> =>
  failure._tag === "BudgetReached"
    ? {
        reason: `evolution has spent its budget: ${failure.spent} of ${failure.limit} US dollars`,
        remedy: "Raise the population's budget, or that of the server's proposer. Meanwhile leases continue"
      }
    : failure._tag === "UnknownPrice"
      ? {
          reason: `evolution may spend ${failure.limit} US dollars, and the price of the proposer's model is not known`,
          remedy:
            "Give its price under proposer.prices of the server's config file, or leave out both budgets, that of the population and that of the proposer"
        }
      : {
          reason: failure.message,
          remedy: "Fix what the reason names. The call is repeated automatically, at the latest after an hour"
        }

/** Submits the candidates that keep the rules. */
const propose = Effect.fnUntraced(function* (
  live: LivePopulation,
  status: EvolutionStatus.EvolutionStatus,
  due: Due,
  { candidatesOf, request }: Reflect.Reflection,
  proposal: Proposal,
  reflected: Work.Work["questions"]
) {
  const { accepted, rejected } = candidatesOf(proposal)
  const count = accepted.length + rejected.length
  const why = [...new Set(rejected.map(({ reason }) => CandidateLint.description[reason]))].join(", or ")
  if (accepted.length === 0) {
    const reason = `none of ${count} candidates is usable${why === "" ? "" : `: each ${why}`}`
    return yield* skip(live, status, reason, notedOf(due, proposal.notes))
  }
  if (rejected.length > 0) yield* Effect.logInfo(`${rejected.length} of ${count} candidates were rejected: each ${why}`)
  const rationale = rationaleOf(due, request)
  const proposed = accepted.map((candidate) => ({ ...candidate, rationale }))
  const noted = proposal.notes === undefined ? {} : { notes: proposal.notes }
  yield* submitUnlessOver(
    live.submit((now) => ({ _tag: "Propose", now, parent: due.parent, candidates: proposed, reflected, ...noted }))
  )
  yield* forget(live.journal)
})

const skip = Effect.fnUntraced(function* (
  live: LivePopulation,
  status: EvolutionStatus.EvolutionStatus,
  reason: string,
  noted: ReturnType<typeof notedOf> = {}
) {
  yield* status.skip(reason)
  yield* submitUnlessOver(live.submit((now) => ({ _tag: "SkipEvolution", now, reason, ...noted })))
  yield* forget(live.journal)
})

/** What a proposer that learns wrote down with a proposal of which nothing can be tried. */
const notedOf = ({ parent }: Due, notes: Proposal["notes"]) => (notes === undefined ? {} : { noted: { notes, parent } })

/** If the evolution has ended meanwhile, such as by a rewind, its proposal is dropped. */
const submitUnlessOver = <A>(submitting: Effect.Effect<A, Refused | JournalError>): Effect.Effect<void, JournalError> =>
  submitting.pipe(
    Effect.catchTag("Refused", ({ message }) =>
      Effect.logInfo(`a proposal is dropped, as it came too late: ${message}`)
    ),
    Effect.asVoid
  )

/** A proposal that a population waits for. */
interface Due {
  /** Identifies the evolution and its round. */
  readonly key: string
  readonly stream: ReadonlyArray<string | number>
  readonly step: number
  readonly round: number
  readonly parent: Instruction.InstructionId
}

/** The proposal that a state waits for, null if there is none. */
const due = ({ branch, learning: { evolution } }: State.State): Due | null => {
  if (!isIn(evolution, "Proposing")) return null
  const { parents, round, step } = evolution
  const parent = parents[(round - 1) % parents.length]
  if (parent === undefined) return null
  const stream = [streamName, branch, step, round]
  return { key: stream.join("/"), stream, step, round, parent }
}

const streamName = "evolution"

/** Deletes the stored answers once their proposal is durable. */
const forget = (journal: Journal.Interface): Effect.Effect<void, JournalError> =>
  journal.deleteRecords(["proposer"], { prefixes: [`${streamName}/`] })

/** At most so many candidates are requested at once. */
const mostCandidates = 4

/** The reflection that is due. `contents` are all that were proposed or members on this branch. */
const reflectionOn = (
  { learning, limits, settings }: State.State,
  { parent, round, step }: Due,
  { commonAnswers, records }: Pick<Work.Work, "commonAnswers" | "records">,
  contents: ReadonlyArray<Instruction.Content>
): Reflect.Reflection => {
  const { members } = learning.population
  const content = Learning.contentOfMember(learning, parent)
  return Reflect.on({
    parent: content,
    seed: isAlive(learning.population, learning.seed) ? Learning.contentOfMember(learning, learning.seed) : content,
    records,
    known: contents,
    history: Arr.zipWith(members, Population.compare.values(learning.population), ({ instruction }, { value }) => ({
      instruction,
      score: value
    })),
    notebook: Notebook.ofState(learning),
    count: Math.max(1, Math.min(mostCandidates, settings.population.size - settings.population.parents)),
    turn: Math.floor(step / Math.max(1, settings.schedule.evolveEvery)) + round - 1,
    longest: limits.textLength,
    rules: { commonAnswers }
  })
}

/** Why candidates were proposed; `name` is that of the text that they revise, where there are several. */
const rationaleOf = ({ parent }: Due, { name, records }: Reflect.Reflection["request"]): string => {
  const scores = records.map(({ score }) => score)
  return (
    `${name === undefined ? "" : `Revises ${name}. `}Written after ${records.length} records of work under ${parent}, ` +
    `with rewards of ${Math.min(...scores).toFixed(2)} to ${Math.max(...scores).toFixed(2)} of 1`
  )
}
