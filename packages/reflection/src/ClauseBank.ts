import { Context, Schema } from "effect"

/** The behaviours a clause can push the policy towards or away from. */
export const Behaviour = Schema.Literals(["search", "one-entity-per-search", "state-evidence", "bare-answer"])
export type Behaviour = typeof Behaviour.Type

/**
 * One piece of advice an instruction can contain, with its wordings. `direction` is 1 when it asks for the behaviour, -1
 * when it asks for the opposite and 0 when it concerns none.
 */
export const Clause = Schema.Struct({
  id: Schema.NonEmptyString,
  behaviour: Schema.NullOr(Behaviour),
  direction: Schema.Literals([1, 0, -1]),
  texts: Schema.NonEmptyArray(Schema.NonEmptyString)
})
export interface Clause extends Schema.Schema.Type<typeof Clause> {}

/** Clauses whose advice can be distinguished in an instruction: no id twice, and no wording within another. */
export const Clauses = Schema.Array(Clause).check(
  Schema.isMinLength(1),
  Schema.makeFilter((bank) => {
    const id = bank.find((clause, index) => bank.findIndex((other) => other.id === clause.id) < index)?.id
    if (id !== undefined) return `clauses with ids of their own, but ${JSON.stringify(id)} is there twice`
    return nested(bank.flatMap((clause) => clause.texts))
  })
)

/** Sentences of which none is within another, for a bank whose clauses have one wording each and concern no behaviour. */
export const Sentences = Schema.Array(Schema.NonEmptyString).check(Schema.isMinLength(1), Schema.makeFilter(nested))

/** The bank of {@link Sentences}: rewards alone distinguish its clauses. */
export const ofSentences = (sentences: ReadonlyArray<string>): ReadonlyArray<Clause> =>
  sentences.map((text) => ({ id: text, behaviour: null, direction: 0, texts: [text] }))

/** What is wrong with wordings of which one is within another. */
function nested(texts: ReadonlyArray<string>): string | undefined {
  const text = texts.find((one, index) => texts.some((other, place) => place !== index && other.includes(one)))
  return text === undefined ? undefined : `wordings of which none is within another, as ${JSON.stringify(text)} is`
}

/** What the offline proposers write: half is useful for multi-hop questions, half neutral or harmful. Only rewards distinguish them. */
export const clauses: ReadonlyArray<Clause> = [
  {
    id: "search-first",
    behaviour: "search",
    direction: 1,
    texts: ["Always search before you answer.", "Never answer from memory.", "Look up every fact with a search."]
  },
  {
    id: "one-entity",
    behaviour: "one-entity-per-search",
    direction: 1,
    texts: [
      "Search for one entity at a time.",
      "Break the question into single hops.",
      "Follow the chain from name to name."
    ]
  },
  {
    id: "state-evidence",
    behaviour: "state-evidence",
    direction: 1,
    texts: [
      "After every search, state the fact you found.",
      "Think about each result and say what it shows.",
      "Quote the evidence before you go on."
    ]
  },
  {
    id: "bare-answer",
    behaviour: "bare-answer",
    direction: 1,
    texts: [
      "Answer with the name only.",
      "Write nothing but the name in the answer.",
      "Keep the answer short and bare."
    ]
  },
  {
    id: "from-memory",
    behaviour: "search",
    direction: -1,
    texts: ["Answer at once from memory.", "Do not waste time on a search."]
  },
  {
    id: "whole-question",
    behaviour: "one-entity-per-search",
    direction: -1,
    texts: ["Search for the whole question at once.", "Use the full question as your query."]
  },
  {
    id: "no-thinking",
    behaviour: "state-evidence",
    direction: -1,
    texts: ["Do not think aloud.", "Move on without comment."]
  },
  {
    id: "full-sentence",
    behaviour: "bare-answer",
    direction: -1,
    texts: ["Answer in a full sentence.", "Explain yourself in the answer."]
  },
  { id: "polite", behaviour: null, direction: 0, texts: ["Be polite and helpful."] },
  { id: "breath", behaviour: null, direction: 0, texts: ["Take a deep breath."] },
  { id: "expert", behaviour: null, direction: 0, texts: ["You are an expert."] },
  { id: "confident", behaviour: null, direction: 0, texts: ["Be creative and confident."] }
]

/** The clauses that the offline proposers write with: these, unless others are provided. */
export const Bank = Context.Reference<ReadonlyArray<Clause>>("@inspo/reflection/ClauseBank/Bank", {
  defaultValue: () => clauses
})

/** The instruction every embedded run starts from: the protocol, and no advice on how to use it. */
export const seedInstruction =
  "Answer the question. Put a query between <search> and </search> to look things up. Put the final answer between <answer> and </answer>."

/** The clauses whose text, in any wording, is in an instruction, in bank order. */
export const clausesIn = (instruction: string, bank: ReadonlyArray<Clause> = clauses): ReadonlyArray<Clause> =>
  bank.filter((clause) => clause.texts.some((text) => instruction.includes(text)))
