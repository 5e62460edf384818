/** Which of several named texts of a prompt a proposal revises: that whose revisions gained most. Pure. */
import type { Instruction } from "@inspo/domain"
import * as Evidence from "./Evidence.ts"

/** What is known of revisions so far. */
export interface Known {
  readonly prompts: Evidence.Prompts
  readonly answers: Evidence.Answers
  /** The proposals of each text by its name, those without candidates included. */
  readonly proposals: ReadonlyMap<string, number>
}

/** The name of the text to revise; null of one text. The texts take turns until answers differ. */
export const next = (known: Known, cases: ReadonlyArray<number>, { parts }: Instruction.Instruction): string | null => {
  const names = Object.keys(parts ?? {}).toSorted()
  const worth = names.map((name) => worthOf(known, cases, name))
  return names[worth.indexOf(Math.max(...worth))] ?? null
}

/** What a case gains by revisions of a text, shrunk to 0, and a bonus that falls with the number of proposals. */
const worthOf = ({ answers, prompts, proposals }: Known, cases: ReadonlyArray<number>, name: string): number => {
  const byId = new Map(prompts.map((prompt) => [prompt.id, prompt]))
  const pairs = prompts.flatMap(({ id, parent, parts }) => {
    const before = parent === null ? undefined : byId.get(parent)
    return before === undefined || parts?.[name] === before.parts?.[name]
      ? []
      : Evidence.clusters(answers, [before.id, id], cases)
  })
  const gained = pairs.reduce((sum, { least, most }) => sum + (least + most) / 2, 0)
  return gained / (pairs.length + shrinkage) + bonus / Math.sqrt((proposals.get(name) ?? 0) + 1)
}

/** Cases without a gain that are counted beside those that were asked. */
const shrinkage = 10

/** Chosen among 0.03 to 0.4 by `research evolve-parts` at 313abfc8, on other seeds than those it reports. */
const bonus = 0.2
