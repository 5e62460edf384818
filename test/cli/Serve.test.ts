import { createHash } from "node:crypto"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:http"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Inspo } from "@inspo/client"
import { Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertToldInOneParagraph, endAll, inspo, inspoServer, testTimeout } from "./Inspo.ts"

const decodeReady = Schema.decodeSync(
  Schema.fromJsonString(Schema.Struct({ url: Schema.String, populations: Schema.Array(Schema.String) }))
)

const decodeSize = Schema.decodeUnknownSync(
  Schema.Struct({ settings: Schema.Struct({ population: Schema.Struct({ size: Schema.Int }) }) })
)

let cwd = ""

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-serve-"))
})

afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

const serve = async (...args: ReadonlyArray<string>) => {
  const env = { INSPO_ADMIN_KEY: "environment-key" }
  const { child, ready, stderr } = await inspoServer(["serve", "--port", "0", "--json", ...args], { cwd, env })
  return { child, stderr, ...decodeReady(ready) }
}

/** The log lines of a server with `--json`. */
const decodeLine = Schema.decodeSync(
  Schema.fromJsonString(
    Schema.Struct({
      level: Schema.String,
      message: Schema.String,
      annotations: Schema.Record(Schema.String, Schema.Union([Schema.String, Schema.Finite]))
    })
  )
)
const linesOf = (stderr: string) =>
  stderr
    .trim()
    .split("\n")
    .map((line) => decodeLine(line))

const until = async (is: () => boolean): Promise<void> => {
  for (let turns = 0; turns < 1000 && !is(); turns++) await new Promise((resolve) => setTimeout(resolve, 20))
  assert.isTrue(is())
}

const read = async (url: string, path: string): Promise<unknown> => (await fetch(`${url}/v1/populations${path}`)).json()

/** What the population `support` of a server is told to propose, and how it stands then. */
const proposed = async (config: string): Promise<string> => {
  const { child, url } = await serve(config, "--out", `out-${config}`)
  const client = new Inspo({ urls: [url], timeout: 10_000 })
  const lease = await client.lease("support", { key: "k" })
  await lease.reward(0, { feedback: "rude" })
  await client.flush()
  await fetch(`${url}/v1/populations/support/evolve`, { method: "POST" })
  let shown = ""
  for (let turns = 0; turns < 100 && !shown.includes("approval of"); turns++) {
    await new Promise((resolve) => setTimeout(resolve, 100))
    shown = JSON.stringify(await read(url, "/support"))
  }
  child.kill("SIGINT")
  return shown
}

