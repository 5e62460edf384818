import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertToldInOneParagraph, endAll, inspo, testTimeout } from "./Inspo.ts"

let cwd = ""
const questions = Array.from({ length: 40 }, (_, i) => ({
  id: `q${i}`,
  question: `who is number ${i}?`,
  golden_answers: [`${i}`],
  data_source: i % 2 === 0 ? "nq" : "hotpotqa",
  metadata: { hops: 1 + (i % 2), split: "test" }
}))

const run = async (...args: ReadonlyArray<string>) => {
  const finished = await inspo(["data", ...args], { cwd })
  assert.strictEqual(finished.code, 0, finished.stderr)
  return finished.stdout
}

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-data-"))
  await writeFile(join(cwd, "q.jsonl"), questions.map((row) => `${JSON.stringify(row)}\n`).join(""))
  const bad = '{"question":"q?","golden_answers":["a"]}\n{"id":2}\n{"question":"\xe9"}\n{"id"\n'
  await writeFile(join(cwd, "bad.jsonl"), bad, "latin1")
})

afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

describe("inspo data", { timeout: testTimeout, tags: "runs" }, () => {
  it("converts there and back, shows what a file holds, and splits it", async () => {
    await run("convert", "q.jsonl", "q.parquet")
    await run("convert", "q.parquet", "again.jsonl")
    const told = JSON.parse(await run("inspect", "q.parquet", "--json"))
    assert.deepStrictEqual(told.sources, { nq: { test: 20 }, hotpotqa: { test: 20 } })
    assert.include(told.columns, "reward_model")

    const parted = JSON.parse(await run("split", "again.jsonl", "--out", "parts", "--seed", "3", "--json"))
    assert.deepStrictEqual(
      parted.parts.map((part: { readonly questions: number }) => part.questions),
      [32, 4, 4]
    )
    const lines = await Promise.all(
      ["train", "validation", "test"].map((part) => readFile(join(cwd, `parts/${part}.jsonl`), "utf8"))
    )
    const ids = lines.flatMap((text) =>
      text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line).id)
    )
    assert.sameMembers(
      ids,
      questions.map(({ id }) => id)
    )
  })

  it("writes the cases that traces hold, with what is left out, and a search keeps their sessions apart", async () => {
    const call = (id: string, input: unknown, output: string | null) =>
      `${JSON.stringify({ id, traceId: `t${id}`, type: "GENERATION", sessionId: `s${Number(id) % 20}@a.b`, input, output })}\n`
    const calls = questions.map(({ id, question }, index) => call(`${index}`, `${question} ${id}@example.org`, "A"))
    await writeFile(join(cwd, "observations.jsonl"), [...calls, call("40", "unanswered", null)].join(""))
    const written = await run("cases", "observations.jsonl", "--out", "cases.jsonl", "--redact", "[a-z0-9]+@[a-z.]+")
    for (const part of [
      "40 cases of 20 sessions in cases.jsonl, 40 of them redacted",
      "left out: 1 call; neither they"
    ])
      assert.include(written, part)
    const text = await readFile(join(cwd, "cases.jsonl"), "utf8")
    assert.include(text, '{"input":"who is number 0? █","output":"A","session":"session 1"}')
    assert.notInclude(text, "@")

    await writeFile(join(cwd, "prompt.txt"), "Answer.")
    const search = ["evolve", "prompt.txt", "cases.jsonl", "--expected", "output", "--score", "exact", "--model"]
    const plan = await inspo([...search, "http://127.0.0.1:9/v1#m", "--calls", "100", "--plan", "--json"], { cwd })
    assert.strictEqual(plan.code, 0, plan.stderr)
    assert.strictEqual(JSON.parse(plan.stdout).cases.test, 16)

    const again = await inspo(["data", "cases", "observations.jsonl", "--out", "cases.jsonl"], { cwd })
    assertToldInOneParagraph(again, 2, "cases.jsonl exists")
    for (const [args, expected] of [
      [["bad.jsonl"], "bad.jsonl:3: byte 14 (0xE9)"],
      [["q.jsonl"], "q.jsonl:1 is neither"],
      [
        ["observations.jsonl", "--at-least", "correct=1"],
        '--at-least names the score "correct"; the export has no scores'
      ],
      [["observations.jsonl", "--at-least", "correct"], "--at-least is correct; expected NAME=NUMBER"],
      [["observations.jsonl", "--redact", "("], "--redact"]
    ] as const)
      assertToldInOneParagraph(await inspo(["data", "cases", ...args, "--out", "other.jsonl"], { cwd }), 2, expected)
  })

  it("shows every row that cannot be read before it fails", async () => {
    const finished = await inspo(["data", "inspect", "bad.jsonl"], { cwd })
    assertToldInOneParagraph(finished, 2, "3 of 4 rows of bad.jsonl cannot be read; the first is bad.jsonl:2")
    for (const part of ["1 question in bad.jsonl", "bad.jsonl:2:", "bad.jsonl:3: byte 14 (0xE9)", "bad.jsonl:4:"])
      assert.include(finished.stdout, part)
  })

  it("shows a fault of many rows once, with how many and where", async () => {
    await writeFile(join(cwd, "same.jsonl"), '{"question":"q?"}\n'.repeat(60))
    const finished = await inspo(["data", "inspect", "same.jsonl"], { cwd })
    assert.strictEqual(finished.code, 2)
    assert.strictEqual(finished.stdout.split("golden_answers").length, 2, finished.stdout)
    assert.include(finished.stdout.replaceAll(/\s+/gu, " "), "and 59 more: line 2, 3, 4, 5, 6, …")
    await rm(join(cwd, "same.jsonl"))
  })

  it.each([
    ["a file that is there", ["split", "q.jsonl", "--out", "there"], 2, "--force"],
    ["a place that cannot be", ["convert", "q.jsonl", "/proc/inspo/q.jsonl"], 2, "/proc/inspo"],
    ["a malformed line", ["convert", "bad.jsonl", "bad2.parquet"], 2, "bad.jsonl:2"]
  ] as const)("refuses %s in one paragraph, and leaves nothing behind", async (_, args, code, part) => {
    if (args.some((arg) => arg === "there")) await run("split", "q.jsonl", "--out", "there")
    const before = (await readdir(cwd, { recursive: true })).toSorted()
    const finished = await inspo(["data", ...args], { cwd })
    assertToldInOneParagraph(finished, code, part)
    assert.deepStrictEqual((await readdir(cwd, { recursive: true })).toSorted(), before)
  })
})
