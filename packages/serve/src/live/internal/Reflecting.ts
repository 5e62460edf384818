/** The request to a proposer for an evolution. */
import { Learning, type State } from "@inspo/cohorts"
import type { Instruction } from "@inspo/domain"
import { isAlive, isIn } from "@inspo/evolution"
import type { Journal, JournalError } from "@inspo/journal"
import { Population } from "@inspo/population"
import { Reflect } from "@inspo/reflection"
import { Array as Arr, type Effect } from "effect"
import type { Work } from "./Work.ts"

/** A proposal that a population waits for. */
export interface Due {
  /** Identifies the evolution and its round. */
  readonly key: string
  readonly stream: ReadonlyArray<string | number>
  readonly step: number
  readonly round: number
  readonly parent: Instruction.InstructionId
}

/** The proposal that a state waits for, null if there is none. */
export const due = ({ branch, learning: { evolution } }: State.State): Due | null => {
  if (!isIn(evolution, "Proposing")) return null
  const { parents, round, step } = evolution
  const parent = parents[(round - 1) % parents.length]
  if (parent === undefined) return null
  const stream = [streamName, branch, step, round]
  return { key: stream.join("/"), stream, step, round, parent }
}

const streamName = "evolution"

/** Deletes the stored answers once their proposal is durable. */
export const forget = (journal: Journal.Interface): Effect.Effect<void, JournalError> =>
  journal.deleteRecords(["proposer"], { prefixes: [`${streamName}/`] })

/** At most so many candidates are requested at once. */
const mostCandidates = 4

/** The reflection that is due. `contents` are all that were proposed or members on this branch. */
export const reflectionOn = (
  { learning, limits, settings }: State.State,
  { parent, round, step }: Due,
  { commonAnswers, records }: Pick<Work, "commonAnswers" | "records">,
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
    count: Math.max(1, Math.min(mostCandidates, settings.population.size - settings.population.parents)),
    turn: Math.floor(step / Math.max(1, settings.schedule.evolveEvery)) + round - 1,
    longest: limits.textLength,
    rules: { commonAnswers }
  })
}

/** Why candidates were proposed; `name` is that of the text that they revise, where there are several. */
export const rationale = ({ parent }: Due, { name, records }: Reflect.Reflection["request"]): string => {
  const scores = records.map(({ score }) => score)
  return (
    `${name === undefined ? "" : `Revises ${name}. `}Written after ${records.length} records of work under ${parent}, ` +
    `with rewards of ${Math.min(...scores).toFixed(2)} to ${Math.max(...scores).toFixed(2)} of 1`
  )
}
