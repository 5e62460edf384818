import { sumAll } from "effect/Number"
import type { SearchR1 } from "@inspo/datasets"
import { ExactMatch } from "@inspo/reward"
import { quantileSorted } from "simple-statistics"

/** What a question file holds. Lengths are in words. */
export interface Inspection {
  readonly questions: number
  readonly columns: ReadonlyArray<string>
  readonly sources: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly lengths: { readonly question: Lengths; readonly answer: Lengths }
  readonly examples: ReadonlyArray<Pick<SearchR1.FileQuestion, "id" | "question" | "goldenAnswers">>
  /** What is unusual, with how many questions it concerns. */
  readonly problems: ReadonlyArray<{ readonly problem: string; readonly questions: number }>
}

export interface Lengths {
  readonly shortest: number
  readonly median: number
  readonly longest: number
}

/** The part of questions whose rows name none. */
const noPart = "unnamed"

export const inspection = (
  columns: ReadonlyArray<string>,
  questions: ReadonlyArray<SearchR1.FileQuestion>
): Inspection => {
  const texts = Map.groupBy(questions, ({ question }) => question.trim())
  const repeated = [...texts.values()].filter(({ length }) => length > 1)
  const across = repeated.filter((equal) => new Set(equal.map(({ split }) => split)).size > 1)
  const problems = [
    { problem: "the same text as an earlier question", questions: sumAll(repeated.map(({ length }) => length - 1)) },
    { problem: "the same text in more than one part", questions: sumAll(across.map(({ length }) => length)) },
    {
      problem: "no golden answer that a response could match: nothing but articles and punctuation",
      questions: questions.filter(({ goldenAnswers }) =>
        goldenAnswers.every((text) => ExactMatch.normalizeAnswer(text) === "")
      ).length
    }
  ]
  return {
    questions: questions.length,
    columns,
    sources: Object.fromEntries(
      [...Map.groupBy(questions, ({ dataSource }) => dataSource)].map(([source, members]) => [
        source,
        Object.fromEntries(
          [...Map.groupBy(members, ({ split }) => split ?? noPart)].map(([part, { length }]) => [part, length])
        )
      ])
    ),
    lengths: {
      question: lengths(questions.map(({ question }) => question)),
      answer: lengths(questions.flatMap(({ goldenAnswers }) => goldenAnswers))
    },
    examples: questions.slice(0, 3).map(({ goldenAnswers, id, question }) => ({ id, question, goldenAnswers })),
    problems: problems.filter((found) => found.questions > 0)
  }
}

const lengths = (texts: ReadonlyArray<string>): Lengths => {
  const sorted = texts.map((text) => text.split(/\s+/u).filter((word) => word !== "").length).sort((a, b) => a - b)
  const [shortest] = sorted
  return shortest === undefined
    ? { shortest: 0, median: 0, longest: 0 }
    : { shortest, median: quantileSorted(sorted, 0.5), longest: sorted.at(-1) ?? shortest }
}
