import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { Report } from "../../apps/cli/src/eval/Report.ts"
import { assertToldInOneParagraph, endAll, inspo } from "./Inspo.ts"
import { writeTinyModel } from "./TinyModel.ts"

let cwd = ""
const decode = Schema.decodeSync(Schema.fromJsonString(Report))

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-eval-"))
  await Effect.runPromise(writeTinyModel(join(cwd, "model")))
})

afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

const small = ["--set", "engine.model=model", "--set", "rollout.maxTurns=1", "--questions", "8", "--resamples", "100"]

describe("inspo eval without a run", { timeout: 120_000, tags: "runs" }, () => {
  it("compares two instructions question by question, the same every time", async () => {
    const args = ["eval", ...small, "--instruction", "Answer.", "--against-instruction", "Search.", "--json"]
    const [once, twice] = [await inspo(args, { cwd }), await inspo(args, { cwd })]
    assert.strictEqual(once.code, 0, once.stderr)
    assert.strictEqual(once.stdout, twice.stdout)
    assert.match(once.stdout, /^[^\n]+\n$/u)
    const report = decode(once.stdout)
    assert.strictEqual(report.n + report.failed, 8)
    assert.strictEqual(report.instruction, "Answer.")
    assert.strictEqual(report.against?.instruction, "Search.")
    assert.strictEqual(report.against?.comparison?.n, 8)
  })

  it("takes questions without passages for an agent that searches nothing, and for no other", async () => {
    const rows = Array.from({ length: 60 }, (_, index) => ({
      id: `q${index}`,
      question: `Who is ${index}?`,
      golden_answers: ["x"]
    }))
    await writeFile(join(cwd, "questions.jsonl"), rows.map((row) => JSON.stringify(row)).join("\n"))
    const args = [
      "eval",
      ...small,
      "--set",
      "data.questions=questions.jsonl",
      "--set",
      "rollout.agent=direct",
      "--json"
    ]
    const alone = await inspo(args, { cwd })
    assert.strictEqual(alone.code, 0, alone.stderr)
    assert.strictEqual(decode(alone.stdout).n, 8)
    const compared = await inspo([...args, "--against-agent", "rag"], { cwd })
    assertToldInOneParagraph(compared, 2, "data.corpus is null; expected a path")
  })

  it("sets parameters of the agent that is named, and compares with another one than that of --set", async () => {
    const args = ["eval", ...small, "--json", "--set"]
    const chunked = await inspo([...args, "rollout.agent.chunks=2", "--agent", "delethink"], { cwd })
    assert.strictEqual(chunked.code, 0, chunked.stderr)
    assert.strictEqual(decode(chunked.stdout).agent, "delethink")
    const compared = await inspo([...args, "rollout.agent=direct", "--against-agent", "rag"], { cwd })
    assert.strictEqual(compared.code, 0, compared.stderr)
    const { against, agent } = decode(compared.stdout)
    assert.deepStrictEqual([agent, against?.agent], ["direct", "rag"])
    const missing = await inspo([...args, "rollout.agent.chunks=2", "--agent", "rag"], { cwd })
    assertToldInOneParagraph(missing, 2, "chunks")
  })

  it.each([
    ["too few resamples", ["--resamples", "3"], 2, "--resamples is 3, expected at least 100"],
    ["a run that is not there", ["--against", "nowhere"], 1, "There is no run in nowhere"]
  ])("tells %s in one paragraph", async (_, args, code, part) => {
    const finished = await inspo(["eval", ...args], { cwd })
    assertToldInOneParagraph(finished, code, part)
  })
})
