import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import {
  ScoredEpisode,
  defaultOptions,
  ExactMatch,
  ResponseFormat,
  type RewardOptions,
  Rewards,
  SearchR1
} from "@inspo/reward"
import { Effect, Schema } from "effect"

// Cases computed with the reference implementation; they are kept beside the repository, not in it.
const file = fileURLToPath(new URL("../../../../shared/golden/em.jsonl", import.meta.url))

const Answers = Schema.Union([Schema.String, Schema.Array(Schema.String)])
const ExactMatchRow = Schema.Struct({
  kind: Schema.Literal("em"),
  id: Schema.Int,
  prediction: Schema.String,
  golden_answers: Answers,
  expected_em: Schema.Literals([0, 1]),
  expected_subem: Schema.Literals([0, 1]),
  normalized_prediction: Schema.String,
  normalized_golden: Schema.Array(Schema.String)
})
const Extracted = Schema.Struct({ extract: Schema.NullOr(Schema.String), score: Schema.Finite })
const SolutionRow = Schema.Struct({
  kind: Schema.Literal("solution"),
  id: Schema.Int,
  tag: Schema.String,
  solution_str: Schema.String,
  ground_truth: Schema.Struct({ target: Answers }),
  expected_extract_solution: Schema.NullOr(Schema.String),
  expected_score_em: Schema.Finite,
  "expected_score_em_format_score_0.1": Schema.Finite,
  expected_score_subem: Schema.Finite,
  format_variant: Schema.Struct({
    is_valid_sequence: Schema.Tuple([Schema.Boolean, Schema.String]),
    is_retrieval_correct: Schema.Boolean,
    "score_v03_sf0.2_ff0.1_rs0": Schema.Finite,
    "score_sf0.2_ff0.1_rs0.1": Schema.Finite
  }),
  verl_port_full: Extracted,
  response_only: Schema.String,
  verl_port_response_only: Extracted,
  qa_em_response_only: Extracted
})
const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Union([ExactMatchRow, SolutionRow])))

const list = (answers: typeof Answers.Type) => (typeof answers === "string" ? [answers] : answers)

const score = (
  row: typeof SolutionRow.Type,
  solution: string,
  { kind = "em", ...options }: Partial<RewardOptions> & { readonly kind?: keyof typeof Rewards.builtIn }
) => {
  const reward = Rewards.builtIn[kind].make({ ...defaultOptions, ...options })
  return Effect.runSync(
    reward.score(ScoredEpisode.fromSolution({ question: "", goldenAnswers: list(row.ground_truth.target) }, solution))
  )
}

const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []
const rows = lines.map((line) => decode(line))
const answers = rows.filter((row) => row.kind === "em")
const solutions = rows.filter((row) => row.kind === "solution")

describe.skipIf(rows.length === 0)(`golden cases of ${file} (skipped where the file is absent)`, () => {
  it(`are all checked: ${answers.length} answers and ${solutions.length} solutions`, () => {
    assert.strictEqual(answers.length + solutions.length, lines.length)
    assert.isAtLeast(lines.length, 860)
  })

  it("normalise and match as the reference does", () => {
    for (const row of answers) {
      const golds = list(row.golden_answers)
      const at = `row ${row.id}`
      assert.strictEqual(ExactMatch.normalizeAnswer(row.prediction), row.normalized_prediction, at)
      assert.deepStrictEqual(golds.map(ExactMatch.normalizeAnswer), [...row.normalized_golden], at)
      assert.strictEqual(ExactMatch.exactMatch(row.prediction, golds), row.expected_em, at)
      assert.strictEqual(ExactMatch.substringExactMatch(row.prediction, golds), row.expected_subem, at)
    }
  })

  it("score in scope searchr1 as the reference does", () => {
    for (const row of solutions) {
      const { format_variant: format, qa_em_response_only: responseOnly, solution_str: solution } = row
      const golds = list(row.ground_truth.target)
      const at = `row ${row.id}, ${row.tag}`
      const scope = "searchr1"
      const expected = (reward: number) => ({ answer: row.expected_extract_solution, reward })
      assert.deepStrictEqual(score(row, solution, { scope }), expected(row.expected_score_em), at)
      assert.deepStrictEqual(score(row, solution, { scope, kind: "subem" }), expected(row.expected_score_subem), at)
      assert.deepStrictEqual(
        score(row, row.response_only, { scope }),
        { answer: responseOnly.extract, reward: responseOnly.score },
        at
      )
      assert.strictEqual(SearchR1.scoreExactMatch(solution, golds, 0.1), row["expected_score_em_format_score_0.1"], at)
      assert.strictEqual(SearchR1.isValidSequence(solution), format.is_valid_sequence[0], at)
      assert.strictEqual(SearchR1.isRetrievalCorrect(solution, golds), format.is_retrieval_correct, at)
      for (const [retrieval, reward] of [
        [0, format["score_v03_sf0.2_ff0.1_rs0"]],
        [0.1, format["score_sf0.2_ff0.1_rs0.1"]]
      ] as const)
        assert.deepStrictEqual(
          score(row, solution, { scope, kind: "em-format", format: { ...ResponseFormat.defaultScores, retrieval } }),
          expected(reward),
          at
        )
    }
  })

  it("score in scope verl as verl's port does", () => {
    const { score: verl } = Rewards.builtIn.em.make({ ...defaultOptions, scope: "verl" })
    for (const row of solutions) {
      const question = { question: "", goldenAnswers: list(row.ground_truth.target) }
      for (const [response, expected] of [
        [row.solution_str, row.verl_port_full],
        [row.response_only, row.verl_port_response_only]
      ] as const)
        assert.deepStrictEqual(
          Effect.runSync(verl({ question, prompt: "", response, turns: [] })),
          { answer: expected.extract, reward: expected.score },
          row.tag
        )
    }
  })

  it("differ from verl's in scope response only where an observation or an unclosed tag decides", () => {
    const differing = solutions.filter(
      (row) => score(row, row.response_only, {}).answer !== row.verl_port_response_only.extract
    )
    const kinds = new Set(differing.map(({ tag }) => tag.slice(tag.indexOf("/") + 1)))
    assert.deepStrictEqual([...kinds].toSorted(), ["answer_in_info", "nested"])
  })

  it("give a solution the score of its response in scope response", () => {
    for (const row of solutions)
      assert.deepStrictEqual(score(row, row.solution_str, {}), score(row, row.response_only, {}), row.tag)
  })
})
