/** Protected cases: no prompt may fail one that the control solves. Each is asked again until that is known, or as good as chance. */
import { type Instruction, InvalidInput } from "@inspo/domain"
import { Conclude } from "@inspo/evolution"
import type { Ask } from "./Event.ts"
import * as Evidence from "./Evidence.ts"

/** What answers to protected cases show of a prompt. */
export interface Standing {
  /** Cases that it is shown to fail more often than the control, by their index. */
  readonly lost: ReadonlyArray<number>
  /** Cases of which this is not known yet. */
  readonly open: ReadonlyArray<number>
  /** The next answers of both prompts to the open cases. */
  readonly asks: ReadonlyArray<Ask>
}

/** Whether a case says of itself that it is protected, in a field of that name. */
export const isProtected = (one: unknown): boolean => markOf(one) === "true"

/** Whether a case says that it is protected, or that it is not, or nothing of it. */
export const isMarked = (one: unknown): boolean => ["", "true", "false"].includes(markOf(one))

/** Refuses a case that says neither that it is protected nor that it is not. */
export const assertMarks = (cases: ReadonlyArray<unknown>): void => {
  for (const [index, one] of cases.entries())
    if (!isMarked(one)) {
      const expected = "true or false; give a field that means something else another name"
      InvalidInput.refuse({ where: "cases", field: `protected of case ${index + 1}`, value: markOf(one), expected })
    }
}

const markOf = (one: unknown): string =>
  typeof one === "object" && one !== null
    ? String(Reflect.get(one, "protected") ?? "")
        .trim()
        .toLowerCase()
    : ""

/** The indices of the cases that are protected. */
export const indices = (cases: ReadonlyArray<unknown>): ReadonlyArray<number> =>
  cases.flatMap((one, index) => (isProtected(one) ? [index] : []))

/** Answers to protected cases are samples from this number on, so that they count for nothing else. */
const first = 100_000

/** Answers of each prompt by which a case must be kept, at least. */
const least = 3

/** The most answers of each prompt: three times as many as show that a case is lost for certain. */
export const most = (count: number, risk: number): number =>
  count === 0 ? 0 : 3 * Math.ceil(Math.log2((4 * count) / risk))

/** The calls that are kept for it: all cases once, and one that is lost for certain. */
export const reserved = ({ length: count }: ReadonlyArray<number>): number =>
  2 * (least * count + most(count, riskOfSearch) / 3)

/** The risk with which a search refuses its finalist. */
export const riskOfSearch = 0.05

/**
 * What is shown at any time: a case that is no harder for the prompt than for the control is ever `lost` with a probability of at most
 * `risk`, for all cases together. A missing score is no failure.
 */
export const standing = (
  answers: Evidence.Answers,
  [control, other]: readonly [Instruction.InstructionId, Instruction.InstructionId],
  cases: ReadonlyArray<number>,
  risk: number
): Standing => {
  const scoresOf = (prompt: Instruction.InstructionId, index: number, missing: number) =>
    new Map(
      Evidence.at(Evidence.ofPrompt(answers, prompt), index).map((one) => [one.sample, Evidence.scoreOf(one, missing)])
    )
  const all = cases.map((index) => {
    const [before, after] = [scoresOf(control, index, 0), scoresOf(other, index, 1)]
    const differences = [...after].flatMap(([sample, score]) => {
      const own = before.get(sample)
      return own === undefined ? [] : [score - own]
    })
    const pairs = differences.map((one) => ({ least: one, most: one }))
    const isLost = Conclude.evidence(pairs, 0).worse >= Math.log(cases.length / risk)
    const isLosing = differences.length < least || differences.reduce((sum, one) => sum + one, 0) < 0
    const isOpen = !isLost && isLosing && differences.length < most(cases.length, risk)
    return { index, isLost, isOpen, sample: first + differences.length }
  })
  return {
    lost: all.flatMap(({ index, isLost }) => (isLost ? [index] : [])),
    open: all.flatMap(({ index, isOpen }) => (isOpen ? [index] : [])),
    asks: all.flatMap(({ index, isOpen, sample }) =>
      isOpen
        ? (sample % 2 === 0 ? [control, other] : [other, control]).map((prompt) => ({ prompt, case: index, sample }))
        : []
    )
  }
}
