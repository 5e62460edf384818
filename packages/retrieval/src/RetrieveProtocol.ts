import { createHash } from "node:crypto"
import { Question } from "@inspo/domain"
import { Schema } from "effect"
import type { ScoredPassage } from "./Search.ts"

/** The `/retrieve` protocol of Search-R1's and verl's retrievers: all queries in one POST, a list of documents for each. */
export const path = "/retrieve"

/** A `topk` of null, 0 or none means the server's default. Clients should ask for scores: some servers fail without. */
export const Request = Schema.Struct({
  queries: Schema.Array(Schema.String),
  topk: Schema.optionalKey(Schema.NullOr(Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)))),
  return_scores: Schema.optionalKey(Schema.NullOr(Schema.Boolean))
})
export interface Request extends Schema.Schema.Type<typeof Request> {}

const Identity = Schema.optionalKey(Schema.NullOr(Schema.Union([Schema.String, Schema.Finite])))

/** A row of the corpus, `{id, contents}`, or what search engines' wrappers give: `{contents}` or `{title, text}`. */
export const Document = Schema.Union([
  Schema.Struct({ id: Identity, contents: Schema.String }),
  Schema.Struct({ id: Identity, title: Schema.String, text: Schema.String })
])
export type Document = typeof Document.Type

const Scored = Schema.Struct({ document: Document, score: Schema.optionalKey(Schema.NullOr(Schema.Finite)) })

/** Documents with or, when the server was asked for none, without scores. */
export const Response = Schema.Struct({ result: Schema.Array(Schema.Array(Schema.Union([Scored, Document]))) })
export interface Response extends Schema.Schema.Type<typeof Response> {}

/**
 * The passages of one list, best first, at most `topK`. Documents without an id get one from their contents; where a
 * score is missing, minus the place in the list takes its place.
 */
export const passages = (list: Response["result"][number], topK: number): ReadonlyArray<ScoredPassage> => {
  const found = list.slice(0, topK).map((item) => ("document" in item ? item : { document: item, score: null }))
  const scored = found.every(({ score }) => typeof score === "number")
  return found.map(({ document, score }, place) => ({
    passage: passageOf(document),
    score: scored && typeof score === "number" ? score : 0 - place
  }))
}

/** The document of a passage, complete enough for every client: row of the corpus, title and text. */
export const documentOf = (passage: Question.Passage) => ({ ...passage, contents: Question.contentsOf(passage) })

const passageOf = (document: Document): Question.Passage => {
  const contents = "contents" in document ? document.contents : Question.contentsOf({ ...document, id: "" })
  return Question.passageFromContents(`${document.id ?? ""}` || idOf(contents), contents)
}

const idOf = (contents: string): string => createHash("sha256").update(contents).digest("hex").slice(0, 16)
