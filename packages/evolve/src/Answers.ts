/** The answers of the agent so far, by prompt and case: an answer is added without a copy of those before it. */
import type { Instruction } from "@inspo/domain"
import { Chunk, HashMap, Option } from "effect"
import type { Answered, Missed } from "./Event.ts"

export type Outcome = Answered | Missed

/** What a prompt answered. A missing score counts as 0 in `sum`; `missed` are missing. */
export interface OfPrompt {
  readonly outcomes: Chunk.Chunk<Outcome>
  readonly byCase: HashMap.HashMap<number, ReadonlyArray<Outcome>>
  readonly sum: number
  readonly missed: number
}

export interface Answers {
  /** In order. */
  readonly outcomes: Chunk.Chunk<Outcome>
  readonly byPrompt: HashMap.HashMap<Instruction.InstructionId, OfPrompt>
}

export const empty: Answers = { outcomes: Chunk.empty(), byPrompt: HashMap.empty() }

export const add = ({ byPrompt, outcomes }: Answers, outcome: Outcome): Answers => ({
  outcomes: Chunk.append(outcomes, outcome),
  byPrompt: HashMap.modifyAt(byPrompt, outcome.prompt, (known) => {
    const before = Option.getOrElse(known, () => unasked)
    return Option.some({
      outcomes: Chunk.append(before.outcomes, outcome),
      byCase: HashMap.modifyAt(before.byCase, outcome.case, (some) =>
        Option.some([...Option.getOrElse(some, () => none), outcome])
      ),
      sum: before.sum + (outcome._tag === "Answered" ? outcome.score : 0),
      missed: before.missed + (outcome._tag === "Missed" ? 1 : 0)
    })
  })
})

/** What a prompt answered; nothing if it was not asked. */
export const ofPrompt = ({ byPrompt }: Answers, prompt: Instruction.InstructionId): OfPrompt =>
  Option.getOrElse(HashMap.get(byPrompt, prompt), () => unasked)

/** The answers of a prompt to a case. */
export const at = ({ byCase }: OfPrompt, index: number): ReadonlyArray<Outcome> =>
  Option.getOrElse(HashMap.get(byCase, index), () => none)

/** The mean score of a prompt, where a missing one counts as 0; null if it was not asked. */
export const meanOf = (answers: Answers, prompt: Instruction.InstructionId): number | null => {
  const { outcomes, sum } = ofPrompt(answers, prompt)
  return outcomes.length === 0 ? null : sum / outcomes.length
}

const none: ReadonlyArray<Outcome> = []
const unasked: OfPrompt = { outcomes: Chunk.empty(), byCase: HashMap.empty(), sum: 0, missed: 0 }
