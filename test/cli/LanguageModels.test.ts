/** @module-tag deep */
import { createServer, type Server } from "node:http"
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertToldInOneParagraph, endAll, inspo, testTimeout, sets } from "./Inspo.ts"
import { tinyRun, writeTinyModel } from "./TinyModel.ts"

let cwd = ""
let server: Server
const asked: Array<string> = []

const key = "a-key-that-must-not-be-seen"
const candidates = ["one", "two"].map(
  (word, index) =>
    `<ins_${index + 1}>In ${word} word. Put a query between <search> and </search>. Put the answer between <answer> and ` +
    `</answer>.</ins_${index + 1}>`
)

const verdicts =
  "Hardly. <score>0.25</score> <better>first</better> <earliest>-1</earliest> <critical>1</critical> " +
  '<merit weight="2">It is short.</merit>'

/** A language model that calls every answer a quarter right, and has two ideas about every instruction. */
const reply = (prompt: string) =>
  JSON.stringify({
    id: "1",
    object: "chat.completion",
    created: 0,
    model: "scripted",
    choices: [
      {
        index: 0,
        finish_reason: "stop",
        message: {
          role: "assistant",
          content: prompt.includes("ins_")
            ? `It is too long. ${candidates.join(" ")}`
            : `${verdicts} ${/<scores>[^<]*<.scores>/u.exec(prompt)?.[0]}`
        }
      }
    ],
    usage: { prompt_tokens: 70, completion_tokens: 30, total_tokens: 100 }
  })

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-judge-"))
  await Effect.runPromise(writeTinyModel(join(cwd, "model")))
  server = createServer((request, response) => {
    let body = ""
    request.on("data", (chunk: Buffer) => (body += chunk.toString()))
    request.on("end", () => {
      response.setHeader("content-type", "application/json")
      if (request.method === "GET") return response.end('{"data":[{"id":"scripted"},{"id":"judge"}]}')
      asked.push(body)
      return response.end(reply(body))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
})

afterAll(async () => {
  endAll()
  server.close()
  await rm(cwd, { recursive: true, force: true })
})

const url = () => {
  const address = server.address()
  return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}/v1`
}

describe("a proposer", { timeout: testTimeout, tags: "runs" }, () => {
  it("writes the candidates of a run, and its key is nowhere", async () => {
    process.env["INSPO_TEST_KEY"] = key
    asked.length = 0
    const settings = sets(
      `proposer.model=${url()}#scripted`,
      "keys.proposer=INSPO_TEST_KEY",
      "budget.prices=[{ model: scripted, input: 1000, output: 1000 }]"
    )
    const finished = await inspo(["run", "--no-baseline", "--out", "optimized", ...tinyRun, ...settings], { cwd })
    assert.strictEqual(finished.code, 0, finished.stderr)
    assert.isNotEmpty(asked)
    const directory = join(cwd, "optimized")
    assert.include(await readFile(join(directory, "candidates.json"), "utf8"), "In one word.")
    const shown = await inspo(["show", "optimized"], { cwd })
    assert.strictEqual(shown.code, 0, shown.stderr)
    for (const output of [finished.stdout, finished.stderr, shown.stdout]) assert.notInclude(output, key)
    for (const file of await readdir(directory, { recursive: true, withFileTypes: true }))
      if (file.isFile())
        assert.isFalse((await readFile(join(file.parentPath, file.name))).includes(key), `${file.name} holds the key`)
  })
})

describe("reward.kind=judge", { timeout: testTimeout }, () => {
  it("rewards a run with the verdicts of a language model, on answers alone", async () => {
    asked.length = 0
    const settings = sets(
      "reward.kind=judge",
      `reward.kind.model=${url()}#judge`,
      "budget.prices=[{ model: judge, input: 1000, output: 2000 }]",
      // Supervised turns, since the tiny policy itself hardly ever answers.
      "control.demonstrations=answers",
      "train.advantage=reward",
      "train.kl=none",
      "schedule.steps=1",
      "schedule.pruneEvery=0",
      "schedule.evolveEvery=0",
      "population.size=1",
      "evaluation.questions=0"
    )
    const finished = await inspo(["run", "--quiet", "--out", "judged", ...tinyRun, ...settings], { cwd })
    assert.strictEqual(finished.code, 0, finished.stderr)
    const traces = (await readFile(join(cwd, "judged", "traces.jsonl"), "utf8")).trim().split("\n")
    assert.isNotEmpty(traces)
    for (const trace of traces) assert.strictEqual(JSON.parse(trace).reward, 0.25)
    assert.strictEqual(asked.length, traces.length)
    for (const body of asked) assert.notInclude(body, "Put the final answer between")

    const shown = await inspo(["show", "judged", "--json"], { cwd })
    const { calls, usd } = JSON.parse(shown.stdout).ledger.total
    assert.strictEqual(calls, asked.length)
    assert.approximately(usd, asked.length * 0.13, 1e-9)
  })

  it.each([
    ["tournament", "reward.shaping"],
    ["rubric", "reward.shaping"],
    ["flawed", "reward.shaping"],
    ["key-turns", "train.credit"],
    ["stages", "train.credit"]
  ])("judges what %s trains, with the cost in the ledger and the verdicts in the journal", async (name, setting) => {
    asked.length = 0
    const settings = sets(
      `${setting}={ name: ${name}, model: "${url()}#judge", again: 1 }`,
      "budget.prices=[{ model: judge, input: 1000, output: 2000 }]",
      "schedule.steps=2",
      "schedule.pruneEvery=0",
      "schedule.evolveEvery=0",
      "population.size=1",
      "evaluation.questions=0"
    )
    const finished = await inspo(["run", "--quiet", "--out", name, ...tinyRun, ...settings], { cwd })
    assert.strictEqual(finished.code, 0, finished.stderr)
    const shown = await inspo(["show", name, "--json"], { cwd })
    assert.strictEqual(JSON.parse(shown.stdout).ledger.total.calls, asked.length)
    // The tiny policy answers hardly anything right, so there is nothing to find a flaw in.
    if (name !== "flawed") assert.isNotEmpty(asked)
    const metrics = await readFile(join(cwd, name, "metrics.jsonl"), "utf8")
    assert.strictEqual(metrics.includes("judge/noise"), asked.length > 0)
  })

  it.each([
    ["no model", sets("reward.kind=judge"), 2, "reward.kind.model is null"],
    [
      "a limit in dollars without a price",
      sets("reward.kind=judge", "reward.kind.model=http://127.0.0.1:1/v1#m", "budget.usd=1"),
      2,
      "budget.prices"
    ],
    [
      "a missing key",
      sets("reward.kind=judge", "reward.kind.model=anthropic:m", "keys.judge=NO_SUCH_KEY"),
      2,
      "NO_SUCH_KEY"
    ]
  ] as const)("tells %s in one paragraph", async (_, settings, code, part) => {
    const finished = await inspo(["run", "--out", "refused", ...tinyRun, ...settings], { cwd })
    assertToldInOneParagraph(finished, code, part)
  })
})
