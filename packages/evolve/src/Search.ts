/**
 * A search for a better prompt, as a state machine on the kernel of evolution: what is due by the events so far. Pure; the same events
 * give the same decisions, so a search resumes from a file of them.
 */
import { Instruction, Invariant, RandomStream } from "@inspo/domain"
import { Array as Arr, Chunk, HashMap, HashSet, Option } from "effect"
import * as Evolution from "@inspo/evolution"
import { Population } from "@inspo/population"
import { Shares } from "@inspo/sampler"
import * as Aim from "./Aim.ts"
import { type Ask, caseId, type Event, type EventOf, keyOf } from "./Event.ts"
import * as Evidence from "./Evidence.ts"
import * as Protected from "./Protected.ts"
import * as RevisedText from "./RevisedText.ts"
import * as Spent from "./Spent.ts"
import { every, mostMembers, probes, type Setup, testScores, testShare } from "./Setup.ts"

export interface State extends Spent.Spent {
  readonly setup: Setup
  readonly evolution: Evolution.EvolutionState
  /** All prompts ever, in the order in which they entered. */
  readonly prompts: Evidence.Prompts
  readonly byId: HashMap.HashMap<Instruction.InstructionId, Instruction.Instruction>
  /** Of the search. */
  readonly answers: Evidence.Answers
  /** Of the test. */
  readonly tests: Evidence.Answers
  /** Further answers to protected cases. */
  readonly guards: Evidence.Answers
  /** The members and some former ones, with what is expected of prompts. */
  readonly compared: Evidence.Compared
  /** Further scores of outputs that have one, by call. */
  readonly rescores: HashMap.HashMap<string, ReadonlyArray<number>>
  /** Whether two scores of one output differed. */
  readonly isNoisy: boolean
  /** Calls whose output the log does not keep as it is: it cannot be scored again. */
  readonly unkept: HashSet.HashSet<string>
  /** What each prompt was written from; it is not asked these cases. */
  readonly sources: ReadonlyMap<Instruction.InstructionId, Evidence.Source>
  readonly round: EventOf<"RoundPlanned"> | null
  /** The calls of the round in progress that are still to be made; after the test, those whose output needs another score. */
  readonly pending: HashSet.HashSet<string>
  readonly rounds: number
  /** The proposals of each text of a prompt, by its name. */
  readonly proposals: ReadonlyMap<string, number>
  /** Calls that were made when the last evolution began. */
  readonly evolvedAt: number
  /** Whether the budget cut a round short: the search asks nothing more. */
  readonly isCut: boolean
  readonly ended: EventOf<"SearchEnded"> | null
  readonly isTested: boolean
}

/** What is due. A `Decide` is to be applied as it is; the others need the agent or the proposer. */
export type Due =
  | { readonly _tag: "Decide"; readonly event: Event }
  | { readonly _tag: "Ask"; readonly asks: ReadonlyArray<Ask>; readonly kind: EventOf<"RoundPlanned">["kind"] }
  | { readonly _tag: "Rescore"; readonly asks: ReadonlyArray<Ask> }
  | { readonly _tag: "Propose"; readonly parent: Instruction.Instruction; readonly count: number }
  | { readonly _tag: "Conclude" }

/** The id of the prompt that was given. */
export const original = Evolution.instructionId(0)

/** What the finalist is compared with: the prompt that was given, or what is to be replaced. */
export const controlOf = ({ aim }: Setup): Instruction.InstructionId => (aim?.what === "no-worse" ? replaced : original)

/** Names what answers today, where a search looks for a prompt of what replaces it. */
export const replaced = Instruction.InstructionId.make("replaced")

export const begin = (setup: Setup): State => {
  const seed: Instruction.Instruction = {
    ...Instruction.ofContent(setup.prompt),
    id: original,
    generation: 0,
    parent: null,
    origin: "seed",
    bornAt: 0
  }
  return {
    setup,
    evolution: Evolution.begin([seed]),
    prompts: [seed],
    byId: HashMap.make([seed.id, seed]),
    answers: Evidence.noAnswers,
    tests: Evidence.noAnswers,
    guards: Evidence.noAnswers,
    compared: Evidence.compare([seed], Evidence.noAnswers),
    rescores: HashMap.empty(),
    isNoisy: false,
    unkept: HashSet.empty(),
    sources: new Map(),
    ...Spent.nothing,
    round: null,
    pending: HashSet.empty(),
    rounds: 0,
    proposals: new Map(),
    evolvedAt: -Infinity,
    isCut: false,
    ended: null,
    isTested: false
  }
}

