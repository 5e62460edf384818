import { Schema } from "effect"

/** Identifies one question of a data set. */
export const QuestionId = Schema.NonEmptyString.pipe(Schema.brand("QuestionId"))
export type QuestionId = typeof QuestionId.Type

/** An earlier message of the conversation in which a question is asked. */
export const Message = Schema.Struct({ role: Schema.Literals(["user", "assistant"]), content: Schema.NonEmptyString })
export interface Message extends Schema.Schema.Type<typeof Message> {}

/**
 * A question with every answer that counts as right. `conversation` holds the messages before it, if it is asked within a
 * conversation.
 *
 * `dataSource` names the set (or the stratum of a generated one) it comes from; `hops` is the number of facts that
 * have to be chained and `supportIds` the passages that contain them, if the data set has them.
 */
export const Question = Schema.Struct({
  id: QuestionId,
  question: Schema.NonEmptyString,
  goldenAnswers: Schema.NonEmptyArray(Schema.String),
  dataSource: Schema.NonEmptyString,
  conversation: Schema.optionalKey(Schema.NonEmptyArray(Message)),
  hops: Schema.optionalKey(Schema.Int),
  supportIds: Schema.optionalKey(Schema.Array(Schema.String))
})
export interface Question extends Schema.Schema.Type<typeof Question> {}

/** The conversation of a question as one text, each message with its role; a question alone as it is. */
export const conversationText = ({
  conversation = [],
  question
}: {
  readonly conversation?: ReadonlyArray<Message>
  readonly question: string
}): string =>
  conversation.length === 0
    ? question
    : [...conversation, { role: "user", content: question }]
        .map(({ content, role }) => `${role}: ${content}`)
        .join("\n")

/**
 * A passage of the corpus that a search can return; `text` excludes the title. `contents` is both in the format of a
 * Search-R1 corpus row, the quoted title on the first line, if the retriever returns it.
 */
export const Passage = Schema.Struct({
  id: Schema.NonEmptyString,
  title: Schema.String,
  text: Schema.String,
  contents: Schema.optionalKey(Schema.String)
})
export interface Passage extends Schema.Schema.Type<typeof Passage> {}

/**
 * A passage from the `contents` of a Search-R1 corpus row: the first line is the title, with or without double quotes
 * around it (quotes within a quoted title are doubled), the rest is the text. It keeps `contents` where
 * {@link contentsOf} would give others.
 */
export const passageFromContents = (id: string, contents: string): Passage => {
  const end = contents.indexOf("\n")
  const heading = end < 0 ? contents : contents.slice(0, end)
  const title = /^"(?:[^"]|"")*"$/u.test(heading) ? heading.slice(1, -1).replaceAll('""', '"') : heading
  const passage = { id, title, text: end < 0 ? "" : contents.slice(end + 1) }
  return contentsOf(passage) === contents ? passage : { ...passage, contents }
}

/** A passage in the format of a Search-R1 corpus row; line breaks in a title become spaces. */
export const contentsOf = ({ contents, text, title }: Passage): string =>
  contents ?? `"${title.replaceAll(/\s*\n\s*/gu, " ").replaceAll('"', '""')}"\n${text}`
