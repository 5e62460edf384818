/** How a unit of time and an event change the state: they add evidence, copy the decision, and choose nothing. */
import { type Instruction, Invariant } from "@inspo/domain"
import { Population } from "@inspo/population"
import { type EventOf, type EvolutionEvent, UnexpectedEvent } from "./Event.ts"
import * as Notebook from "./Notebook.ts"
import type { Schedule } from "./Schedule.ts"
import {
  type Due,
  type Evolution,
  type EvolutionIn,
  type EvolutionState,
  type Group,
  isAlive,
  isIn,
  type Stage
} from "./State.ts"

/** The state before the first unit of time. All instructions are newcomers. */
export const begin = (instructions: ReadonlyArray<Instruction.Instruction>): EvolutionState => {
  const population = Population.begin(instructions)
  return {
    due: "Nothing",
    population,
    newcomers: Population.ids(population),
    born: instructions.length,
    entrants: null,
    evolution: null
  }
}

/**
 * The state after the groups of one unit of time, `step`. Groups of instructions that are not members change nothing. Throws
 * `InvalidInput` on a unit that does not come after the last one, and on a reward outside [0, 1].
 */
export const observe = <S extends EvolutionState>(
  valuation: Pick<Population.Interface, "observe">,
  state: S,
  step: number,
  groups: ReadonlyArray<Group>
): S => ({
  ...state,
  population: valuation.observe(
    state.population,
    step,
    groups
      .filter(
        ({ instruction, missing, rewards }) => rewards.length + missing > 0 && isAlive(state.population, instruction)
      )
      .map(({ instruction, ...group }) => ({ ...group, instructionId: instruction }))
  ),
  newcomers: []
})

/** Marks the decisions that follow the last unit of time as due. */
export const endUnit = <S extends EvolutionState>(schedule: Schedule, state: S): S => {
  return { ...state, due: pruning(schedule, state) ?? afterPruning(schedule, state) }
}

/** The state after the decisions that follow a unit of time. */
export const rest = <S extends EvolutionState>(state: S): S =>
  state.due === "Conclude" ? { ...state, due: "Nothing" } : state

/** The state after an event. Throws {@link UnexpectedEvent} unless an evolution is in a stage that the event can follow. */
export const apply = <S extends EvolutionState>(schedule: Schedule, state: S, event: EvolutionEvent): S => {
  switch (event._tag) {
    case "Pruned": {
      const remaining = leave(
        state,
        event.pruned.map(({ id }) => id)
      )
      return { ...remaining, due: afterPruning(schedule, state) }
    }
    case "ParentsChosen":
      return {
        ...state,
        due: "Conclude",
        evolution: { step: event.step, round: 1, parents: event.parents, verified: [], stage: { _tag: "Proposing" } }
      }
    case "CandidatesProposed": {
      const { candidates, parent, reflected } = event
      return {
        ...at(state, event, "Proposing", { _tag: "Proposed", parent, candidates, reflected }),
        ...Notebook.proposed(state, event)
      }
    }
    case "EvolutionSkipped":
      evolutionIn(state, event, "Proposing")
      return { ...state, evolution: null, ...Notebook.unusable(event) }
    case "VerificationBegun":
      return begun(state, event)
    case "CandidatesVerified": {
      const { stage } = evolutionIn(state, event, "Verifying")
      const { candidates, parent, questions } = event
      return {
        ...at(state, event, "Verifying", { ...stage, scores: { questions, candidates, parent } }),
        due: "Judge"
      }
    }
    case "CandidatesJudged":
      return judged(state, event)
    case "PopulationRefilled":
      return refilled(schedule, state, event)
  }
}

/** What evolution waits for: the decision that is due, else the stage of the evolution in progress, else `Nothing`. */
export const pending = ({ due, evolution }: EvolutionState): Due | Stage["_tag"] =>
  due === "Nothing" ? (evolution?.stage._tag ?? due) : due

/** Whether an event is one that evolution waits for. */
export const isPending = (state: EvolutionState, { _tag }: EvolutionEvent): boolean =>
  answers[_tag].includes(pending(state))

const answers: Readonly<Record<EvolutionEvent["_tag"], ReadonlyArray<ReturnType<typeof pending>>>> = {
  Pruned: ["Prune"],
  ParentsChosen: ["ChooseParents"],
  CandidatesProposed: ["Proposing"],
  VerificationBegun: ["Proposed"],
  CandidatesVerified: ["Verifying"],
  CandidatesJudged: ["Judge"],
  PopulationRefilled: ["Refill", "Proposing"],
  EvolutionSkipped: ["Proposing"]
}

