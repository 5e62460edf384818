import { Schema } from "effect"

/** Identifies one question of a data set. */
export const QuestionId = Schema.NonEmptyString.pipe(Schema.brand("QuestionId"))
export type QuestionId = typeof QuestionId.Type

/**
 * A question with every answer that counts as right.
 *
 * `dataSource` names the set (or the stratum of a generated one) it comes from; `hops` is the number of facts that
 * have to be chained and `supportIds` the passages that hold them, where the data set knows.
 */
export const Question = Schema.Struct({
  id: QuestionId,
  question: Schema.NonEmptyString,
  goldenAnswers: Schema.NonEmptyArray(Schema.String),
  dataSource: Schema.NonEmptyString,
  hops: Schema.optionalKey(Schema.Int),
  supportIds: Schema.optionalKey(Schema.Array(Schema.String))
})
export interface Question extends Schema.Schema.Type<typeof Question> {}

/** A passage of the corpus that a search can return; `text` excludes the title. */
export const Passage = Schema.Struct({
  id: Schema.NonEmptyString,
  title: Schema.String,
  text: Schema.String
})
export interface Passage extends Schema.Schema.Type<typeof Passage> {}
