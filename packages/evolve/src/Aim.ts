/** What a search looks for besides a better score: a prompt that is no worse, and shorter or cheaper. */
import { Instruction, InvalidInput } from "@inspo/domain"
import type { Constraint as Rule } from "@inspo/evolution"
import * as Constraint from "./Constraint.ts"
import type * as Evidence from "./Evidence.ts"
import type { Aim } from "./SearchView.ts"

/** Throws `InvalidInput` on a margin or a saving with which nothing can be shown. */
export const check = (aim: Aim): Aim => {
  for (const field of ["margin", "saving"] as const)
    if (!(aim[field] > 0 && aim[field] < 1))
      InvalidInput.refuse({
        where: "evolve",
        field,
        value: aim[field],
        expected: "a share above 0 and below 1, such as 0.1"
      })
  return aim
}

/** How length or price change from the original to another prompt, and whether enough is shown to be saved. */
export const saved = (
  { saving, what }: Aim,
  pairs: ReadonlyArray<Evidence.Cluster>,
  [original, other]: readonly [Instruction.Instruction, Instruction.Instruction]
): Rule.Found => {
  const metric = what === "shorter" ? "length" : "usd"
  const constraint = { text: what, metric, quantile: null, bound: -saving, isRelative: true }
  return Constraint.judge(constraint, pairs, [lengthOf(original), lengthOf(other)], 0.05, true)
}

/** The most characters of a candidate; all that there are unless it is to be shorter. */
export const longest = (aim: Aim | undefined, original: Instruction.Instruction): number =>
  aim?.what === "shorter" ? Math.floor((1 - aim.saving) * lengthOf(original)) : Infinity

/** What each candidate must do besides. */
export const demands = (aim: Aim | undefined, original: Instruction.Instruction): ReadonlyArray<string> =>
  aim === undefined || aim.what === "no-worse"
    ? []
    : aim.what === "shorter"
      ? [`have at most ${longest(aim, original)} characters, and keep what makes answers right`]
      : ["make answers cheaper, such as by shorter answers and fewer steps, and keep what makes them right"]

const lengthOf = (instruction: Instruction.Instruction): number =>
  Constraint.lengthOf(Instruction.contentOf(instruction))
