/** Follows a search by its events, and makes the view of it: a pure function of what was followed. */
import { Instruction } from "@inspo/domain"
import { Conclude } from "@inspo/evolution"
import { Bootstrap, Bounded } from "@inspo/statistics"
import { Difference, type Population } from "@inspo/population"
import { Array as Arr, Effect, Result, type Schema, Struct } from "effect"
import * as Aim from "./Aim.ts"
import { type Event, keyOf, type Obtained } from "./Event.ts"
import * as Evidence from "./Evidence.ts"
import * as Log from "./Log.ts"
import * as Protected from "./Protected.ts"
import * as Search from "./Search.ts"
import type { Failing, Gain, Round, SearchView, Tried } from "./SearchView.ts"
import * as Sessions from "./Sessions.ts"
import * as Setup from "./Setup.ts"

/** A search, the state after its events, and what each round showed. */
export interface Shown {
  readonly head: {
    readonly cases: ReadonlyArray<Schema.Json>
    readonly randomSeed: number
    readonly identity: Readonly<Record<string, string>>
  }
  readonly state: Search.State
  readonly events: ReadonlyArray<Event>
  readonly rounds: ReadonlyArray<Round>
}

/** The search in a file, as far as it was read. */
export interface Followed extends Shown, Pick<Log.Contents, "behind"> {}

/** What was read of a file, and the view of it. */
export interface Read {
  readonly followed: Followed
  readonly view: SearchView
}

/**
 * Reads the file of a search, which another process may write meanwhile; `before` is what was read of it earlier, and spares the work
 * of reading that again.
 */
export const read = Effect.fn("Viewing.read")(function* (
  file: string,
  before: Followed | null = null
): Effect.fn.Return<Read, Log.FileFailed> {
  if (before === null) {
    const contents = yield* Log.read(file, Log.form)
    return yield* after(file, yield* begin(file, contents), contents.events)
  }
  const later = yield* Effect.result(before.behind(before.events.length))
  // A file of that name that is another one now is read from its beginning, and so is one that cannot be read on.
  return Result.isSuccess(later) ? yield* after(file, before, later.success) : yield* read(file)
})

/** A search before its first event; fails if its head cannot be that of a search. */
const begin = (file: string, { behind, head }: Log.Contents): Effect.Effect<Followed, Log.FileFailed> =>
  Effect.try({
    try: () => ({
      head,
      behind,
      state: Search.begin(
        Setup.make({
          ...head,
          cases: head.cases.length,
          guarded: Protected.indices(head.cases),
          sessions: Sessions.of(head.cases)
        })
      ),
      events: [],
      rounds: []
    }),
    catch: (cause) => new Log.FileFailed({ file, problem: Log.describe(cause), cause })
  })

/** A search after further events. */
const after = Effect.fnUntraced(function* (
  file: string,
  before: Followed,
  events: ReadonlyArray<Event>
): Effect.fn.Return<Read, Log.FileFailed> {
  let { state } = before
  const rounds: Array<Round> = []
  yield* Log.follow(file, events, before.events.length, (event) => {
    const { round } = state
    state = Search.apply(state, event)
    if (round?.kind === "search" && state.round === null) rounds.push(roundOf(state))
  })
  const followed = {
    ...before,
    state,
    events: [...before.events, ...events],
    rounds: [...before.rounds, ...rounds]
  }
  return { followed, view: viewOf(followed) }
})

/** What there is to show of a search. */
export const viewOf = ({ events, head, rounds, state }: Shown): SearchView => {
  const { answers, ended, prompts, setup, sources } = state
  const { sessions } = setup
  const gains = Evidence.gains(prompts, answers, sessions)
  const bounds = Evidence.bounds(prompts, answers, { sources, sessions })
  const phase = phaseOf(state)
  const concluded = phase === "done" ? verdictOf(state) : null
  const prompt = concluded?.prompt ?? Search.original
  const leader = Search.leaderOf(state)
  return {
    phase,
    verdict: concluded?.verdict ?? null,
    because: ended?.because ?? null,
    ...Struct.pick(setup, ["aim"]),
    prompt,
    leader,
    test: concluded?.test ?? null,
    ...(concluded?.protected === undefined ? {} : { protected: concluded.protected }),
    minimalGain: setup.minimalGain,
    largestPossibleGain: Evidence.largest(bounds),
    callsNeeded: callsNeeded(bounds, setup.minimalGain),
    calls: state.made,
    budget: setup.calls,
    usd: state.usd,
    lost: state.lost,
    budgetUsd: setup.usd,
    cases: { search: setup.search.length, test: setup.test.length },
    scoreNoise: Bootstrap.meanOf(
      outcomesOf(state).flatMap((answer) =>
        answer._tag === "Answered"
          ? Search.rescoresOf(state, answer).map((score) => Math.abs(score - answer.score))
          : []
      )
    ),
    tried: triedOf(state, events, gains),
    rejected: events.flatMap((event) => (event._tag === "Proposed" ? event.rejected : [])),
    failures: events.flatMap(failureOf),
    failing: failingOf(state, events, head.cases, concluded === null ? leader : prompt),
    rounds,
    randomSeed: head.randomSeed,
    identity: head.identity
  }
}

