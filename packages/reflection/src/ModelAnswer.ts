import { Spent } from "@inspo/domain"
import { Schema } from "effect"

/**
 * Why a proposer stopped writing: it was done, it reached the limit of tokens, it or its provider declined, or something
 * else.
 */
export const AnswerEnd = Schema.Literals(["done", "cut", "refused", "other"])
export type AnswerEnd = typeof AnswerEnd.Type

/** What one call to a proposer brought, as JSON can keep it: the text without the thoughts before it, and its cost. */
export const ModelAnswer = Schema.Struct({
  text: Schema.String,
  end: AnswerEnd,
  spent: Spent.Spent
})
export interface ModelAnswer extends Schema.Schema.Type<typeof ModelAnswer> {}
