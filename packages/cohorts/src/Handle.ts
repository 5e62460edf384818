/** Handles commands: returns events and answers. */
import { Checked, Instruction } from "@inspo/domain"
import { chooseParents, instructionId, isAlive, refill } from "@inspo/evolution"
import { Array as Arr, HashMap, Result, Struct } from "effect"
import { apply, begin } from "./Apply.ts"
import { type Archive, closedIndex } from "./Archive.ts"
import { type Answer, type Command, refuse, type Refused } from "./Command.ts"
import type { EventOf, PopulationEvent } from "./Event.ts"
import { context } from "./internal/Decisions.ts"
import * as Leasing from "./internal/Leasing.ts"
import * as Rewarding from "./internal/Rewarding.ts"
import * as SeedOnly from "./internal/SeedOnly.ts"
import { next } from "./Next.ts"
import { Settings } from "./Settings.ts"
import { cohort, namesOf, type State } from "./State.ts"
import type { Strategies } from "./Strategies.ts"

/** The state after a command, the events that led to it in their order, and what is answered once they are durable. */
export interface Handled {
  readonly state: State
  readonly events: ReadonlyArray<PopulationEvent>
  readonly answer: Answer
}

/** A new population: the seed, then variants of it, none of which is a newcomer. Throws `InvalidInput` on settings out of range. */
export const create = (
  settings: Settings,
  contents: Arr.NonEmptyReadonlyArray<Instruction.Content>
): { readonly state: State; readonly events: readonly [EventOf<"Created">] } => {
  checked(settings)
  const event: EventOf<"Created"> = {
    _tag: "Created",
    settings,
    members: Arr.map(contents, (content, index) => ({
      ...Instruction.ofContent(content),
      id: instructionId(index),
      generation: 0,
      parent: null,
      origin: index === 0 ? ("seed" as const) : ("variant" as const),
      bornAt: 0
    }))
  }
  return { state: begin(event), events: [event] }
}

const checked = Checked.by("cohorts.create", Settings)

/**
 * Handles a command and everything that follows from it at its time. Events that are due by time come first, so that a
 * request never gets a lease of a cohort that should be sealed. A refused command leaves everything as it was. Pure: equal
 * states, archives and commands give equal events, so a log can be replayed and commands may be repeated.
 */
export const handle = (
  strategies: Strategies,
  before: State,
  archive: Archive,
  command: Command
): Result.Result<Handled, Refused> => {
  const due = settle(strategies, before, command.now)
  const decided = decide(strategies, due.state, closing(archive, before, due.events), command)
  if (Result.isFailure(decided)) return Result.fail(decided.failure)
  const { answer, events } = decided.success
  const asked = events.reduce((state, event) => apply(state, event, () => strategies), due.state)
  // Read before the cohort can be closed by what it brings.
  const answered = answer(asked)
  const after = settle(strategies, asked, command.now)
  return Result.succeed({ state: after.state, events: [...due.events, ...events, ...after.events], answer: answered })
}

/** An archive with the cohorts that were closed just now. */
const closing = (
  archive: Archive,
  { branch }: Pick<State, "branch">,
  events: ReadonlyArray<PopulationEvent>
): Archive => {
  if (events.length === 0) return archive
  const closed = new Map<string, number>()
  for (const event of events) {
    if (event._tag === "Closed") closed.set(event.cohort, event.index)
    if (event._tag === "ValidationClosed") closed.set(event.cohort, 0)
  }
  return closed.size === 0
    ? archive
    : { ...archive, cohort: (on, name) => (on === branch ? closed.get(name) : undefined) ?? archive.cohort(on, name) }
}

/** The content of a member or the incumbent; null for any other instruction. */
export const content = (state: State, id: Instruction.InstructionId): Instruction.Content | null => {
  const { incumbent, population } = state.learning
  const member = population.members.find(({ instruction }) => instruction.id === id)
  if (member !== undefined) return Instruction.contentOf(member.instruction)
  return incumbent.id === id ? incumbent.content : null
}

const settle = (
  strategies: Strategies,
  before: State,
  now: number
): { readonly state: State; readonly events: ReadonlyArray<PopulationEvent> } => {
  let state = before
  const events: Array<PopulationEvent> = []
  for (let event = next(strategies, state, now); event !== null; event = next(strategies, state, now)) {
    events.push(event)
    state = apply(state, event, () => strategies)
  }
  return { state, events }
}

interface Decided {
  readonly events: ReadonlyArray<PopulationEvent>
  readonly answer: (state: State) => Answer
}

const done: Answer = { _tag: "Done" }

const did = (...events: ReadonlyArray<PopulationEvent>): Result.Result<Decided, Refused> =>
  Result.succeed({ events, answer: () => done })

