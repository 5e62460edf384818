/** Training texts about an instruction, for a policy that is to act without it. */

/** A question about one clause, and the answer, which is the clause or a part of it. */
export interface ClauseText {
  readonly clause: string
  readonly question: string
  readonly answer: string
}

/**
 * CAP-CPT's texts for the clauses of an instruction, by rules in the place of a language model: of each clause a statement, and a
 * question by its kind, which is conditional, behavioural or factual. Every clause is covered. None is invented: an answer consists
 * of words of its clause, in their order. Clauses that `known` has too are left out.
 */
export const of = (instruction: string, known = ""): ReadonlyArray<ClauseText> => {
  const shared = new Set(clausesOf(known))
  const clauses = clausesOf(instruction).filter((clause) => !shared.has(clause))
  return clauses.flatMap((clause, index) => [
    { clause, question: `Say rule ${index + 1} of ${clauses.length} that you follow.`, answer: clause },
    { clause, ...asked(clause) }
  ])
}

/** The clauses of an instruction: its sentences and lines. */
export const clausesOf = (instruction: string): ReadonlyArray<string> => [
  ...new Set(
    instruction
      .split(/\n+|(?<=[.!?])\s+/u)
      .map((clause) => clause.trim())
      .filter((clause) => /\p{L}/u.test(clause))
  )
]

const asked = (clause: string): Pick<ClauseText, "answer" | "question"> => {
  const [, condition, consequence] =
    /^((?:if|when|whenever|unless|before|after|once)\b[^,]*),\s*(.+)$/isu.exec(clause) ?? []
  if (condition !== undefined && consequence !== undefined)
    return {
      question: `What do you do ${condition.charAt(0).toLowerCase()}${condition.slice(1)}?`,
      answer: consequence
    }
  return {
    question: /\b(?:is|are|was|were|has|have)\b/iu.test(clause) ? "What do you know of your task?" : "How do you work?",
    answer: clause
  }
}