/** What is due next. */
export const next = (state: State): Due => {
  const { ended, evolution, pending, round } = state
  if (round !== null)
    return { _tag: "Ask", kind: round.kind, asks: round.asks.filter((ask) => HashSet.has(pending, keyOf(ask))) }
  const asks = unscored(state)
  if (asks.length > 0) return { _tag: "Rescore", asks }
  if (ended !== null) {
    const { asks, lost } = guardOf(state)
    if (ended.finalist === null || state.isTested || lost.length > 0) return { _tag: "Conclude" }
    const isGuarded = asks.length === 0 || state.isCut
    return decide(isGuarded ? testRound(state, ended.finalist) : planned(state.rounds + 1, "protected", asks))
  }
  const decision = Evolution.decide(context(state), evolution)
  if (decision !== null) return decide({ _tag: "Evolved", event: decision })
  if (Evolution.isIn(evolution.evolution, "Proposing")) {
    const [id] = evolution.evolution.parents
    return {
      _tag: "Propose",
      parent: promptOf(state, Invariant.present(id, "parent")),
      count: Evolution.mostNewcomers(context(state), evolution)
    }
  }
  return decide(isWithoutHeadroom(state) ? searchEnded(null, "no-headroom") : (searchRound(state) ?? end(state)))
}

/** The state after an event. */
export const apply = (before: State, event: Event): State => {
  const state = { ...before, ...Spent.after(before, event) }
  switch (event._tag) {
    case "RoundPlanned":
      return closed({ ...state, round: event, rounds: event.step, pending: keysOf(event.asks) })
    case "Obtained":
      assertAsked(state, event)
      return { ...state, unkept: event.isWhole ? state.unkept : HashSet.add(state.unkept, keyOf(event)) }
    case "Rescored":
      return rescored(state, event)
    case "Answered":
    case "Missed":
      assertAsked(state, event)
      return closed({
        ...state,
        ...(state.round?.kind === "test"
          ? { tests: Evidence.add(state.tests, event) }
          : state.round?.kind === "protected"
            ? { guards: Evidence.add(state.guards, event) }
            : { answers: Evidence.add(state.answers, event) }),
        pending: HashSet.remove(state.pending, keyOf(event))
      })
    case "RoundCut":
      return closed({ ...state, isCut: true, pending: HashSet.empty() })
    case "Evolved":
      return evolved(state, event.event)
    case "SearchEnded":
      return { ...state, ended: event }
    case "Proposed": {
      const name = textToRevise(state, promptOf(state, event.parent))
      if (name === null) return state
      return { ...state, proposals: new Map(state.proposals).set(name, (state.proposals.get(name) ?? 0) + 1) }
    }
    case "Failed":
    case "Interrupted":
    case "Started":
    case "Written":
      return state
  }
}

/**
 * The outputs that need another score: the first few, which show whether scores vary by themselves, and where they do, those of the
 * test. The budget in US dollars can forbid it.
 */
export const unscored = (state: State): ReadonlyArray<Ask> => {
  if (state.isCut) return []
  return state.isTested
    ? [...state.tests.outcomes].filter((answer) => HashSet.has(state.pending, keyOf(answer))).map(askOf)
    : state.rounds === 1 && state.prompts.length === 1
      ? withFewer(state, Chunk.take(state.answers.outcomes, probes), 1)
      : []
}

/** The outputs that can be scored again, and have fewer further scores. */
const withFewer = (state: State, answers: Iterable<Evidence.Outcome>, scores: number): ReadonlyArray<Ask> =>
  [...answers]
    .filter(
      (answer) =>
        answer._tag === "Answered" &&
        !HashSet.has(state.unkept, keyOf(answer)) &&
        rescoresOf(state, answer).length < scores
    )
    .map(askOf)

const askOf = ({ case: index, prompt, sample }: Ask): Ask => ({ prompt, case: index, sample })

