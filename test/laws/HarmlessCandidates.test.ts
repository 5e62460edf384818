import { existsSync } from "node:fs"
import { fileURLToPath } from "node:url"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { SearchR1, WorldQuestion } from "@inspo/datasets"
import type { Question } from "@inspo/domain"
import { CandidateLint, ClauseBank } from "@inspo/reflection"
import { Array as Arr, Effect } from "effect"

const samples = fileURLToPath(new URL("../../../shared/data/", import.meta.url))

const seed = ClauseBank.seedInstruction

/** What language models write into such instructions. */
const advice = [
  "Think step by step and search for one fact at a time.",
  "If the first search brings nothing useful, rephrase the query with other words and try again, at most 3 times.",
  "Read every passage carefully, quote the words that matter, and compare dates, places and names before you answer.",
  "For yes-or-no questions answer with yes or no only.",
  "When two people or films are compared, look up the year of both, then say which came first.",
  "Keep queries short: two to five words, such as a name and the relation you look for.",
  "Do not guess. If the evidence is missing, search again with the full name of the person, city, country or company.",
  "The final answer is a short phrase, without explanation; numbers are written in digits.",
  "Break multi-hop questions into smaller ones: find the bridge entity, verify it, then use it in the next query.",
  "Be concise. A good answer has fewer than 10 words.",
  "Check that the answer has the right type: a person for who, a place for where, a date for when, a number for how many.",
  "Decide first what kind of answer is asked for: a man or woman, a team, a song, a book, an album, a river or a state.",
  "Never answer from memory, even if the question seems easy; use at least 2 searches for questions with two parts.",
  "Reason in one or two sentences after every search: what is known now, and what is still missing?",
  "The American spelling of names is preferred, but do not change names found in a document.",
  "Query the director of the film first, then the country he was born in."
]

const candidates = [...ClauseBank.clauses.flatMap(({ texts }) => texts), ...advice].map((text) => ({
  text: `${seed} ${text}`,
  rationale: ""
}))

/** The share of candidates that are refused when these questions were failed eight at a time. */
const refused = (questions: ReadonlyArray<Question.Question>) => {
  const rounds = Arr.chunksOf(questions, 8).map(
    (failed) =>
      CandidateLint.lint(candidates, { seed, known: [], goldenAnswers: failed.flatMap((one) => one.goldenAnswers) })
        .rejected.length
  )
  return rounds.reduce((sum, count) => sum + count, 0) / (rounds.length * candidates.length)
}

describe("harmless candidates", () => {
  it.effect("are not refused for answers of generated worlds", () =>
    Effect.gen(function* () {
      const counts = { train: 200, validation: 0, test: 0 }
      for (const seed of [1, 2, 3]) {
        const { questions } = yield* WorldQuestion.generate({ seed, counts })
        assert.strictEqual(refused(questions.train), 0)
      }
    })
  )

  it.effect.skipIf(!existsSync(samples))(
    `are refused once in a hundred times at most for answers of real questions (skipped where ${samples} is absent)`,
    () =>
      Effect.gen(function* () {
        const sets = yield* Effect.forEach(["hotpotqa", "musique", "bamboogle"], (name) =>
          SearchR1.readQuestions(`${samples}${name}.jsonl`)
        )
        const share = refused(sets.flat())
        assert.isAtMost(share, 0.01, `${100 * share} %`)
      }).pipe(Effect.provide(NodeServices.layer))
  )
})
