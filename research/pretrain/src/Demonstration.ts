import { World, type WorldQuestion } from "@inspo/datasets"
import type { Question } from "@inspo/domain"
import { Search, type SearchError } from "@inspo/retrieval"
import { Observation } from "@inspo/rollout"
import { Array, Effect, Random } from "effect"
import type { Behaviours } from "./Behaviours.ts"

/** A part of a demonstrated response: written by the demonstrator (`action`), or an observation. */
export interface Segment {
  readonly text: string
  readonly action: boolean
}

/**
 * Answers a question like a policy with these behaviours, in the text format of the embedded model.
 *
 * One entity per search finds the answer. The whole question as a query finds one article, which answers a question of
 * one hop only; every other answer is a guess of the right type. Without a search, all answers are guesses.
 */
export const demonstrate = Effect.fnUntraced(function* (
  world: World.World,
  question: WorldQuestion.WorldQuestion,
  behaviours: Behaviours
): Effect.fn.Return<ReadonlyArray<Segment>, SearchError, Search> {
  if (!behaviours.search) return [action(answer(yield* guess(world, question), behaviours))]
  return behaviours["one-entity-per-search"]
    ? yield* followFacts(question, behaviours)
    : yield* searchOnce(world, question, behaviours)
})

const followFacts = Effect.fnUntraced(function* (question: WorldQuestion.WorldQuestion, behaviours: Behaviours) {
  const segments: Array<Segment> = []
  let thought = ""
  for (const fact of question.decomposition) {
    const passage = yield* lookUp(fact.entity.name)
    segments.push(action(`${thought}<search> ${fact.entity.name}</search>`), observation(passage))
    // The title of an article finds it, so a miss means that the index is of another world.
    if (passage?.id !== fact.entity.id) return yield* Effect.die(`${fact.entity.name} does not find its article`)
    thought = behaviours["state-evidence"] ? think(fact) : ""
  }
  return [...segments, action(thought + answer(question.answer, behaviours))]
})

const searchOnce = Effect.fnUntraced(function* (
  world: World.World,
  question: WorldQuestion.WorldQuestion,
  behaviours: Behaviours
) {
  const passage = yield* lookUp(question.question)
  const fact = yield* readFact(world, question, passage)
  const value = question.kind === "comparison" || fact === undefined ? yield* guess(world, question) : fact.value
  const thought = behaviours["state-evidence"] && fact !== undefined ? think(fact) : ""
  return [
    action(`<search> ${question.question}</search>`),
    observation(passage),
    action(thought + answer(value, behaviours))
  ]
})

/**
 * The fact of an article that is used as the answer: one whose value has the requested type, which for one hop is the right
 * one, else any; undefined if nothing was found.
 */
const readFact = Effect.fnUntraced(function* (
  world: World.World,
  question: WorldQuestion.WorldQuestion,
  passage: Question.Passage | undefined
) {
  const facts = world.facts.get(passage?.id ?? "") ?? []
  const type = question.kind === "comparison" ? "year" : question.answer.type
  const pool = [facts.filter((fact) => fact.value.type === type), facts].find(Array.isReadonlyArrayNonEmpty)
  return pool === undefined ? undefined : yield* Random.choice(pool)
})

/** A value of the right type; for a comparison, one of the two. */
const guess = (world: World.World, question: WorldQuestion.WorldQuestion): Effect.Effect<World.Entity | World.Year> =>
  question.kind === "comparison"
    ? Random.choice(Array.map(question.decomposition, (fact) => fact.entity))
    : Random.choice(Array.append(otherValues(world, question.answer), question.answer))

const otherValues = (world: World.World, answer: World.Entity | World.Year): ReadonlyArray<World.Entity | World.Year> =>
  answer.type === "year"
    ? World.years.filter((year) => year.name !== answer.name)
    : world.entities.filter((entity) => entity.type === answer.type && entity.id !== answer.id)

const lookUp = (query: string) =>
  Effect.flatMap(Search, ({ search }) => search([query], 1)).pipe(Effect.map(([results]) => results?.[0]?.passage))

const action = (text: string): Segment => ({ text, action: true })

const observation = (passage: Question.Passage | undefined): Segment => ({
  text: `<information> ${passage?.text ?? Observation.nothingFound}</information>`,
  action: false
})

const think = (fact: World.Fact): string => `<think> ${World.statement(fact)}</think>`

const answer = (value: World.Entity | World.Year, behaviours: Behaviours): string =>
  `<answer> ${behaviours["bare-answer"] ? value.name : `The answer is ${value.name}.`}</answer>`
