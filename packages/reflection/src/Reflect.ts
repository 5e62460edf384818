/** What a proposer is shown of work, and what its answer becomes: one rule for runs, served populations and searches. Pure. */
import { Instruction } from "@inspo/domain"
import { Array as Arr, Order, Struct } from "effect"
import * as CandidateLint from "./CandidateLint.ts"
import type { Proposal, ProposeRequest } from "./Proposer.ts"
import type { ReflectiveRecord } from "./ReflectiveRecord.ts"

/**
 * What a host knows when it asks for candidates.
 *
 * - `seed`: the tags of actions that it names must survive.
 * - `known`: what a candidate must not repeat.
 * - `notebook`: that of the last proposal, if its proposer learns.
 * - `name`: which of several named texts is revised; without it that of `turn`, how many proposals came before.
 * - `longest`: the most characters of a candidate, by default without limit.
 * - `ownFeedback`: whether feedback is the user's own words, which a candidate may repeat.
 * - `rules`: what only the host can know of them; null to accept whatever has a text.
 */
export interface Work extends Pick<ProposeRequest, "count" | "history" | "protocol"> {
  readonly parent: Instruction.Content
  readonly seed: Instruction.Content
  readonly records: ReadonlyArray<ReflectiveRecord>
  readonly known: ReadonlyArray<Instruction.Content>
  readonly notebook?: ProposeRequest["notebook"] | undefined
  readonly name?: string | null
  readonly turn?: number
  readonly longest?: number
  readonly ownFeedback?: boolean
  readonly rules: Pick<CandidateLint.Rules, "actions" | "commonAnswers" | "keep"> | null
}

/** What is asked of a proposer, and how its answer is read. */
export interface Reflection {
  readonly request: Omit<ProposeRequest, "makeCall" | "seed" | "stream">
  /** The candidates that can be tried, each a whole instruction, and those that cannot. */
  readonly candidatesOf: (proposal: Pick<Proposal, "candidates" | "rejected">) => ReturnType<typeof CandidateLint.lint>
}

/** The most records that are shown of work whose host does not say which. */
export const mostRecords = 11

/** The records to show of much work: the worst, and about one in four of the best that are better. Of equals the first. */
export const chosen = <A extends Pick<ReflectiveRecord, "score">>(
  work: ReadonlyArray<A>,
  most: number
): ReadonlyArray<A> => {
  const best = Math.floor((most + 1) / 4)
  const [worst, others] = Arr.splitAt(
    Arr.sortWith(work, ({ score }) => score, Order.Number),
    most - best
  )
  const highest = worst.at(-1)?.score ?? 1
  return [
    ...worst,
    ...Arr.takeRight(
      others.filter(({ score }) => score > highest),
      best
    )
  ]
}

/** The reflection on work. */
export const on = (work: Work): Reflection => {
  const { count, history, longest = Infinity, ownFeedback = false, parent, protocol, records } = work
  const name = work.name ?? nameOf(parent, work.turn ?? 0)
  const text = textOf(parent, name)
  const rules = work.rules === null ? undefined : rulesOf(work, work.rules, name, ownFeedback)
  return {
    request: {
      parent: { text },
      count,
      records,
      // The value of an instruction of several texts says little of one of them.
      history: name === undefined ? history : [],
      ...(protocol === undefined ? {} : { protocol }),
      ...(name === undefined ? {} : { name }),
      ...(work.notebook === undefined ? {} : { notebook: work.notebook }),
      ...(rules === undefined ? {} : { rules })
    },
    candidatesOf: ({ candidates, rejected: unusable = [] }) => {
      const { accepted, rejected } = CandidateLint.lint(candidates, rules)
      const whole = accepted.map((candidate) => ({
        ...candidate,
        ...Instruction.ofContent(replaced(parent, name, candidate.text))
      }))
      const isTooLong = ({ text }: Instruction.Candidate) => text.length > longest
      const tooLong = whole.filter(isTooLong).map(({ text }) => ({ text, reason: "too-long" as const }))
      return {
        accepted: whole.filter((candidate) => !isTooLong(candidate)),
        rejected: [...unusable, ...rejected, ...tooLong]
      }
    }
  }
}

const rulesOf = (
  { count, known, parent, records, seed: first }: Work,
  { keep = [], ...own }: NonNullable<Work["rules"]>,
  name: string | undefined,
  ownFeedback: boolean
): CandidateLint.Rules => {
  const seed = textOf(first, name)
  return {
    ...own,
    seed,
    keep: keep.filter((kept) => seed.includes(kept)),
    parent: textOf(parent, name),
    known: known.map((content) => textOf(content, name)),
    count,
    ...CandidateLint.shown(ownFeedback ? records.map(Struct.omit(["feedback"])) : records)
  }
}

/** The name of the text to revise, where there are several. */
const nameOf = (content: Instruction.Content, turn: number): string | undefined => {
  const names = typeof content === "string" ? [] : Object.keys(content).toSorted()
  return names[turn % Math.max(1, names.length)]
}

const textOf = (content: Instruction.Content, name: string | undefined): string =>
  typeof content === "string" ? content : name === undefined ? "" : (content[name] ?? "")

const replaced = (content: Instruction.Content, name: string | undefined, text: string): Instruction.Content =>
  typeof content === "string" || name === undefined ? text : { ...content, [name]: text }
