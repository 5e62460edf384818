/** The registry of credit: a new rule is a file in `credits`, and a line here. */
import { Choice, type Method } from "@inspo/domain"
import { anytime } from "./credits/Anytime.ts"
import { discount } from "./credits/Discount.ts"
import { evidence } from "./credits/Evidence.ts"
import { information } from "./credits/Information.ts"
import { keyTurns } from "./credits/KeyTurns.ts"
import { outcome } from "./credits/Outcome.ts"
import { reflections } from "./credits/Reflections.ts"
import { retrieval } from "./credits/Retrieval.ts"
import { stages } from "./credits/Stages.ts"
import { states } from "./credits/States.ts"
import type { Episode } from "./Credit.ts"

export type { Episode, Turn } from "./Credit.ts"
export { dependence } from "./credits/Evidence.ts"
export { gained } from "./credits/Information.ts"

/** Every rule of credit, that of GRPO first. */
export const credits = [
  outcome,
  discount,
  keyTurns,
  stages,
  reflections,
  retrieval,
  information,
  evidence,
  states,
  anytime
] as const

/** Which turns of a rollout earned its outcome. */
export const Credit = Choice.of(
  credits,
  "Which turns of a rollout earned its outcome: `outcome` gives all the same; docs/reference/methods.md has the formulas of all"
)
export type Credit = typeof Credit.Type

/** The rule of a config. */
export const named = ({ name: called }: Credit): Rule => credits.find(({ name }) => name === called) ?? outcome

type Rule = Method.Rule<ReadonlyArray<Episode>, ReadonlyArray<ReadonlyArray<number>>>

/** The number of the turn of each token: turns are the runs of action tokens of a mask. Observations belong to the turn before. */
export const turnOfTokens = (mask: ReadonlyArray<0 | 1>): ReadonlyArray<number> => {
  let turn = -1
  return mask.map((isAction, index) => {
    if (isAction === 1 && mask[index - 1] !== 1) turn++
    return Math.max(0, turn)
  })
}

/** Advantages of turns as advantages of tokens; observations get 0. */
export const toTokens = (mask: ReadonlyArray<0 | 1>, ofTurns: ReadonlyArray<number>): ReadonlyArray<number> => {
  const turns = turnOfTokens(mask)
  return mask.map((isAction, index) => (isAction === 1 ? (ofTurns[turns[index] ?? 0] ?? 0) : 0))
}
