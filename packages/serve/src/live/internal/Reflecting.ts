/** The request to a proposer for an evolution. */
import { Learning, type State } from "@inspo/cohorts"
import type { Instruction } from "@inspo/domain"
import { isAlive, isIn } from "@inspo/evolution"
import type { Journal, JournalError } from "@inspo/journal"
import { Population } from "@inspo/population"
import { type CandidateLint, type ProposeRequest, CandidateLint as Lint } from "@inspo/reflection"
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

/** `contentOf` returns the content of an instruction with a new text, null if it is too long. */
export interface Task {
  readonly request: Pick<ProposeRequest, "parent" | "count" | "failures" | "history" | "records" | "name"> & {
    readonly rules: CandidateLint.Rules
  }
  readonly contentOf: (text: string) => Instruction.Content | null
  readonly rationale: string
}

/** At most so many candidates are requested at once. */
const mostCandidates = 4

/** The members with their values. */
const tried = ({ population }: State.State["learning"]): ProposeRequest["history"] =>
  Arr.zipWith(population.members, Population.compare.values(population), ({ instruction }, { value }) => ({
    instruction,
    score: value
  }))

/**
 * `contents` are all that were proposed or members on this branch. If an instruction has several texts, one of them is revised at a time,
 * in turn.
 */
export const taskOf = (
  state: State.State,
  { parent, round, step }: Due,
  { commonAnswers, records }: Pick<Work, "commonAnswers" | "records">,
  contents: ReadonlyArray<Instruction.Content>
): Task => {
  const { learning, settings } = state
  const content = Learning.contentOfMember(learning, parent)
  const names = typeof content === "string" ? [] : Object.keys(content).toSorted()
  const turn = Math.floor(step / Math.max(1, settings.schedule.evolveEvery)) + round - 1
  const name = names[turn % Math.max(1, names.length)]
  const textOf = (one: Instruction.Content): string =>
    typeof one === "string" ? one : name === undefined ? "" : (one[name] ?? "")
  const text = textOf(content)
  const known = contents.map(textOf)
  const count = Math.max(1, Math.min(mostCandidates, settings.population.size - settings.population.parents))
  const scores = records.map(({ score }) => score)
  return {
    request: {
      parent: { text },
      count,
      failures: [],
      // The value of an instruction of several texts says little of one of them.
      history: name === undefined ? tried(learning) : [],
      records,
      ...(name === undefined ? {} : { name }),
      rules: {
        seed: textOf(
          isAlive(learning.population, learning.seed) ? Learning.contentOfMember(learning, learning.seed) : content
        ),
        parent: text,
        known,
        count,
        commonAnswers,
        ...Lint.shownOf(records)
      }
    },
    contentOf: (revised) => {
      const whole = typeof content === "string" || name === undefined ? revised : { ...content, [name]: revised }
      const length = typeof whole === "string" ? whole.length : JSON.stringify(whole).length
      return length > state.limits.textLength ? null : whole
    },
    rationale:
      `${name === undefined ? "" : `Revises ${name}. `}Written after ${records.length} records of work under ${parent}, ` +
      `with rewards of ${Math.min(...scores).toFixed(2)} to ${Math.max(...scores).toFixed(2)} of 1`
  }
}
