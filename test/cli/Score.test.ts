import { existsSync } from "node:fs"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertToldInOneParagraph, endAll, inspo, testTimeout } from "./Inspo.ts"

let cwd = ""

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-score-"))
})

afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

const prompt =
  "<|im_start|>user\nAnswer between <answer> and </answer>, as in <answer> Rome </answer>.<|im_end|>\n<|im_start|>assistant\n"
const rows = [
  { id: "p", prediction: "the Ostrel Bay!", golden_answers: ["Ostrel Bay"] },
  { id: 2, solution_str: `${prompt}<answer> Ulva</answer>`, ground_truth: { target: ["Ulva"] } },
  { id: 3, solution_str: `${prompt}I do not know.`, ground_truth: "Rome" }
]
const write = (name: string, lines: ReadonlyArray<string>) => writeFile(join(cwd, name), lines.join("\n"))

describe("inspo data score", { timeout: testTimeout }, () => {
  it("writes one line {id, score, extracted} per row, whatever the scope", async () => {
    await write(
      "rows.jsonl",
      rows.map((row) => JSON.stringify(row))
    )
    const own = await inspo(["data", "score", "rows.jsonl"], { cwd })
    assert.strictEqual(own.code, 0, own.stderr)
    assert.strictEqual(
      own.stdout,
      '{"id":"p","score":1,"extracted":"the Ostrel Bay!"}\n' +
        '{"id":2,"score":1,"extracted":"Ulva"}\n{"id":3,"score":0,"extracted":null}\n'
    )
    assert.strictEqual(own.stderr, "3 rows, mean em 66.7 %\n")
    const reference = await inspo(["data", "score", "rows.jsonl", "--scope", "searchr1"], { cwd })
    assert.match(reference.stdout, /\{"id":3,"score":1,"extracted":"Rome"\}\n$/u)
  })

  it.each([
    ["a malformed row", ["data", "score", "bad.jsonl"], "bad.jsonl:3: prediction is 3; expected string."],
    [
      "a prediction without a form",
      ["data", "score", "rows.jsonl", "--reward", "em-format"],
      "rows.jsonl:1: reward em-format"
    ],
    [
      "scores that add up to more than 1",
      ["data", "score", "rows.jsonl", "--structure-score", "1.5"],
      "--structure-score is 1.5"
    ]
  ])("tells %s in one paragraph, with exit code 2", async (_, args, part) => {
    await write(
      "rows.jsonl",
      rows.map((row) => JSON.stringify(row))
    )
    await write("bad.jsonl", [JSON.stringify(rows[0]), "", '{"id":1,"prediction":3,"golden_answers":[]}'])
    const finished = await inspo([...args], { cwd })
    assertToldInOneParagraph(finished, 2, part)
  })
})

// Cases computed with the reference implementation; they are kept beside the repository, not in it.
const golden = fileURLToPath(new URL("../../../shared/golden/em.jsonl", import.meta.url))

const Case = Schema.Struct({
  id: Schema.Int,
  expected_em: Schema.optionalKey(Schema.Finite),
  expected_score_em: Schema.optionalKey(Schema.Finite),
  expected_subem: Schema.optionalKey(Schema.Finite),
  expected_score_subem: Schema.optionalKey(Schema.Finite),
  prediction: Schema.optionalKey(Schema.String),
  expected_extract_solution: Schema.optionalKey(Schema.NullOr(Schema.String))
})
const decodeCase = Schema.decodeUnknownSync(Schema.fromJsonString(Case))

describe.skipIf(!existsSync(golden))(
  `inspo data score ${golden} (skipped where the file is absent)`,
  { timeout: testTimeout },
  () => {
    it.each(["em", "subem"])("gives what the reference gives for every case: %s", async (reward) => {
      const cases = (await readFile(golden, "utf8"))
        .trim()
        .split("\n")
        .map((line) => decodeCase(line))
      const { code, stdout } = await inspo(["data", "score", golden, "--reward", reward, "--scope", "searchr1"], {
        cwd
      })
      assert.strictEqual(code, 0)
      const expected = cases.map((one) => {
        const score =
          reward === "em"
            ? (one.expected_em ?? one.expected_score_em)
            : (one.expected_subem ?? one.expected_score_subem)
        return { id: one.id, score, extracted: one.prediction ?? one.expected_extract_solution }
      })
      const rows = stdout.trimEnd().split("\n")
      assert.deepStrictEqual(
        rows.map((row) => JSON.parse(row)),
        expected
      )
    })
  }
)