/**
 * About how many calls, of these prompts and the original alone, bring the bounds of all within the gain that is of interest, at the noise
 * that was seen. Null if nothing is known of them.
 */
const callsNeeded = (bounds: ReadonlyArray<Evidence.Bound>, minimalGain: number): number | null => {
  const pairs = bounds.map(({ differences, risk }) => Bounded.neededFor(differences, minimalGain, risk))
  const known = pairs.filter((one) => one !== null)
  if (known.length === 0) return null
  const [most, sum] = [Math.max(...known), known.reduce((total, one) => total + one, 0)]
  // A prompt of which nothing is known needs about as many as the others.
  return Math.ceil(most + (sum * pairs.length) / known.length)
}

/** The verdict of a state in which nothing but `Conclude` is due. */
const verdictOf = (state: Search.State): Pick<SearchView, "verdict" | "prompt" | "test" | "protected"> => {
  const { ended, setup, tests } = state
  const finalist = ended?.finalist ?? null
  if (finalist === null)
    return {
      verdict: ended?.because === "no-headroom" ? "no-headroom" : "undecided",
      prompt: Search.original,
      test: null
    }
  const { lost, open } = Search.guardOf(state)
  const guarded = setup.guarded.length === 0 ? {} : { protected: { lost, open } }
  if (lost.length > 0) return { verdict: "undecided", prompt: Search.original, test: null, ...guarded }
  const cases = Evidence.clusters(tests, [Search.controlOf(setup), finalist], setup.test, (outcome, missing) =>
    scoreOf(state, outcome, missing)
  )
  const pairs = Evidence.ofSessions(setup.sessions, cases)
  const originalOf = ({ before }: Evidence.Cluster) => average(before.map((outcome) => scoreOf(state, outcome, 0)))
  const { aim } = setup
  const { gain, verdict } = Conclude.heldOut(pairs, { seed: setup.randomSeed, margin: aim?.margin ?? 0 })
  const saved = aim === undefined ? null : Aim.saved(aim, pairs, [state.prompts[0], Search.promptOf(state, finalist)])
  // As in a comparison, worse by less than the margin is no worse.
  const isShown =
    aim === undefined
      ? verdict === "better"
      : (saved?.isMet === true || aim.what === "no-worse") && gain.lower > -aim.margin
  const isReturned = isShown && open.length === 0
  return {
    verdict: isReturned ? (aim?.what ?? "better") : "undecided",
    prompt: isReturned ? finalist : Search.original,
    test: {
      ...(saved === null
        ? {}
        : { saved: { mean: saved.value, ...Struct.pick(saved, ["lower", "upper"]), isShown: saved.isMet === true } }),
      finalist,
      gain,
      original: average(pairs.map(originalOf)),
      cases: cases.length,
      sessions: pairs.length,
      course: courseOf(pairs, gain)
    },
    ...guarded
  }
}

/** The gain after some of the cases, at most so many times; it ends with the gain of all. */
const courseOf = (pairs: ReadonlyArray<Evidence.Cluster>, gain: Gain): NonNullable<SearchView["test"]>["course"] => {
  const looks = Math.min(mostLooks, pairs.length)
  return Array.from({ length: looks }, (_, look) => {
    const some = pairs.slice(0, Math.ceil(((look + 1) * pairs.length) / looks))
    return {
      calls: some.reduce((sum, { after, before }) => sum + after.length + before.length, 0),
      gain: look === looks - 1 ? gain : gainOf(some.map((pair) => pair.least))
    }
  })
}

const gainOf = (differences: ReadonlyArray<number>): Gain => {
  const [lower, upper] = Bounded.differenceInterval(differences)
  return { mean: average(differences), lower, upper }
}

const mostLooks = 40

/** The mean of the scores of an output; a missing one counts as `missing`, which speaks against the finalist. */
const scoreOf = (state: Search.State, outcome: Evidence.Outcome, missing: number): number =>
  outcome._tag === "Answered" ? average([outcome.score, ...Search.rescoresOf(state, outcome)]) : missing

const average = (values: ReadonlyArray<number>): number => Bootstrap.meanOf(values) ?? 0