const decide = (
  strategies: Strategies,
  state: State,
  archive: Archive,
  command: Command
): Result.Result<Decided, Refused> => {
  switch (command._tag) {
    case "Lease": {
      const asked = state.usesSeed ? SeedOnly.asked(command) : command
      const found = Result.map(Leasing.lease(strategies, state, archive, asked), (events) => ({
        events,
        answer: (after: State): Answer => ({ _tag: "Leases", leases: Leasing.answers(after, archive, asked) })
      }))
      return state.usesSeed ? Result.map(found, SeedOnly.decided(state, asked)) : found
    }
    case "Reward":
      return Result.map(Rewarding.reward(state, archive, command), ({ events, outcomes }) => ({
        events,
        answer: () => ({ _tag: "Rewards", outcomes })
      }))
    case "Tick":
      return did()
    case "Seal":
    case "Close":
      return end(state, archive, command)
    case "Rewind":
      return rewind(state, archive, command)
    case "Freeze":
      return freeze(state, command)
    case "Configure":
      return configure(state, command.settings)
    case "Evolve":
    case "SkipEvolution":
    case "Propose":
    case "Review":
      return evolve(strategies, state, command)
    case "Add":
    case "Pin":
    case "Retire":
      return change(state, command)
  }
}

/** Only a resumption ends the use of the seed. Cohorts that measure the incumbent end with a switch, since it is another one then. */
const freeze = (
  state: State,
  { isFrozen, usesSeed }: Extract<Command, { readonly _tag: "Freeze" }>
): Result.Result<Decided, Refused> => {
  const { profile } = state.settings
  if (usesSeed === true && profile === "trainer")
    return refuse("conflict", "profile", profile, "online", "Freeze it: a trainer names the cohorts that it uses")
  const isSwitched = isFrozen ? usesSeed === true && !state.usesSeed : state.usesSeed
  if (isFrozen === state.isFrozen && !isSwitched) return did()
  const frozen: PopulationEvent = { _tag: "Frozen", isFrozen, ...(usesSeed === undefined ? {} : { usesSeed }) }
  const measuring = isSwitched ? state.cohorts.filter(({ phase }) => phase === "validation") : []
  return did(
    frozen,
    ...measuring.map(({ name }): PopulationEvent => ({ _tag: "CloseRequested", cohort: name, groups: 0 }))
  )
}

const end = (
  state: State,
  archive: Archive,
  command: Extract<Command, { readonly _tag: "Close" | "Seal" }>
): Result.Result<Decided, Refused> => {
  const { cohort: name, now } = command
  const found = cohort(state, name)
  if (found === undefined)
    return closedIndex(archive, state, name) !== undefined
      ? did()
      : refuse("missing", "cohort", name, "a cohort that was opened", "Request leases of it first")
  if (command._tag === "Seal")
    return found.status === "open" ? did({ _tag: "Sealed", cohort: name, reason: "client", at: now }) : did()
  const groups = command.groups ?? 0
  if (!Number.isSafeInteger(groups) || groups < 0)
    return refuse("invalid", "groups", groups, "a whole number of at least 0", "Leave it out to close the cohort now")
  return found.status === "complete" || found.closing === groups
    ? did()
    : did({ _tag: "CloseRequested", cohort: name, groups })
}

const rewind = (
  state: State,
  archive: Archive,
  { base, requestId, to }: Extract<Command, { readonly _tag: "Rewind" }>
): Result.Result<Decided, Refused> => {
  const branched = (branch: number): Answer => ({ _tag: "Branch", branch })
  const known = state.rewinds.find((one) => one.requestId === requestId)
  if (known !== undefined)
    return known.to === to
      ? Result.succeed({ events: [], answer: () => branched(known.branch) })
      : refuse("conflict", "to", to, known.to, `Use another requestId: ${requestId} named ${known.to} before`)
  const index = closedIndex(archive, state, to)
  if (index === undefined || index === 0 || base === null || base.population.step !== index || base.due !== "Nothing")
    return refuse("missing", "to", to, "a closed training cohort of this branch", "Name one that is closed")
  const branch = state.branches.length + 1
  return Result.succeed({
    events: [{ _tag: "Rewound", branch, to, requestId, learning: base }],
    answer: () => branched(branch)
  })
}

/** Settings that a guarantee or a client relies on; they never change. */
const fixed = ({ missingRewards, profile, randomSeed, rewardRange, selection: { risk } }: Settings) =>
  ({ randomSeed, profile, "selection.risk": risk, rewardRange, missingRewards }) as const

const configure = (state: State, settings: Settings): Result.Result<Decided, Refused> => {
  const [now, before] = [fixed(settings), fixed(state.settings)]
  const differing = Struct.keys(now).find((name) => JSON.stringify(now[name]) !== JSON.stringify(before[name]))
  return differing === undefined
    ? did({ _tag: "Configured", settings })
    : refuse(
        "conflict",
        differing,
        JSON.stringify(now[differing]),
        JSON.stringify(before[differing]),
        "Create another population: this setting cannot change"
      )
}

