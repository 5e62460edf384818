/** The summary of a search, at any time: a pure function of its state and its events. */
import { Instruction } from "@inspo/domain"
import { meanOf } from "@inspo/statistics/Bootstrap"
import { Array as Arr } from "effect"
import * as Answers from "./Answers.ts"
import { type Event, keyOf, type Obtained } from "./Event.ts"
import * as Evidence from "./Evidence.ts"
import * as Progress from "./Progress.ts"
import * as Search from "./Search.ts"
import type { Failing, Round, Summary, Tried } from "./Snapshot.ts"
import * as Verdict from "./Verdict.ts"

export const of = (state: Search.State, events: ReadonlyArray<Event>): Summary => {
  const { ended, setup } = state
  const gains = Evidence.gains(state.prompts, state.answers)
  const bounds = Evidence.bounds(state.prompts, state.answers, state.sources)
  const phase = Progress.phaseOf(state)
  const concluded = phase === "done" ? Verdict.of(state) : null
  const prompt = concluded?.prompt ?? Search.original
  const leader = Search.leaderOf(state)
  return {
    phase,
    verdict: concluded?.verdict ?? null,
    because: ended?.because ?? null,
    prompt,
    leader,
    test: concluded?.test ?? null,
    minimalGain: setup.minimalGain,
    largestPossibleGain: Evidence.largest(bounds),
    callsNeeded: Verdict.callsNeeded(bounds, setup.minimalGain),
    calls: state.made,
    budget: setup.calls,
    usd: state.usd,
    lost: state.lost,
    budgetUsd: setup.usd,
    cases: { search: setup.search.length, test: setup.test.length },
    scoreNoise: meanOf(
      outcomesOf(state).flatMap((answer) =>
        answer._tag === "Answered"
          ? Search.rescoresOf(state, answer).map((score) => Math.abs(score - answer.score))
          : []
      )
    ),
    tried: triedOf(state, events, gains),
    rejected: events.flatMap((event) => (event._tag === "Proposed" ? event.rejected : [])),
    failures: events.flatMap(failureOf),
    failing: failingOf(state, events, concluded === null ? leader : prompt)
  }
}

/** The round of search whose last call was answered just now. */
export const roundOf = (state: Search.State): Round => {
  const { answers, evolution, rounds } = state
  const evidence = evidenceOf(state, Evidence.gains(Search.membersOf(state, evolution), answers))
  return {
    round: rounds,
    calls: state.made,
    usd: state.usd,
    members: evolution.population.members.map(({ instruction: { id } }) => ({ id, ...evidence(id) }))
  }
}

type Id = Instruction.InstructionId

const outcomesOf = ({ answers, tests }: Search.State): ReadonlyArray<Answers.Outcome> => [
  ...answers.outcomes,
  ...tests.outcomes
]

const evidenceOf = ({ answers, evolution: { population } }: Search.State, gains: ReadonlyArray<Evidence.Gain>) => {
  const byPrompt = new Map(gains.map(({ lower, mean, prompt, upper }) => [prompt, { mean, lower, upper }]))
  const chances = new Map(
    population.members.map(({ instruction }, place) => [instruction.id, population.comparison.chances[place] ?? null])
  )
  return (id: Id): Pick<Tried, "score" | "chance" | "gain"> => ({
    score: Answers.meanOf(answers, id),
    chance: chances.get(id) ?? null,
    gain: byPrompt.get(id) ?? null
  })
}

const triedOf = (
  state: Search.State,
  events: ReadonlyArray<Event>,
  gains: ReadonlyArray<Evidence.Gain>
): Summary["tried"] => {
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
      cases: Answers.ofPrompt(state.answers, id).outcomes.length,
      ...evidence(id)
    }
  })
}

const textOf = (one: Pick<Instruction.Instruction, "text" | "parts">): string =>
  JSON.stringify(Instruction.contentOf(one))

const failureOf = (event: Event): ReadonlyArray<string> =>
  event._tag === "Missed" ? [event.reason] : event._tag === "Proposed" && event.failure !== null ? [event.failure] : []

const failingOf = (state: Search.State, events: ReadonlyArray<Event>, prompt: Id): ReadonlyArray<Failing> => {
  const outputs = new Map<string, Obtained>()
  for (const event of events) if (event._tag === "Obtained" && event.prompt === prompt) outputs.set(keyOf(event), event)
  return outcomesOf(state).flatMap((answer) =>
    answer._tag === "Answered" && answer.prompt === prompt && answer.score < 1
      ? [
          {
            place: answer.case,
            score: answer.score,
            feedback: answer.feedback,
            output: outputs.get(keyOf(answer))?.output ?? null
          }
        ]
      : []
  )
}
