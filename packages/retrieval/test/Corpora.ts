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

export const Texts = Schema.Array(Schema.Tuple([Text, Text])).check(Schema.isMinLength(1))
export const Queries = Schema.Array(Text)

export const toPassages = (texts: typeof Texts.Type) =>
  texts.map(([title, text], index) => ({ id: `p${index}`, title: title.join(" "), text: text.join(" ") }))

export const toQueries = (queries: typeof Queries.Type) => queries.map((words) => words.join(" "))
