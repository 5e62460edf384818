/** Clauses that the shipped model was not pre-trained on. Their words are those of its tokenizer. */
import { ClauseBank } from "@inspo/reflection"

const clause = (
  id: string,
  behaviour: ClauseBank.Behaviour | null,
  direction: ClauseBank.Clause["direction"],
  ...texts: ClauseBank.Clause["texts"]
): ClauseBank.Clause => ({ id, behaviour, direction, texts })

/** The advice of the shipped bank in other words, none of which were in pre-training. */
export const unseen: ReadonlyArray<ClauseBank.Clause> = [
  clause("use-search", "search", 1, "Use search for every question.", "Put each question to a search first."),
  clause(
    "one-name",
    "one-entity-per-search",
    1,
    "Use one name as your query.",
    "Look up one person or town at a time."
  ),
  clause("say-found", "state-evidence", 1, "Say what each search found.", "Write the fact before you go on."),
  clause("name-alone", "bare-answer", 1, "Only the name is the answer.", "Give a single name as the answer."),
  clause("never-search", "search", -1, "Never search.", "Answer before you look things up."),
  clause("question-as-query", "one-entity-per-search", -1, "Search with the question.", "Give the question as it is."),
  clause("say-nothing", "state-evidence", -1, "Say nothing after a search.", "Do not state what you found."),
  clause("say-more", "bare-answer", -1, "Put a sentence into the answer.", "Give more than the name."),
  clause("be-expert", null, 0, "Be an expert."),
  clause("your-time", null, 0, "Take your time."),
  clause("teacher", null, 0, "You are a teacher."),
  clause("person", null, 0, "Think of the person and the town.")
]

const harmful: Readonly<Record<ClauseBank.Behaviour, ReadonlyArray<string>>> = {
  search: [
    "Do not look things up.",
    "Answer before you search.",
    "Write the answer from memory.",
    "A search is a waste of time."
  ],
  "one-entity-per-search": [
    "Put the whole question into one search.",
    "Search with the question as it is.",
    "Give the full question to the search.",
    "Do not break the question into hops."
  ],
  "state-evidence": [
    "Do not state a fact.",
    "Go on without evidence.",
    "Say nothing after a search.",
    "Never quote what you found."
  ],
  "bare-answer": [
    "Write the answer as a full sentence.",
    "Never answer with a name.",
    "Put a sentence into the answer.",
    "Say in the answer what the evidence shows."
  ]
}

const useless: ReadonlyArray<string> = [
  "You are helpful.",
  "Be an expert.",
  "Be confident.",
  "Take your time.",
  "Be polite in every sentence.",
  "Think of the person and the town.",
  "You are at work.",
  "Take every question as it is.",
  "Be creative with each question.",
  "You are a teacher.",
  "You are the mayor of the town.",
  "A deep breath is helpful.",
  "The river runs through the town.",
  "Be yourself.",
  "It is only a question.",
  "Think in the first person."
]

const behaviours: ReadonlyArray<ClauseBank.Behaviour> = [
  "search",
  "one-entity-per-search",
  "state-evidence",
  "bare-answer"
]

/** The shipped bank with 32 further clauses: of useless and harmful ones there are five times as many, 40 beside 4 useful. */
export const noisy: ReadonlyArray<ClauseBank.Clause> = [
  ...ClauseBank.clauses,
  ...behaviours.flatMap((behaviour) =>
    harmful[behaviour].map((text, index) => clause(`against-${behaviour}-${index + 1}`, behaviour, -1, text))
  ),
  ...useless.map((text, index) => clause(`useless-${index + 1}`, null, 0, text))
]
