/** What the instructions that were tried say about the advice of a bank. Scores are compared with each other only. */
import { Array as Arr, Order } from "effect"
import type { Clause } from "../ClauseBank.ts"
import type { ProposeRequest } from "../Proposer.ts"

/** An instruction with its score. */
export type Scored = ProposeRequest["history"][number]

/** Half of the instructions, rounded up, by score. */
export const betterHalf = (history: ReadonlyArray<Scored>): ReadonlyArray<Scored> =>
  Arr.take(bestFirst(history), Math.ceil(history.length / 2))

/** From the highest score to the lowest. */
export const bestFirst = (history: ReadonlyArray<Scored>): ReadonlyArray<Scored> =>
  Arr.sort(history, Order.flip(Order.mapInput(Order.Number, ({ score }: Scored) => score)))

/** The texts of a request that were tried before: of the parent, of all scored instructions, and those not to repeat. */
export const textsOf = ({ history, parent, rules }: ProposeRequest<unknown>): ReadonlyArray<string> =>
  Arr.dedupe([parent.text, ...history.map(({ instruction }) => instruction.text), ...(rules?.known ?? [])])

/**
 * What is known of each clause, for a parent. Differences of scores are divided by the range of all scores and shrink with
 * few carriers, so they are in (-1, 1).
 *
 * - `isUntried`: no text that was tried has this wording
 * - `newness`: the share of its wordings that are untried
 * - `gain`: how much better its carriers did than the parent; 0 where there are none
 * - `merit`: how much better its carriers did than the other instructions; 0 where there are no others
 */
export interface Experience {
  readonly isUntried: (text: string) => boolean
  readonly newness: (clause: Clause) => number
  readonly gain: (clause: Clause) => number
  readonly merit: (clause: Clause) => number
}

/** Reads a request. */
export const read = (request: ProposeRequest<unknown>): Experience => {
  const { history, parent } = request
  const scores = history.map(({ score }) => score)
  const range = Math.max(...scores) - Math.min(...scores)
  const own = history.filter(({ instruction }) => instruction.text === parent.text)
  const others = Arr.difference(history, own)
  const standard = mean(own.length > 0 ? own : history)
  const texts = textsOf(request)
  const isUntried = (text: string) => texts.every((tried) => !tried.includes(text))
  const relative = (difference: number, evidence: number) =>
    range > 0 && evidence > 0 ? ((difference / range) * evidence) / (evidence + 1) : 0

  return {
    isUntried,
    newness: ({ texts: wordings }) => wordings.filter(isUntried).length / wordings.length,
    gain: (clause) => {
      const carriers = others.filter(carries(clause))
      return relative(mean(carriers) - standard, carriers.length)
    },
    merit: (clause) => {
      const carriers = history.filter(carries(clause))
      const without = Arr.difference(history, carriers)
      return relative(mean(carriers) - mean(without), Math.min(carriers.length, without.length))
    }
  }
}

const carries =
  (clause: Clause) =>
  ({ instruction }: Scored): boolean =>
    clause.texts.some((text) => instruction.text.includes(text))

const mean = (scored: ReadonlyArray<Scored>): number =>
  scored.reduce((sum, { score }) => sum + score, 0) / Math.max(1, scored.length)