/** The progress of a search after each event. Computes the gain once for events that do not change it. */
export const following = (): ((state: Search.State) => Setup.Progress) => {
  let known: { readonly population: Population.Contents; readonly gain: number | null } | null = null
  return (state) => {
    const { population } = state.evolution
    const leader = Search.leaderOf(state)
    if (known?.population !== population)
      known = {
        population,
        gain:
          leader === Search.original ? null : (Difference.between(population, leader, Search.original)?.mean ?? null)
      }
    return {
      phase: phaseOf(state),
      calls: state.made,
      budget: state.setup.calls,
      usd: state.usd,
      lost: state.lost,
      prompts: state.prompts.length,
      leader: Instruction.contentOf(Search.promptOf(state, leader)),
      gain: known.gain
    }
  }
}

const phaseOf = (state: Search.State): Setup.Progress["phase"] => {
  if (state.ended === null) return "search"
  return Search.next(state)._tag === "Conclude" ? "done" : "test"
}

/** The round of search whose last call was answered just now. */
const roundOf = (state: Search.State): Round => {
  const { answers, evolution, rounds, setup } = state
  const evidence = evidenceOf(state, Evidence.gains(Search.membersOf(state, evolution), answers, setup.sessions))
  return {
    round: rounds,
    calls: state.made,
    usd: state.usd,
    members: evolution.population.members.map(({ instruction: { id } }) => ({ id, ...evidence(id) }))
  }
}

type Id = Instruction.InstructionId

const outcomesOf = ({ answers, tests }: Search.State): ReadonlyArray<Evidence.Outcome> => [
  ...answers.outcomes,
  ...tests.outcomes
]

const evidenceOf = ({ answers, evolution: { population } }: Search.State, gains: ReadonlyArray<Evidence.Gain>) => {
  const byPrompt = new Map(gains.map(({ lower, mean, prompt, upper }) => [prompt, { mean, lower, upper }]))
  const chances = new Map(
    population.members.map(({ instruction }, index) => [instruction.id, population.comparison.chances[index] ?? null])
  )
  return (id: Id): Pick<Tried, "score" | "chance" | "gain"> => ({
    score: Evidence.meanOf(answers, id),
    chance: chances.get(id) ?? null,
    gain: byPrompt.get(id) ?? null
  })
}

const triedOf = (
  state: Search.State,
  events: ReadonlyArray<Event>,
  gains: ReadonlyArray<Evidence.Gain>
): SearchView["tried"] => {
  const evidence = evidenceOf(state, gains)
  const decisions = events.flatMap((event) => (event._tag === "Evolved" ? [event.event] : []))
  const reasons = new Map<string, string>(
    decisions.flatMap((decision) =>
      decision._tag === "CandidatesProposed"
        ? decision.candidates.map((one) => [`${decision.parent} ${textOf(one)}`, one.rationale] as const)
        : []
    )
  )
  const departures = new Map(
    decisions.flatMap((decision) => {
      const leaving =
        decision._tag === "Pruned" ? decision.pruned : decision._tag === "PopulationRefilled" ? decision.replaced : []
      return leaving.map(({ id, reason }) => [id, { after: decision.step, reason }] as const)
    })
  )
  return Arr.map(state.prompts, (instruction): Tried => {
    const { bornAt, id, parent } = instruction
    return {
      id,
      parent,
      content: Instruction.contentOf(instruction),
      rationale: reasons.get(`${parent} ${textOf(instruction)}`) ?? null,
      enteredAfter: bornAt,
      left: departures.get(id) ?? null,
      cases: Evidence.ofPrompt(state.answers, id).outcomes.length,
      ...evidence(id)
    }
  })
}

const textOf = (one: Pick<Instruction.Instruction, "text" | "parts">): string =>
  JSON.stringify(Instruction.contentOf(one))

const failureOf = (event: Event): ReadonlyArray<string> =>
  event._tag === "Missed"
    ? [event.reason]
    : event._tag === "Proposed" && event.failure !== null
      ? [event.failure]
      : event._tag === "Interrupted" && event.torn !== undefined
        ? [`the file ended within an event, of which ${event.torn} bytes were left out`]
        : []

const failingOf = (
  state: Search.State,
  events: ReadonlyArray<Event>,
  cases: ReadonlyArray<Schema.Json>,
  prompt: Id
): ReadonlyArray<Failing> => {
  const outputs = new Map<string, Obtained>()
  for (const event of events) if (event._tag === "Obtained" && event.prompt === prompt) outputs.set(keyOf(event), event)
  return outcomesOf(state).flatMap((answer) =>
    answer._tag === "Answered" && answer.prompt === prompt && answer.score < 1
      ? [
          {
            index: answer.case,
            case: cases[answer.case] ?? null,
            score: answer.score,
            feedback: answer.feedback,
            output: outputs.get(keyOf(answer))?.output ?? null
          }
        ]
      : []
  )
}
