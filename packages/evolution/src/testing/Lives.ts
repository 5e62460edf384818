/** Lives of a population: what it meets, unit of time by unit of time, and the events that follow. */
import { Question } from "@inspo/domain"
import { Population } from "@inspo/population"
import { Populations } from "@inspo/population/testing"
import { Arbitrary, Schema } from "effect"
import * as Apply from "../Apply.ts"
import * as Decide from "../Decide.ts"
import type { EvolutionEvent } from "../Event.ts"
import type { Schedule } from "../Schedule.ts"
import { type EvolutionState, type Group, instructionId } from "../State.ts"
import type { Strategies } from "../Strategies.ts"

/**
 * What leads a population: the strategies, the number of parents that they choose, and the most members after an evolution.
 * `asks` is whether candidates are asked questions, by default true. A host that wraps the functions of the kernel gives its
 * own.
 */
export interface Host {
  readonly strategies: Strategies
  readonly parents: number
  readonly size: number
  readonly asks?: boolean
  readonly kernel?: Partial<Kernel>
}

/** The functions that a host calls. */
export interface Kernel {
  readonly decide: typeof Decide.decide
  readonly apply: (schedule: Schedule, state: EvolutionState, event: EvolutionEvent) => EvolutionState
  readonly endUnit: (schedule: Schedule, state: EvolutionState) => EvolutionState
}

/** A unit of time: rewards by place, and what a proposer or a person does afterwards. */
const Unit = Schema.Struct({
  rewards: Schema.Array(Schema.Literals([0, 0.5, 1])).check(Schema.isMinLength(12), Schema.isMaxLength(12)),
  missing: Schema.Array(Schema.Literals([0, 1, 2])).check(Schema.isMinLength(12), Schema.isMaxLength(12)),
  proposed: Schema.Literals([0, 1, 2, 3]),
  isSkipped: Schema.Boolean,
  isPaused: Schema.Boolean
})
export interface Unit extends Schema.Schema.Type<typeof Unit> {}

/** A life: how the population is led, and its units of time. Candidates are asked `questions`. */
export const Life = Schema.Struct({
  resetsWindows: Schema.Boolean,
  protectsSeed: Schema.Boolean,
  questions: Schema.Literals([1, 2, 3]),
  units: Schema.NonEmptyArray(Unit).check(Schema.isMaxLength(25))
})
export interface Life extends Schema.Schema.Type<typeof Life> {}

export const lives: Arbitrary.Arbitrary<Life> = Arbitrary.schema(Life)

/** The first instruction of every life. */
export const seed = instructionId(0)

/** How rewards are kept, where the strategies of a host do not. */
export const valuation: Population.Interface = Population.recentSteps({ window: 3 })

/** The schedule of a life: a pruning each second unit, an evolution each third. */
export const scheduleOf = (
  { parents }: Pick<Host, "parents">,
  { resetsWindows }: Pick<Life, "resetsWindows">,
  isPaused = false
): Schedule => ({
  parents,
  resetsWindows,
  isPaused,
  prunes: (step) => step % 2 === 0,
  evolves: (step) => step % 3 === 0,
  searches: () => true
})

/** What decisions about a state are made with. */
export const contextOf = (
  { asks = true, size, strategies }: Omit<Host, "parents">,
  { protectsSeed }: Pick<Life, "protectsSeed">,
  { population }: EvolutionState
): Decide.DecisionContext => {
  const generations = new Map(population.members.map(({ instruction }) => [instruction.id, instruction.generation]))
  return {
    strategies,
    values: strategies.valuation.values(population),
    settings: { population: { size } },
    protectedIds: new Set(protectsSeed ? [seed] : []),
    generationOf: (id) => generations.get(id) ?? 0,
    verification: { asks }
  }
}

/** Every member is asked: a group of each, by turns on a question of its own and on one that all share. */
export const groupsOf = (state: EvolutionState, { missing, rewards }: Unit): ReadonlyArray<Group> => {
  const question = state.population.step % 2 === 0 ? null : Question.QuestionId.make("shared")
  return Population.ids(state.population).map((instruction, at) => {
    const own = { instruction, question, stratum: "all", missing: missing[at % 12] ?? 0 }
    return { ...own, rewards: own.missing === 2 ? [] : [rewards[at % 12] ?? 0] }
  })
}

/** One event of a life, between two states. `isPaused` says whether its unit is. */
export interface Moment {
  readonly before: EvolutionState
  readonly event: EvolutionEvent
  readonly after: EvolutionState
  readonly isPaused: boolean
}

/** Plays a life of three instructions, and calls `watch` at each event. Throws where an evolution has no end. */
export const live = (host: Host, life: Life, watch: (moment: Moment) => void): EvolutionState => {
  const { apply = Apply.apply, decide = Decide.decide, endUnit = Apply.endUnit } = host.kernel ?? {}
  let state = Apply.begin([0, 1, 2].map(Populations.instruction))
  for (const [index, unit] of life.units.entries()) {
    const { isPaused } = unit
    const schedule = scheduleOf(host, life, isPaused)
    let events = 0
    const take = (event: EvolutionEvent) => {
      if (++events > mostEvents) throw new Error(`an evolution goes on after ${mostEvents} events`)
      const after = apply(schedule, state, event)
      watch({ before: state, event, after, isPaused })
      state = after
    }
    const next = () => decide(contextOf(host, life, state), state)
    const settle = () => {
      for (let event = next(); event !== null; event = next()) take(event)
      state = Apply.rest(state)
    }
    state = endUnit(schedule, Apply.observe(valuation, state, index + 1, groupsOf(state, unit)))
    settle()
    for (let input = inputOf(state, life, unit, index); input !== null; input = inputOf(state, life, unit, index)) {
      take(input)
      if (isPaused) break
      settle()
    }
  }
  return state
}

/** An evolution of a hundred rounds has no end. */
const mostEvents = 500

/** What a proposer, or the rollouts of a verification, bring, as long as the evolution waits for them. */
const inputOf = (state: EvolutionState, { questions }: Life, unit: Unit, index: number): EvolutionEvent | null => {
  const { evolution } = state
  if (evolution === null || Apply.pending(state) === "Proposed") return null
  const { round, stage, step } = evolution
  if (stage._tag === "Verifying")
    return {
      _tag: "CandidatesVerified",
      step,
      round,
      questions: Array.from({ length: questions }, (_, at) => Question.QuestionId.make(`v${at}`)),
      candidates: stage.candidates.map((_, place) => unit.rewards.slice(place, place + questions)),
      parent: unit.rewards.slice(0, questions)
    }
  if (unit.isSkipped && round === 1) return { _tag: "EvolutionSkipped", step, reason: "none" }
  return {
    _tag: "CandidatesProposed",
    step,
    round,
    parent: evolution.parents[round % evolution.parents.length] ?? seed,
    candidates: Array.from({ length: unit.proposed }, (_, at) => ({
      text: `${index}.${round}.${at}`,
      rationale: ""
    })),
    reflected: []
  }
}
