/** How the rule-based proposer weighs what an edit can do: failures, scores and what was never tried. */
import { type Clause, clausesIn } from "../ClauseBank.ts"
import { smoothing } from "./Drawing.ts"
import type { Experience } from "./Tried.ts"

/** How an edit weighs clauses, wordings and withdrawals. All weights are above 0. */
export const make = (
  bank: ReadonlyArray<Clause>,
  parent: string,
  votes: (clause: Clause) => number,
  { gain, isUntried, merit, newness }: Experience
) => {
  const present = new Set(clausesIn(parent, bank).map(({ id }) => id))
  const weights = new Map(
    bank.map((clause) => {
      const asked = present.has(clause.id) ? 0 : votes(clause)
      // What is there already can only be reworded: neither failures nor scores ask for it.
      const experience = present.has(clause.id) ? 0 : gain(clause)
      const novelty = 1 + (noveltyFactor - 1) * newness(clause)
      return [clause.id, (smoothing + asked) * experienceFactor ** experience * novelty]
    })
  )
  return {
    clause: ({ id }: Clause) => weights.get(id) ?? smoothing,
    wording: (text: string) => (isUntried(text) ? noveltyFactor : 1),
    withdrawal: (clause: Clause) => experienceFactor ** -merit(clause)
  }
}

/** How much likelier high scores make a clause, and low ones less likely, at most: no more than a few failures would. */
const experienceFactor = 4

/** How much likelier what was never tried is: no reward says yet that it is worse. */
const noveltyFactor = 2