const evolve = (
  strategies: Strategies,
  state: State,
  command: Extract<Command, { readonly _tag: "Evolve" | "Propose" | "Review" | "SkipEvolution" }>
): Result.Result<Decided, Refused> => {
  const { evolution } = state.learning
  if (command._tag === "Evolve")
    return evolution === null && !state.isFrozen
      ? did(chooseParents(context(strategies, state), state.learning))
      : refuse(
          "conflict",
          "evolution",
          evolution === null ? "frozen" : "in progress",
          "a population that is neither evolving nor frozen",
          "Wait for the evolution to end, or resume the population"
        )
  if (evolution === null)
    return refuse("conflict", "evolution", "none", "one in progress", "Start an evolution, or drop the proposal")
  const { round, stage, step } = evolution
  switch (command._tag) {
    case "Propose": {
      const { candidates, notes, parent, reflected } = command
      if (stage._tag !== "Proposing") return refuseStage(stage._tag, "Proposing")
      if (!evolution.parents.includes(parent))
        return refuse(
          "invalid",
          "parent",
          parent,
          `one of ${evolution.parents.join(", ")}`,
          "Name a parent of this evolution"
        )
      const tooLong = candidates.find(({ text }) => text.length > state.limits.textLength)
      if (tooLong !== undefined) return refuseLength(state, tooLong)
      const noted = notes === undefined ? {} : { notes }
      return did({ _tag: "CandidatesProposed", step, round, parent, candidates, reflected, ...noted })
    }
    case "SkipEvolution": {
      if (stage._tag !== "Proposing") return refuseStage(stage._tag, "Proposing")
      const noted = command.noted === undefined ? {} : { noted: command.noted }
      return did(
        round === 1
          ? { _tag: "EvolutionSkipped", step, reason: command.reason, ...noted }
          : { ...refill(context(strategies, state), state.learning), ...noted }
      )
    }
    case "Review":
      if (stage._tag !== "Proposed") return refuseStage(stage._tag, "Proposed")
      if (stage.candidates[command.place] === undefined)
        return refuse(
          "missing",
          "place",
          command.place,
          `one of 0 to ${stage.candidates.length - 1}`,
          "Look up the candidates that wait for a review"
        )
      return did({ _tag: "CandidateReviewed", place: command.place, isApproved: command.isApproved })
  }
}

const refuseStage = (stage: string, expected: string): Result.Result<never, Refused> =>
  refuse("conflict", "stage", stage, expected, "Drop it: the evolution is past this stage, or not there yet")

const refuseLength = (state: State, { text }: Pick<Instruction.Candidate, "text">): Result.Result<never, Refused> =>
  refuse("limit", "content", `${text.length} characters`, `at most ${state.limits.textLength}`, "Shorten the text")

const seeMembers = "Look up the members of the population"

/** Members change by hand. Open cohorts are sealed when one leaves, so that it is leased no more. */
const change = (
  state: State,
  command: Extract<Command, { readonly _tag: "Add" | "Pin" | "Retire" }>
): Result.Result<Decided, Refused> => {
  const { learning, settings } = state
  if (command._tag === "Add") {
    const { content, parent } = command
    const says = Instruction.ofContent(content)
    if (says.text.length > state.limits.textLength) return refuseLength(state, says)
    const [names, expected] = [namesOf(content), namesOf(learning.incumbent.content)]
    if (names !== expected)
      return refuse(
        "invalid",
        "wording",
        names,
        expected,
        "Give all instructions of a population the texts of the seed"
      )
    const from = learning.population.members.find(({ instruction }) => instruction.id === parent)
    if (parent !== null && from === undefined)
      return refuse("missing", "parent", parent, "a living member, or none", seeMembers)
    const member = {
      ...says,
      id: instructionId(learning.born),
      generation: from === undefined ? 0 : from.instruction.generation + 1,
      parent,
      origin: "variant" as const,
      bornAt: learning.population.step
    }
    return did({ _tag: "MemberAdded", member })
  }
  const { id } = command
  if (!isAlive(learning.population, id)) return refuse("missing", "id", id, "a living member", seeMembers)
  if (command._tag === "Pin") return did({ _tag: "MemberPinned", id, isPinned: command.isPinned })
  if (learning.population.members.length === 1)
    return refuse("conflict", "id", id, "a member that is not the last", "Add another member first")
  if (settings.profile === "online" && id === learning.seed)
    return refuse("conflict", "id", id, "a member that is not the seed, which is the control", "Pin another member")
  if (learning.evolution?.parents.includes(id) === true)
    return refuse("conflict", "id", id, "a member that no candidate descends from", "Skip the evolution first")
  return did(
    { _tag: "MemberRetired", id },
    ...state.cohorts
      .filter((one) => one.status === "open" && one.phase === "train" && !HashMap.isEmpty(one.leases))
      .map((one): PopulationEvent => ({ _tag: "Sealed", cohort: one.name, reason: "members", at: command.now }))
  )
}