describe("inspo serve", { timeout: testTimeout, tags: "runs" }, () => {
  it("has the model that its config names write what an admin is then asked to approve", async () => {
    const text = "<ins_1>Be brief and kind.</ins_1>"
    const model = createServer((_, response) =>
      response.writeHead(200, { "content-type": "application/json" }).end(
        JSON.stringify({
          choices: [{ message: { content: text }, finish_reason: "stop" }],
          usage: { prompt_tokens: 10, completion_tokens: 10 }
        })
      )
    ).listen(0, "127.0.0.1")
    await once(model, "listening")
    const address = model.address()
    const port = typeof address === "object" && address !== null ? address.port : 0
    await writeFile(
      join(cwd, "evolving.yaml"),
      `proposer: { model: "http://127.0.0.1:${port}/v1#m", commonAnswers: 0.05 }\n` +
        "populations:\n  support:\n    seed: Be brief.\n    settings: { population: { size: 2 } }\n"
    )
    const shown = await proposed("evolving.yaml")
    model.close()
    assert.include(shown, "Be brief and kind.")
    // Nobody named a price of this model.
    assert.include(shown, '"spentUsd":null')
    const { stdout } = await inspo(["show", "out-evolving.yaml/populations/support"], { cwd })
    assert.include(stdout.replaceAll(/\s+/gu, " "), "spending unknown, as the proposer's model has no price.")
    assert.notInclude(stdout, "$")
  })

  it("writes with the sentences that its config names instead of a model, and with no others", async () => {
    const population = "populations:\n  support:\n    seed: Be brief.\n    settings: { population: { size: 2 } }\n"
    const file = "sentences.yaml"
    await writeFile(join(cwd, file), `proposer: { model: offline, clauses: [Say hello.] }\n${population}`)
    assert.include(await proposed(file), '"Be brief. Say hello."')
    for (const [clauses, expected] of [
      ["[]", "proposer.clauses is []"],
      ["[Say hello., Please. Say hello.]", 'none is within another, as "Say hello." is'],
      ["[Say hello.], commonAnswers: 2", "between 0 and 1"],
      ["[Say hello.], keyEnv: M", 'proposer.keyEnv is "M"; expected no such field']
    ] as const) {
      await writeFile(join(cwd, file), `proposer: { model: offline, clauses: ${clauses} }\n${population}`)
      const { code, stderr } = await inspo(["serve", file], { cwd })
      assert.strictEqual(code, 2)
      assert.include(stderr, expected)
    }
  })

  it("serves all populations where the config of one was edited, says what stays, and takes over what may change", async () => {
    const write = (support: string) =>
      writeFile(join(cwd, "edited.yaml"), `populations:\n  support: ${support}\n  sales: { seed: You sell. }\n`)
    const settings = async (url: string) => decodeSize(await read(url, "/support")).settings.population.size
    const sizes: Array<number> = []
    for (const [edited, warned, left] of [
      ["{ seed: Be brief., settings: { population: { size: 3 }, retentionDays: 7 } }", null, null],
      [
        "{ seed: Be long., settings: { population: { size: 5 }, selection: { risk: 0.01 }, guardrails: [usd=1] } }",
        'seed is \\"Be brief.\\", declared as \\"Be long.\\"',
        "does not name: retentionDays is 7, not 30. To change one"
      ],
      [
        "{ seed: Be brief., settings: { retentionDays: 30 } }",
        null,
        'does not name: guardrails is [\\"usd=1\\"], not []; population.size is 5, not 7. To change one'
      ],
      ["{ seed: Be brief., settings: { population: { size: 3 }, guardrails: [] } }", null, null]
    ] as const) {
      await write(edited)
      const { child, populations, stderr, url } = await serve("edited.yaml", "--out", "edited")
      assert.deepStrictEqual(populations, ["sales", "support"])
      sizes.push(await settings(url))
      child.kill("SIGINT")
      await once(child, "close")
      if (left === null) assert.notInclude(stderr(), "does not name")
      else assert.include(stderr(), left)
      if (warned === null) assert.notInclude(stderr(), "keeps the settings that it was created with")
      else
        for (const part of [warned, "settings.selection.risk is 0.05", "/support/members", "DELETE"])
          assert.include(stderr(), part)
    }
    assert.deepStrictEqual(sizes, [3, 5, 5, 3])
  })

  it("says which field of its config is wrong, and what is expected there", async () => {
    for (const [text, part] of [
      [
        "populations: { a: { seed: x, settings: { population: { size: three } } } }",
        'populations.a.settings.population.size is "three"; expected number'
      ],
      ["populations: { a: { sed: x } }", "Did you mean seed?"],
      ["populations: { a: { seed: x, settings: { risk: 0.1 } } }", "Did you mean selection.risk?"],
      ["populations: { a: { seed: x, settings: { budgetUsd: 5 } } }", "Did you mean budget.usd?"],
      ["populations: { a b: { seed: x } }", 'populations names "a b", expected letters'],
      ["proposer: { model: gpt }", "proposer.model is not the name of a language model; expected openai:MODEL"],
      ["populations: { a: {", "not YAML"]
    ] as const) {
      await writeFile(join(cwd, "wrong.yaml"), text)
      assertToldInOneParagraph(await inspo(["serve", "wrong.yaml", "--out", "never"], { cwd }), 2, part)
    }
  })

  it("leaves nothing behind where it cannot start", async () => {
    const { child, url } = await serve("--out", "first")
    const { port } = new URL(url)
    assertToldInOneParagraph(await inspo(["serve", "--out", "never", "--port", port], { cwd }), 1, "--port")
    assert.isFalse(existsSync(join(cwd, "never")))
    child.kill("SIGINT")
    for (const [population, expected] of [
      ['{ seed: x, settings: { redact: ["("] } }', /The population b: .*redact.*expected a regular expression/u],
      ["{ seed: x, settings: { missingRewards: { value: 7 } } }", /b: settings.missingRewards.value is 7; expected/u],
      ["{ seed: x, variants: [{ tool: y }] }", /The population b: variants\[0\] is tool; expected one text/u]
    ] as const) {
      await writeFile(join(cwd, "half.yaml"), `populations: { a: { seed: x }, b: ${population} }`)
      const { code, stderr } = await inspo(["serve", "half.yaml", "--port", "0", "--out", "half"], { cwd })
      assert.strictEqual(code, 2)
      assert.match(stderr, expected)
      assert.isFalse(existsSync(join(cwd, "half")))
    }
  })

  it("says that it cannot decide, and why, where too many rewards are missing, and favours nobody then", async () => {
    await writeFile(
      join(cwd, "silent.yaml"),
      "populations:\n  support:\n    seed: bad\n    variants: [good]\n    settings: { sealAfterLeases: 100, horizonSeconds: 0.2 }\n"
    )
    const { child, url } = await serve("silent.yaml", "--out", "silent")
    const client = new Inspo({ urls: [url], timeout: 10_000 })
    for (let turn = 0; turn < 100; turn++) {
      const lease = await client.lease("support", { key: `k${turn}` })
      const of = lease.text === "good" ? 0.7 : 0.3
      if (turn % 10 < 3) await lease.reward(turn % 100 < 100 * of ? 1 : 0)
    }
    await client.flush()
    const decode = Schema.decodeUnknownSync(
      Schema.Struct({
        state: Schema.String,
        next: Schema.String,
        members: Schema.Array(Schema.Struct({ probability: Schema.Finite }))
      })
    )
    let shown = decode(await read(url, "/support"))
    for (let turns = 0; turns < 100 && shown.state === "learning"; turns++) {
      await new Promise((resolve) => setTimeout(resolve, 100))
      shown = decode(await read(url, "/support"))
    }
    assert.strictEqual(shown.state, "cannot-decide")
    assert.match(shown.next, /cannot decide between i[01] and i[01].*rewards are missing/u)
    // P(best) of both is 1/2, by 200 draws.
    for (const { probability } of shown.members) assert.approximately(probability, 1 / 2, 0.12)
    child.kill("SIGINT")
    await once(child, "close")
    const { stdout } = await inspo(["show", "silent"], { cwd })
    assert.match(stdout.replaceAll(/\s+/gu, " "), /support: cannot decide, online.*cannot decide between/u)
  })

  it("logs what it decides, and at debug every lease, without keys and texts of users", async () => {
    await writeFile(
      join(cwd, "logged.yaml"),
      "proposer: { model: offline, clauses: [Say hello.] }\npopulations:\n  support:\n    seed: Be brief.\n" +
        "    settings: { sealAfterLeases: 2, schedule: { evolveEvery: 1, pruneEvery: 1 }, approval: automatic, population: { size: 2 } }\n"
    )
    for (const level of ["info", "debug"]) {
      const { child, stderr, url } = await serve("logged.yaml", "--out", level, "--log-level", level)
      const client = new Inspo({ urls: [url], timeout: 10_000 })
      for (let turn = 0; turn < 400 && !stderr().includes("evolved"); turn++)
        await (await client.lease("support", { key: `private-${turn}` })).reward(1, { feedback: "secret feedback" })
      await client.flush()
      child.kill("SIGINT")
      await once(child, "close")
      const lines = linesOf(stderr()).filter(({ annotations }) => annotations["population"] === "support")
      assert.includeMembers(
        lines.flatMap(({ level, message }) => (level === "INFO" ? [message] : [])),
        ["population created", "cohort closed", "evolution started", "candidates proposed", "evolved"]
      )
      assert.strictEqual(
        lines.some((line) => line.level === "DEBUG" && line.message === "leased" && line.annotations["leases"] === 1),
        level === "debug"
      )
      assert.notMatch(stderr(), /private|secret/u)
    }
  })

  it("serves what its config and its command line name, and knows after kill -9 what it acknowledged", async () => {
    await writeFile(join(cwd, "support.txt"), "Be brief.\n")
    await writeFile(
      join(cwd, "populations.yaml"),
      "populations:\n  grpo:\n    seed: Think.\n    variants: [Think hard.]\n    profile: trainer\n"
    )
    const declared = ["populations.yaml", "--seed-file", "support.txt", "--out", "kept"]
    const first = await serve(...declared)
    assert.deepStrictEqual(first.populations, ["grpo", "support"])

    const told: Array<string> = []
    const client = new Inspo({ urls: [first.url], timeout: 10_000, onProblem: ({ message }) => told.push(message) })
    const lease = await client.lease("support", { key: "k", question: { id: "q", text: "Why?" } })
    assert.deepStrictEqual([lease.leased, lease.text], [true, "Be brief."])
    await lease.reward(1, { feedback: "good", transcript: "Why? Because." })
    const step = await client.leases(
      "grpo",
      [
        { key: "a", n: 2 },
        { key: "b", n: 2 }
      ],
      { cohort: "train/1" }
    )
    for (const one of step) for (const sample of [0, 1]) await one.reward(0.5, { sample })
    assert.strictEqual(await client.flush(), 0, told.join())
    assert.strictEqual((await client.close("grpo", "train/1"))?.state, "closed")
    assert.deepStrictEqual(told, [])

    const before = [
      await read(first.url, "/support"),
      await read(first.url, "/grpo"),
      await read(first.url, "/grpo/events")
    ]
    first.child.kill("SIGKILL")
    await once(first.child, "close")
    const second = await serve(...declared)
    const after = [
      await read(second.url, "/support"),
      await read(second.url, "/grpo"),
      await read(second.url, "/grpo/events")
    ]
    assert.deepStrictEqual(after, before)

    const large = "x".repeat(5 * 2 ** 20)
    for (const body of [large, new Blob([large]).stream()]) {
      const refused = await fetch(`${second.url}/v1/populations/support/leases`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body,
        duplex: "half"
      })
      assert.deepInclude(await refused.json(), { status: 413, type: "urn:inspo:too-large", field: "body" })
    }
    const foreign = await fetch(`${second.url}/v1/populations`, { headers: { origin: "http://elsewhere.example" } })
    assert.deepInclude(await foreign.json(), { status: 403, type: "urn:inspo:forbidden" })

    const again = new Inspo({ urls: [second.url], timeout: 10_000 })
    assert.strictEqual((await again.lease("support", { key: "k" })).id, lease.id)
    const closed = once(second.child, "close")
    // Half of a request is there when the server is told to end.
    const socket = connect(Number(new URL(second.url).port), "127.0.0.1")
    let answers = ""
    socket.on("data", (chunk) => (answers += chunk.toString()))
    const body = JSON.stringify({ requests: [{ key: "last" }] })
    const head = ["POST /v1/populations/support/leases HTTP/1.1", "host: localhost", "content-type: application/json"]
    socket.write(`${[...head, `content-length: ${body.length}`].join("\r\n")}\r\n\r\n${body.slice(0, 5)}`)
    await new Promise((done) => setTimeout(done, 200))
    second.child.kill("SIGTERM")
    await new Promise((done) => setTimeout(done, 500))
    socket.write(`${body.slice(5)}GET /readyz HTTP/1.1\r\nhost: localhost\r\n\r\n`)
    assert.deepStrictEqual(await closed, [130, null])
    assert.match(answers, /^HTTP\/1\.1 200 .*"key":"last".*HTTP\/1\.1 503 .*"urn:inspo:not-active"/su)
  })

  it("knows its admins by name, writes down what they do, and changes keys and settings while agents lease", async () => {
    const hash = (key: string) => createHash("sha256").update(key).digest("hex")
    const write = (keys: string, more = "") =>
      writeFile(join(cwd, "keyed.yaml"), `keys: { ${keys} }\npopulations:\n  support: { seed: Be brief. }\n${more}`)
    const [ops, first, second] = ["ops-key-0123456789", "agents-key-0123456789", "agents-key-9876543210"]
    const admin = `ops: { scope: admin, sha256: ${hash(ops)} }`
    const agents = (name: string, key: string) => `${name}: { scope: lease, sha256: ${hash(key)} }`
    await write(`${admin}, ${agents("agents", first)}`)
    assertToldInOneParagraph(await inspo(["serve", "keyed.yaml", "--out", "never"], { cwd }), 2, "--api-key-env")
    const { child, stderr, url } = await serve("keyed.yaml", "--out", "keyed", "--api-key-env", "INSPO_ADMIN_KEY")
    const status = async (key: string, path: string, body: unknown = {}) => {
      const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" }
      const answer = await fetch(`${url}/v1/populations/${path}`, {
        method: "POST",
        headers,
        body: JSON.stringify(body)
      })
      return (await answer.text(), answer.status)
    }
    const leased = (key: string) => status(key, "support/leases", { requests: [{ key: crypto.randomUUID() }] })
    const read = async (times: number) => {
      child.kill("SIGHUP")
      await until(() => linesOf(stderr()).filter(({ message }) => message === "config read again").length === times)
    }
    assert.deepStrictEqual([await leased(first), await leased(second), await leased(ops)], [200, 401, 200])
    assert.strictEqual(await status(first, "support/freeze"), 403)
    assert.strictEqual(await status(ops, "support/freeze"), 200)
    assert.strictEqual(await status("environment-key", "seed"), 200)
    assert.strictEqual(await status(ops, "nobody/resume"), 404)
    await until(() => linesOf(stderr()).filter(({ message }) => message === "audit").length === 4)
    assert.deepStrictEqual(
      linesOf(stderr()).flatMap(({ annotations, message }) => (message === "audit" ? [annotations] : [])),
      [
        { key: "agents", action: "freeze", population: "support", outcome: 403 },
        { key: "ops", action: "freeze", population: "support", outcome: 200 },
        { key: "admin", action: "useSeeds", population: "all", outcome: 200 },
        { key: "ops", action: "resume", population: "nobody", outcome: 404 }
      ]
    )

    // Both keys are valid until all agents have the second.
    let key = first
    const over = new AbortController()
    const working = (async () => {
      const statuses = new Set<number>()
      while (!over.signal.aborted) statuses.add(await leased(key))
      return [...statuses]
    })()
    await write(`${admin}, ${agents("agents", first)}, ${agents("agents2", second)}`, "  sales: { seed: You sell. }\n")
    await read(1)
    assert.strictEqual(await status(second, "sales/leases", { requests: [{ key: "k" }] }), 200)
    key = second
    await new Promise((resolve) => setTimeout(resolve, 200))
    await write(`${admin}, ${agents("agents2", second)}`)
    await read(2)
    over.abort()
    assert.deepStrictEqual(await working, [200])
    assert.deepStrictEqual([await leased(first), await leased(second)], [401, 200])

    for (const [keys, fault] of [
      [`${admin}, agents: { scope: lease, sha256: ${first} }`, "keys.agents.sha256 is malformed; expected the SHA-256"],
      [`agents: { scope: lease, sha256: ${hash("")} }`, "expected the SHA-256 of a key that is not empty"],
      [`admin: { scope: lease, sha256: ${hash(first)} }`, "and another name than admin"]
    ] as const) {
      await write(keys)
      child.kill("SIGHUP")
      await until(() => stderr().includes(fault))
      assert.deepStrictEqual([await leased(first), await leased(second), await leased(ops)], [401, 200, 200])
    }
    child.kill("SIGINT")
    await once(child, "close")
    assert.notMatch(stderr(), /ops-key|agents-key|environment-key/u)
  })

  it("asks for a key where other machines may ask", async () => {
    assertToldInOneParagraph(await inspo(["serve", "--host", "0.0.0.0"], { cwd }), 2, "--api-key-env")
  })
})