export const keysOf = (asks: ReadonlyArray<Ask>): HashSet.HashSet<string> => HashSet.fromIterable(asks.map(keyOf))

/** The further scores of an output. */
export const rescoresOf = ({ rescores }: Pick<State, "rescores">, ask: Ask): ReadonlyArray<number> =>
  Option.getOrElse(HashMap.get(rescores, keyOf(ask)), () => [])

/** A prompt by its id. */
export const promptOf = ({ byId }: State, id: Instruction.InstructionId): Instruction.Instruction =>
  Invariant.present(Option.getOrUndefined(HashMap.get(byId, id)), `prompt ${id}`)

/** The name of the text of a prompt that is revised next; null of one text. */
export const textToRevise = (state: State, prompt: Instruction.Instruction): string | null =>
  RevisedText.next(state, state.setup.search, prompt)

/** The member that is probably the best. */
export const leaderOf = ({ evolution }: State): Instruction.InstructionId =>
  Population.incumbent(evolution.population)?.instruction.id ?? original

/** What is known of the finalist on the protected cases. */
export const guardOf = ({ ended, guards, setup }: State): Protected.Standing =>
  Protected.standing(guards, [controlOf(setup), ended?.finalist ?? original], setup.guarded, Protected.riskOfSearch)

/** The most calls of the agent that the round in progress may still make: those before the test leave it its share. */
export const mostCalls = ({ made, round, setup }: State): number => {
  const tested = round?.kind === "test" ? 0 : 2 * setup.test.length
  return Math.max(0, setup.calls - made - tested - (round?.kind === "search" ? Protected.reserved(setup.guarded) : 0))
}

/** The original, and the members besides it. */
export const membersOf = ({ prompts: [seed] }: State, { population }: Evolution.EvolutionState): Evidence.Prompts => [
  seed,
  ...Population.instructions(population).filter(({ id }) => id !== seed.id)
]

/** A file may hold an answer to a call that was never asked for. */
export const assertAsked = ({ pending, round }: Pick<State, "pending" | "round">, ask: Ask): void => {
  if (round === null || !HashSet.has(pending, keyOf(ask)))
    throw new Error(`case ${ask.case} under prompt ${ask.prompt} was answered, but not asked`)
}

const decide = (event: Event): Due => ({ _tag: "Decide", event })

const rescored = (state: State, event: EventOf<"Rescored">): State => {
  const key = keyOf(event)
  const scores = [...rescoresOf(state, event), event.score]
  const outcomes = Evidence.at(
    Evidence.ofPrompt(state.isTested ? state.tests : state.answers, event.prompt),
    event.case
  )
  const first = outcomes.find(({ sample }) => sample === event.sample)
  if (first === undefined)
    throw new Error(`case ${event.case} under prompt ${event.prompt} was scored again, but not before`)
  return {
    ...state,
    rescores: HashMap.set(state.rescores, key, scores),
    isNoisy: state.isNoisy || (first._tag === "Answered" && first.score !== event.score),
    pending: scores.length < testScores - 1 ? state.pending : HashSet.remove(state.pending, key)
  }
}

const closed = (state: State): State => {
  const { evolution, pending, round } = state
  if (round === null || HashSet.size(pending) > 0) return state
  if (round.kind === "test") {
    const outputs = Chunk.filter(state.tests.outcomes, ({ sample }) => sample === 0)
    const again = state.isNoisy && !state.isCut ? withFewer(state, outputs, testScores - 1) : []
    return { ...state, round: null, isTested: true, pending: keysOf(again) }
  }
  if (round.kind === "protected") return { ...state, round: null }
  const observed = observing(state, evolution)
  const ending = { ...observed.evolution, newcomers: [] }
  return { ...observed, round: null, evolution: Evolution.endUnit(schedule(state), ending) }
}

/** The members, compared on all answers. Some former members take part: what they showed about a case is true of it still. */
const observing = (state: State, evolution: Evolution.EvolutionState): State => {
  const { answers, prompts, rounds } = state
  const [seed, ...members] = membersOf(state, evolution)
  const alive = new Set(Population.ids(evolution.population))
  let [first, gone] = [prompts.length, 0]
  while (first > 1 && gone < mostGone) {
    first -= 1
    if (!alive.has(Invariant.at(prompts, first, "prompt").id)) gone += 1
  }
  const recent = prompts.slice(first)
  const isRecent = new Set(recent.map(({ id }) => id))
  const compared = Evidence.follow(
    state.compared,
    [seed, ...members.filter(({ id }) => !isRecent.has(id)), ...recent],
    answers
  )
  const population = Evidence.population(compared, answers, rounds, (id) => alive.has(id))
  return { ...state, compared, evolution: { ...evolution, population } }
}

