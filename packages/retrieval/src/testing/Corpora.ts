/** Corpora and queries for properties of a search. */
import type { Question } from "@inspo/domain"
import { Schema } from "effect"

/** Words that meet the rules of tokenizing, quoting and full-text syntax. */
const Word = Schema.Literals([
  "ostrel",
  "Bay",
  "bay's",
  "É",
  "e\u0301",
  "İzmir",
  "ΑΣ",
  "誰ですか",
  "हिन्दी",
  "1862",
  "in",
  '"',
  '""',
  "AND",
  "NEAR(",
  "title:",
  "*",
  "\\",
  "\0",
  "\ud800",
  "🜁",
  "\u2028"
])
const Text = Schema.Array(Word)

/** The words of titles and texts, at least one passage. */
export const Texts = Schema.Array(Schema.Tuple([Text, Text])).check(Schema.isMinLength(1))

/** The words of queries. */
export const Queries = Schema.Array(Text)

/** The passages of {@link Texts}, with ids from `p0` on. */
export const toPassages = (texts: typeof Texts.Type): ReadonlyArray<Question.Passage> =>
  texts.map(([title, text], index) => ({ id: `p${index}`, title: title.join(" "), text: text.join(" ") }))

/** The texts of {@link Queries}. */
export const toQueries = (queries: typeof Queries.Type): ReadonlyArray<string> =>
  queries.map((words) => words.join(" "))
