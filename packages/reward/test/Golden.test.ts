import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { assert, describe, it } from "@effect/vitest"
import { AnswerExtraction, ExactMatch } from "@inspo/reward"
import { Schema } from "effect"

// Cases computed with the reference implementation; they are kept beside the repository, not in it.
const file = fileURLToPath(new URL("../../../../shared/golden/em.jsonl", import.meta.url))

const ExactMatchRow = Schema.Struct({
  kind: Schema.Literal("em"),
  id: Schema.Int,
  prediction: Schema.String,
  golden_answers: Schema.Union([Schema.String, Schema.Array(Schema.String)]),
  expected_em: Schema.Literals([0, 1]),
  expected_subem: Schema.Literals([0, 1]),
  normalized_prediction: Schema.String,
  normalized_golden: Schema.Array(Schema.String)
})
const SolutionRow = Schema.Struct({
  kind: Schema.Literal("solution"),
  id: Schema.Int,
  response_only: Schema.String,
  verl_port_response_only: Schema.Struct({ extract: Schema.NullOr(Schema.String) })
})
const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Union([ExactMatchRow, SolutionRow])))

describe.skipIf(!existsSync(file))(`golden cases of ${file} (skipped where the file is absent)`, () => {
  const rows = existsSync(file)
    ? readFileSync(file, "utf8")
        .trim()
        .split("\n")
        .map((line) => decode(line))
    : []

  it("normalises and matches as the reference does", () => {
    for (const row of rows) {
      if (row.kind !== "em") continue
      const golds = typeof row.golden_answers === "string" ? [row.golden_answers] : row.golden_answers
      const at = `row ${row.id}`
      assert.strictEqual(ExactMatch.normalizeAnswer(row.prediction), row.normalized_prediction, at)
      assert.deepStrictEqual(golds.map(ExactMatch.normalizeAnswer), [...row.normalized_golden], at)
      assert.strictEqual(ExactMatch.exactMatch(row.prediction, golds), row.expected_em, at)
      assert.strictEqual(ExactMatch.substringExactMatch(row.prediction, golds), row.expected_subem, at)
    }
  })

  it("extracts the answer of a response as the reference does", () => {
    for (const row of rows) {
      if (row.kind !== "solution") continue
      const expected = row.verl_port_response_only.extract
      assert.strictEqual(AnswerExtraction.extractAnswer(row.response_only), expected, `row ${row.id}`)
    }
  })
})