/** More of them say little about the present members, and take time. */
const mostGone = 16

const evolved = (state: State, event: Evolution.EvolutionEvent): State => {
  const evolution = Evolution.rest(Evolution.apply(schedule(state), state.evolution, event))
  const after = { ...state, evolution, evolvedAt: event._tag === "ParentsChosen" ? state.made : state.evolvedAt }
  if (event._tag !== "PopulationRefilled" || event.accepted.length === 0) return after
  const batch = event.accepted.map(({ instruction }) => instruction)
  const answered = (parent: Instruction.InstructionId | null) =>
    parent === null ? 0 : Evidence.ofPrompt(state.answers, parent).outcomes.length
  const reflected = Evolution.isIn(state.evolution.evolution, "Verifying")
    ? state.evolution.evolution.stage.reflected
    : []
  const entered = {
    ...after,
    prompts: Arr.appendAll(state.prompts, batch),
    byId: HashMap.setMany(
      state.byId,
      batch.map((one) => [one.id, one] as const)
    ),
    sources: new Map([
      ...state.sources,
      ...batch.map(({ id, parent }) => [id, { reflected, answered: answered(parent) }] as const)
    ])
  }
  return observing(entered, evolution)
}

/** After a round of search: an evolution, if the last one was tried and there is enough budget left to try what this one brings. */
const schedule = (state: State): Evolution.Schedule.Schedule => {
  const left = searchCallsLeft(state)
  const calls = every(state.made + left)
  const isTried = state.made - state.evolvedAt >= calls || !hasCases(state)
  const isDue = isTried && 2 * left >= calls
  return {
    parents: 1,
    resetsWindows: false,
    isPaused: false,
    prunes: () => false,
    evolves: () => isDue,
    searches: () => false
  }
}

const hasCases = (state: State): boolean =>
  Population.ids(state.evolution.population).some((id) => queue(state, id, 1).length > 0)

/** The calls that the search can still make, so that the test remains affordable. */
const searchCallsLeft = (state: State): number =>
  state.isCut ? 0 : callsLeft(state) - testCalls(state) - Protected.reserved(state.setup.guarded)

/** Where US dollars allow fewer calls than the budget of calls, the test gets its share of those. */
const testCalls = (state: State): number =>
  Math.min(2 * state.setup.test.length, Math.floor(testShare * (state.made + callsLeft(state))))

/** The calls that the budget still allows, where one costs what they cost on average so far, with the proposals. */
const callsLeft = (state: State): number => {
  const { made, setup, usd } = state
  const counted = setup.calls - made
  return setup.usd === null || usd === 0
    ? counted
    : Math.min(counted, Math.max(0, Math.floor((setup.usd - usd) / (usd / Math.max(1, made)))))
}

const context = (state: State): Evolution.DecisionContext => ({
  strategies,
  values: strategies.valuation.values(state.evolution.population),
  settings: { population: { size: state.setup.size } },
  protectedIds: new Set(),
  generationOf: (id) => promptOf(state, id).generation,
  verification: { asks: false }
})

const rules = Evolution.Rules.sets.evidence
const strategies = Evolution.Rules.strategies(rules, { ...rules, size: mostMembers, parents: 1, asks: false })

/** The first round asks the original alone; the others share their calls by P(best). Null if nothing is left to ask. */
const searchRound = (state: State): EventOf<"RoundPlanned"> | null => {
  const { evolution, rounds, setup } = state
  const step = rounds + 1
  const left = searchCallsLeft(state)
  if (rounds === 0) return planned(step, "search", queue(state, original, setup.opening))
  const { members } = evolution.population
  if (left <= 0 || members.length === 1) return null
  const shares = Shares.thompson(strategies.valuation.values(evolution.population))
  const stream = RandomStream.make(setup.randomSeed, ["round", step])
  const budget = Math.min(setup.round, left)
  let carried = stream.next()
  const asks: Array<Ask> = []
  const spare: Array<Ask> = []
  for (const [index, share] of shares.entries()) {
    carried += share * budget
    const count = Math.floor(carried)
    carried -= count
    const waiting = queue(state, Invariant.at(members, index, "member").instruction.id, count + budget)
    asks.push(...waiting.slice(0, count))
    spare.push(...waiting.slice(count))
  }
  const filled = [...asks, ...spare].slice(0, budget)
  return filled.length === 0 ? null : planned(step, "search", filled)
}