/** Adds instructions as one entry. */
export const enter = <S extends EvolutionState>(state: S, newcomers: ReadonlyArray<Population.Newcomer>): S => ({
  ...state,
  born: state.born + newcomers.length,
  population: Population.add(state.population, newcomers)
})

/** Removes members, whatever the evidence. */
export const leave = <S extends EvolutionState>(state: S, leaving: ReadonlyArray<Instruction.InstructionId>): S => ({
  ...state,
  population: Population.remove(state.population, leaving),
  newcomers: state.newcomers.filter((id) => !leaving.includes(id))
})

const pruning = ({ isPaused, parents, prunes }: Schedule, { population }: EvolutionState): Due | null =>
  !isPaused && prunes(population.step) && population.members.length > parents ? "Prune" : null

/** While an evolution waits for something, no other begins. */
const afterPruning = (schedule: Schedule, state: EvolutionState): Due =>
  state.evolution === null && !schedule.isPaused && evolvesNow(schedule, state) ? "ChooseParents" : "Conclude"

const evolvesNow = ({ evolves, searches }: Schedule, { entrants, population }: EvolutionState): boolean =>
  evolves(population.step) ||
  (entrants !== null && Population.isUnrewarded(population) && searches?.(population.step) === true)

const evolutionIn = <Tag extends Stage["_tag"]>(
  { evolution }: EvolutionState,
  event: EvolutionEvent,
  tag: Tag
): EvolutionIn<Tag> => {
  if (!isIn(evolution, tag))
    throw new UnexpectedEvent({ event: event._tag, expected: `an evolution in the stage ${tag}` })
  return evolution
}

const at = <S extends EvolutionState>(state: S, event: EvolutionEvent, from: Stage["_tag"], stage: Stage): S => ({
  ...state,
  evolution: { ...evolutionIn(state, event, from), stage }
})

const begun = <S extends EvolutionState>(state: S, event: EventOf<"VerificationBegun">): S => {
  const { asks, places } = event
  const { parent, reflected, ...proposed } = evolutionIn(state, event, "Proposed").stage
  const candidates = places.map((place) => Invariant.at(proposed.candidates, place, "candidate"))
  return {
    ...at(state, event, "Proposed", { _tag: "Verifying", parent, candidates, reflected, scores: null }),
    due: asks && candidates.length > 0 ? state.due : "Judge"
  }
}

const judged = <S extends EvolutionState>(state: S, event: EventOf<"CandidatesJudged">): S => {
  const evolution = evolutionIn(state, event, "Verifying")
  const { candidates, parent } = evolution.stage
  const verdicts = Invariant.zip(candidates, event.verdicts, "candidates and verdicts")
  const verified = [
    ...evolution.verified,
    ...verdicts.map(([candidate, verdict]) => ({ ...verdict, candidate, parent }))
  ]
  const noted = { ...state, ...Notebook.judged(state, candidates, event) }
  return event.again
    ? {
        ...noted,
        due: "Conclude",
        evolution: { ...evolution, round: evolution.round + 1, verified, stage: { _tag: "Proposing" } }
      }
    : { ...noted, due: "Refill", evolution: { ...evolution, verified } }
}

const refilled = <S extends EvolutionState>(
  { resetsWindows }: Schedule,
  state: S,
  event: EventOf<"PopulationRefilled">
): S => {
  const { evolution } = state
  if (evolution === null) throw new UnexpectedEvent({ event: event._tag, expected: "an evolution" })
  const remaining = leave(
    state,
    event.replaced.map(({ id }) => id)
  )
  const entered = enter(
    resetsWindows ? { ...remaining, population: Population.resetWindows(remaining.population) } : remaining,
    event.accepted.map((accepted) => ({
      instruction: accepted.instruction,
      verification: verificationOf(evolution, accepted)
    }))
  )
  return {
    ...entered,
    ...Notebook.unusable(event),
    newcomers: event.accepted.map(({ instruction }) => instruction.id),
    entrants: {
      places: event.accepted.length + event.shortfall,
      ids: event.accepted.map(({ instruction }) => instruction.id)
    },
    evolution: null,
    due: "Conclude"
  }
}

/** How an instruction that enters was verified; null where no question was asked. */
const verificationOf = (
  { verified }: Evolution,
  { instruction, mean, questions }: EventOf<"PopulationRefilled">["accepted"][number]
): Population.Verification | null => {
  if (questions === 0) return null
  const verdict = verified.find(({ candidate, ...own }) => candidate.text === instruction.text && own.mean === mean)
  if (verdict === undefined) throw new Invariant.InvariantBroken(`the verdict on ${instruction.id}`)
  const { parent, parentMean } = verdict
  return { mean, groups: questions, rival: parentMean === null ? null : { id: parent, mean: parentMean } }
}
