import { createServer, type Server } from "node:http"
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertToldInOneParagraph, endAll, inspo, testTimeout, sets } from "./Inspo.ts"
import { tinyRun, writeTinyModel } from "./TinyModel.ts"

let cwd = ""
let server: Server
/** What the server answers where it is asked to write; it lists its model whatever it is. */
let status = 200

const candidates = ["one", "two", "three"].map(
  (word, index) =>
    `<ins_${index + 1}>In ${word} words. Put a query between <search> and </search>. Put the answer between <answer> ` +
    `and </answer>.</ins_${index + 1}>`
)
const written = JSON.stringify({ choices: [{ message: { content: candidates.join(" ") }, finish_reason: "stop" }] })

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-dead-"))
  await Effect.runPromise(writeTinyModel(join(cwd, "model")))
  server = createServer((request, response) => {
    request.resume()
    request.on("end", () => {
      response.setHeader("content-type", "application/json")
      if (request.method === "GET") return response.end('{"data":[{"id":"m"}]}')
      response.statusCode = status
      return response.end(status === 200 ? written : '{"error":{"message":"out of order"}}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
})

afterAll(async () => {
  endAll()
  server.close()
  await rm(cwd, { recursive: true, force: true })
})

const proposer = (url = "") => {
  const address = server.address()
  const port = typeof address === "object" && address !== null ? address.port : 0
  return sets(`proposer.model=${url === "" ? `http://127.0.0.1:${port}/v1` : url}#m`, "requests.retries=0")
}

/** Nothing listens there. */
const nowhere = "http://127.0.0.1:1"

describe("a server that is not there", { timeout: testTimeout, tags: "runs" }, () => {
  it.each([
    ["run", () => proposer("http://127.0.0.1:2/v1"), "proposer.model"],
    ["plan", () => proposer("http://127.0.0.1:2/v1"), "proposer.model"],
    ["run", () => sets(`retrieval.url=${nowhere}`), "retrieval.url"],
    ["run", () => sets(`engine.url=${nowhere}`), "engine.url"],
    ["run", () => [...proposer(), ...sets("budget.usd=1")], "budget.prices"]
  ] as const)(
    "is told by `%s` in one paragraph that names the setting, and leaves nothing",
    async (verb, settings, part) => {
      const out = verb === "run" ? ["--out", "refused"] : []
      assertToldInOneParagraph(await inspo([verb, ...out, ...tinyRun, ...settings()], { cwd }), 2, part)
      assert.notInclude(await readdir(cwd), "refused")
    }
  )
})

describe("a proposer", { timeout: testTimeout, tags: "runs" }, () => {
  it("that fails for a moment leaves the run degraded, which every report shows", async () => {
    status = 500
    const finished = await inspo(["run", "--no-baseline", "--json", "--out", "worse", ...tinyRun, ...proposer()], {
      cwd
    })
    assert.strictEqual(finished.code, 0, finished.stderr)
    const { degradations, degraded } = JSON.parse(finished.stdout)
    assert.isTrue(degraded)
    assert.strictEqual(degradations[0].part, "proposer")
    assert.isAtLeast(degradations[0].count, 1)
    assert.include(degradations[0].message, "out of order")
    assert.include(finished.stderr, "the proposer failed")
    assert.include(finished.stderr, "Degraded: proposer")
    assert.notInclude(finished.stderr, "as good as")

    const shown = await inspo(["show", "worse"], { cwd })
    const json = await inspo(["show", "worse", "--json"], { cwd })
    const reports = await Promise.all(
      ["report.md", "report.html"].map((name) => readFile(join(cwd, "worse", name), "utf8"))
    )
    for (const page of [shown.stdout, ...reports]) assert.include(page.replaceAll(/\s+/gu, " "), "out of order")
    for (const page of [shown.stdout, ...reports]) assert.include(page, "Degraded")
    assert.deepStrictEqual(JSON.parse(json.stdout).degradations, degradations)
  })

  it("that needs another key later stops the run, which continues once the key is fixed and the price is known", async () => {
    status = 401
    const stopped = await inspo(["run", "--no-baseline", "--out", "locked", ...tinyRun, ...proposer()], { cwd })
    assert.strictEqual(stopped.code, 1, stopped.stderr)
    assert.match(stopped.stderr, /does not accept the key .*keys\.proposer/u)
    assert.include(stopped.stdout, "resume locked")

    const file = join(cwd, "locked", "config.json")
    const config = JSON.parse(await readFile(file, "utf8"))
    await writeFile(file, JSON.stringify({ ...config, budget: { ...config.budget, usd: 1 } }))
    status = 200
    assertToldInOneParagraph(await inspo(["resume", "locked"], { cwd }), 2, "budget.prices")
    const priced = sets("budget.prices=[{ model: m, input: 1, output: 1 }]")
    const resumed = await inspo(["resume", "locked", "--json", ...priced], { cwd })
    assert.strictEqual(resumed.code, 0, resumed.stderr)
    assert.deepStrictEqual(JSON.parse(resumed.stdout).degradations, [])
  })
})