const planned = (
  step: number,
  kind: EventOf<"RoundPlanned">["kind"],
  asks: ReadonlyArray<Ask>
): EventOf<"RoundPlanned"> => ({ _tag: "RoundPlanned", step, kind, asks })

/** The first cases that a prompt can still be asked, in the order of all, at most so many. */
const queue = (
  { answers, setup, sources }: State,
  prompt: Instruction.InstructionId,
  most: number
): ReadonlyArray<Ask> => {
  const own = Evidence.ofPrompt(answers, prompt)
  const known = new Set(sources.get(prompt)?.reflected)
  const asks: Array<Ask> = []
  // A prompt is asked the cases in their order: none of as many as it answered is left.
  for (let at = own.outcomes.length; at < setup.search.length && asks.length < most; at++) {
    const index = Invariant.at(setup.search, at, "case")
    if (Evidence.at(own, index).length === 0 && !(known.size > 0 && known.has(caseId(index))))
      asks.push({ prompt, case: index, sample: 0 })
  }
  return asks
}

/** Whether no prompt so far can be better than the original by as much as is asked for. */
const isWithoutHeadroom = ({ answers, prompts, setup, sources }: State): boolean =>
  setup.aim === undefined &&
  prompts.length > Evidence.leastTried &&
  Evidence.areBelow(prompts, answers, { sources, sessions: setup.sessions }, setup.minimalGain)

const end = (state: State): EventOf<"SearchEnded"> => {
  const { aim } = state.setup
  const leader = aim === undefined || aim.what === "no-worse" ? leaderOf(state) : mostSaving(state, aim)
  return searchEnded(
    leader === controlOf(state.setup) ? null : leader,
    searchCallsLeft(state) <= 0 ? "budget" : "no-more-proposals"
  )
}

/** The best of the members that save enough by the cases of the search; the original without one. */
const mostSaving = (state: State, aim: NonNullable<Setup["aim"]>): Instruction.InstructionId => {
  const { answers, evolution, prompts, setup } = state
  const saving = Population.ids(evolution.population).filter((id) => {
    const pairs = Evidence.clusters(answers, [original, id], setup.search)
    const { limit, value } = Aim.saved(aim, pairs, [prompts[0], promptOf(state, id)])
    return id !== original && pairs.length > 0 && value <= limit
  })
  return Evolution.Conclude.bestAmong(evolution.population, saving) ?? original
}

const searchEnded = (
  finalist: EventOf<"SearchEnded">["finalist"],
  because: EventOf<"SearchEnded">["because"]
): EventOf<"SearchEnded"> => ({ _tag: "SearchEnded", finalist, because })

/**
 * All held-out cases under the control and the finalist, as often as the rest of the budget allows. They take turns in being the first, so
 * that an agent which changes meanwhile changes for both.
 */
const testRound = (state: State, finalist: Instruction.InstructionId): EventOf<"RoundPlanned"> => {
  const { calls, test } = state.setup
  const control = controlOf(state.setup)
  // Where US dollars seem too few for a pair, the calls themselves show whether they are.
  const pairs = Math.min(Math.floor((calls - state.made) / 2), Math.max(1, Math.floor(callsLeft(state) / 2)))
  const samples = Math.max(1, Math.floor(pairs / test.length))
  const cases = test.slice(0, pairs)
  return planned(
    state.rounds + 1,
    "test",
    Array.from({ length: samples }, (_, sample) => sample).flatMap((sample) =>
      cases.flatMap((index, turn) =>
        (turn % 2 === 0 ? [control, finalist] : [finalist, control]).map((prompt) => ({
          prompt,
          case: index,
          sample
        }))
      )
    )
  )
}
