import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { once } from "node:events"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { setTimeout } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { exchanges, type Exchange } from "../../packages/reflection/test/fixtures/exchanges.ts"
import * as LocalServer from "../../packages/reflection/test/support/LocalServer.ts"
import { assertToldInOneParagraph, endAll, inspo, sets, start, testTimeout } from "./Inspo.ts"

const key = "a-key-that-must-not-be-seen"
const env = { INSPO_TEST_KEY: key }
const seed =
  "Answer the question. Put a query between <search> and </search>. Put the answer between <answer> and </answer>."
const good = "Search before you answer."
/** Tokens of every answer of the fake servers. */
const tokens = 18

let cwd = ""
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-chat-policy-"))
  const cities = Array.from({ length: 60 }, (_, id) => id)
  const lines = (rows: ReadonlyArray<unknown>) => rows.map((row) => `${JSON.stringify(row)}\n`).join("")
  const asked = cities.map((id) => ({
    question: `What is the code of City${id}x?`,
    golden_answers: [`Z${id}`],
    data_source: "c"
  }))
  const passages = cities.map((id) => ({
    id: String(id),
    contents: `"City${id}x"\nThe code is Z${id} for City${id}x.`
  }))
  await writeFile(join(cwd, "questions.jsonl"), lines(asked))
  await writeFile(join(cwd, "corpus.jsonl"), lines(passages))
})
afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

const wire = (index: number): Exchange => {
  const exchange = exchanges[index]
  if (exchange === undefined) throw new Error("no exchange")
  return exchange
}

/** Which city is asked about, whether the code was found, and whether the instruction asks to search. */
const read = (body: string) => {
  const [, city = ""] = /code of (City\d+x)/u.exec(body) ?? []
  const [, code] = new RegExp(`The code is (Z\\d+) for ${city}`, "u").exec(body) ?? []
  return { city, code, searches: body.includes(good) }
}

/** A model that searches, and so knows the answer, only under an instruction that asks for it; its proposer knows one. */
const model = (
  exchange: Exchange,
  change: (made: number) => LocalServer.Reply | null = () => null,
  next: (exchange: Exchange, body: string) => string = inTags
) => {
  let made = 0
  return LocalServer.make((one) => {
    if (one.method === "GET") return [{ body: JSON.stringify({ data: [{ id: "m" }] }) }]
    if (one.body.includes("<ins_1>"))
      return [{ body: exchange.success(`<ins_1>${good} ${seed}</ins_1><ins_2>Be polite. ${seed}</ins_2>`) }]
    const changed = change((made += 1))
    if (changed !== null) return [changed]
    return [{ body: next(exchange, one.body) }]
  })
}

const inTags = (exchange: Exchange, body: string) => {
  const { city, code, searches } = read(body)
  if (code !== undefined) return exchange.success(`<answer> ${code}</answer>`)
  return exchange.success(searches ? `<search> ${city}</search> Let me see.` : "<answer> unknown</answer>")
}

/** Searches and adds in one message, and answers without tags once it has seen both results. */
const byCalls = (exchange: Exchange, body: string) => {
  const { city, code, searches } = read(body)
  if (code !== undefined) return exchange.success(body.includes('"42"') ? code : "the sum is missing")
  return searches
    ? exchange.calling("Let me see.", [
        { id: "c1", name: "search", args: { input: city } },
        { id: "c2", name: "add-numbers", args: { a: 20, b: 22 } }
      ])
    : exchange.success("unknown")
}

const mcp = JSON.stringify([
  {
    command: [process.execPath, fileURLToPath(new URL("../../packages/mcp/test/support/program.ts", import.meta.url))]
  }
])
const native = sets("rollout.agent=tool-calls", "rollout.tools=[search, add-numbers]", `rollout.mcp=${mcp}`)

const answered = ({ asked }: LocalServer.LocalServer) =>
  asked.filter(({ body, method }) => method === "POST" && !body.includes("<ins_1>")).length

const named = (exchange: Exchange, { url }: LocalServer.LocalServer) => {
  const { name } = exchange.provider
  return name === "openai-compatible" ? `${url}#m` : `${name}+${url}#m`
}

const settings = (exchange: Exchange, server: LocalServer.LocalServer, ...more: ReadonlyArray<string>) => [
  "--preset",
  "robust",
  ...sets(
    `policy.model=${named(exchange, server)}`,
    "keys.policy=INSPO_TEST_KEY",
    "data.questions=questions.jsonl",
    "data.corpus=corpus.jsonl",
    `seedInstruction=${JSON.stringify(seed)}`,
    `proposer.model=${named(exchange, server)}`,
    "keys.proposer=INSPO_TEST_KEY",
    "population.size=2",
    "population.parents=1",
    "schedule.steps=4",
    "schedule.pruneEvery=0",
    "schedule.evolveEvery=1",
    "schedule.evolveUntil=3",
    "proposer.candidates=2",
    "verification.samples=0",
    "rollout.groupSize=4",
    "rollout.maxTurns=2",
    "train.batchSize=8",
    "train.miniBatch.size=8",
    "evaluation.questions=6",
    "evaluation.every=0",
    "evaluation.select=last",
    "budget.prices=[{ model: m, input: 1000, output: 1000 }]",
    ...more
  )
]

const flags = (exchange: Exchange, server: LocalServer.LocalServer, out: string, ...more: ReadonlyArray<string>) => [
  "run",
  "--quiet",
  "--out",
  out,
  ...settings(exchange, server, ...more)
]

const run = (args: ReadonlyArray<string>) => Effect.promise(() => inspo(args, { cwd, env }))

const shown = Effect.fnUntraced(function* (directory: string) {
  const { code, stderr, stdout } = yield* run(["show", directory, "--json"])
  assert.strictEqual(code, 0, stderr)
  return JSON.parse(stdout)
})

const spentOn = (summary: {
  readonly ledger: {
    readonly phases: ReadonlyArray<{ readonly phase: string; readonly usd: number; readonly calls: number }>
  }
}) =>
  summary.ledger.phases
    .filter(({ phase }) => phase !== "initial" && phase !== "proposing")
    .reduce((sum, { calls, usd }) => ({ calls: sum.calls + calls, usd: sum.usd + usd }), { calls: 0, usd: 0 })

describe("policy.model", { timeout: testTimeout, tags: "runs" }, () => {
  it.live.each(exchanges)(
    "evolves the instruction of an agent with tools over the wire of $provider.name",
    (exchange) =>
      Effect.gen(function* () {
        const server = yield* model(exchange)
        const out = exchange.provider.name
        const finished = yield* run(flags(exchange, server, out))
        assert.strictEqual(finished.code, 0, finished.stderr)
        const summary = yield* shown(out)
        assert.include(summary.bestInstruction.text, good)
        // Everything that was answered is in the ledger, at its price.
        const { calls, usd } = spentOn(summary)
        assert.strictEqual(calls, answered(server))
        assert.approximately(usd, (answered(server) * tokens) / 1000, 1e-6)
        for (const one of server.asked) assert.strictEqual(one.headers[exchange.keyHeader], exchange.sent(key))
        for (const file of yield* Effect.promise(() =>
          readdir(join(cwd, out), { recursive: true, withFileTypes: true })
        ))
          if (file.isFile())
            assert.isFalse(
              (yield* Effect.promise(() => readFile(join(file.parentPath, file.name)))).includes(key),
              file.name
            )
        // Its journal gives the same decisions again, without a call.
        const before = server.asked.length
        const replayed = yield* run(["replay", out])
        assert.strictEqual(replayed.code, 0, replayed.stderr)
        assert.strictEqual(server.asked.length, before)
      })
  )

  it.live.each(exchanges)(
    "calls its own tools and those of an MCP server by native calls over the wire of $provider.name",
    (exchange) =>
      Effect.gen(function* () {
        const server = yield* model(exchange, () => null, byCalls)
        const out = `native-${exchange.provider.name}`
        const finished = yield* run([...flags(exchange, server, out), ...native])
        assert.strictEqual(finished.code, 0, finished.stderr)
        const summary = yield* shown(out)
        assert.include(summary.bestInstruction.text, good)
        assert.strictEqual(spentOn(summary).calls, answered(server))
        const asked = server.asked.filter(({ body, method }) => method === "POST" && !body.includes("<ins_1>"))
        for (const { body } of asked) assert.match(body, /"add-numbers".*"Adds two numbers\."/u)
        assert.isTrue(asked.some(({ body }) => body.includes('"42"')))
        const replayed = yield* run(["replay", out])
        assert.strictEqual(replayed.code, 0, replayed.stderr)
      })
  )

  it.live.each([
    { calls: "tags", index: 0, more: [], next: inTags },
    { calls: "native", index: 3, more: native, next: byCalls }
  ])(
    "continues after kill -9, pays no answer twice, and waits as a server asks: $calls",
    ({ calls, index, more, next }) =>
      Effect.gen(function* () {
        const exchange = wire(index)
        const [first, second] = [`whole-${calls}`, `killed-${calls}`]
        const whole = yield* model(exchange, () => null, next)
        assert.strictEqual((yield* run([...flags(exchange, whole, first), ...more])).code, 0)
        let most = 20
        let limited = false
        const refuse = (made: number): LocalServer.Reply | null => {
          if (made > most) return { silent: true }
          if (limited || made !== 30) return null
          limited = true
          return { status: 429, headers: { "retry-after": "2" }, body: exchange.limited }
        }
        const server = yield* model(exchange, refuse, next)
        for (const last of [20, 36]) {
          most = last
          const began = [...flags(exchange, server, second), ...more]
          const child = start(last === 20 ? began : ["resume", second], cwd, env)
          // Answers are stored on arrival; those that are awaited are never answered.
          while (answered(server) < most + 8) yield* Effect.promise(() => setTimeout(20))
          yield* Effect.promise(() => setTimeout(500))
          child.kill("SIGKILL")
          yield* Effect.promise(() => once(child, "close"))
          most = answered(server)
        }
        most = Infinity
        const finished = yield* run(["resume", second])
        assert.strictEqual(finished.code, 0, finished.stderr)
        assert.isTrue(limited)
        // 8 requests were open at each kill, and one was refused; all others are those of the run that was not killed.
        assert.strictEqual(answered(server) - 2 * 8 - 1, answered(whole))
        const [one, other] = [yield* shown(second), yield* shown(first)]
        assert.deepStrictEqual(one.bestInstruction, other.bestInstruction)
      })
  )

  it.live("never passes budget.usd, and continues when it is raised", () =>
    Effect.gen(function* () {
      const exchange = wire(0)
      const server = yield* model(exchange)
      const stopped = yield* run(flags(exchange, server, "capped", "budget.usd=2", "rollout.maxResponseTokens=30"))
      assertToldInOneParagraph(stopped, 1, "budget.usd")
      assert.isAtMost((answered(server) * tokens) / 1000, 2)
      assert.isAbove((answered(server) * tokens) / 1000, 1.5)
      const before = answered(server)
      const finished = yield* run(["resume", "capped", ...sets("budget.usd=null")])
      assert.strictEqual(finished.code, 0, finished.stderr)
      const whole = yield* model(exchange)
      assert.strictEqual((yield* run(flags(exchange, whole, "uncapped", "rollout.maxResponseTokens=30"))).code, 0)
      assert.isAbove(answered(server), before)
      assert.strictEqual(answered(server), answered(whole))
      // An evaluation has no ledger of the run, but keeps to the same limit.
      const paid = answered(server)
      const evaluated = yield* run(["eval", "capped", "--questions", "6", ...sets("budget.usd=0.3")])
      assertToldInOneParagraph(evaluated, 1, "budget.usd")
      assert.isAbove(answered(server), paid)
      assert.isAtMost(((answered(server) - paid) * tokens) / 1000, 0.3)
      const enough = yield* run(["eval", "capped", "--questions", "6", ...sets("budget.usd=5")])
      assert.strictEqual(enough.code, 0, enough.stderr)
    })
  )

  it.live("is probed before a run, within budget.usd", () =>
    Effect.gen(function* () {
      const exchange = wire(0)
      const server = yield* model(exchange)
      const args = (usd: number) => [
        "plan",
        "--probe",
        "64",
        "--json",
        ...settings(exchange, server, `budget.usd=${usd}`)
      ]
      const stopped = yield* run(args(0.3))
      assert.strictEqual(stopped.code, 1)
      assert.include(stopped.stderr, "budget.usd")
      assert.isAtMost((answered(server) * tokens) / 1000, 0.3)
      const probed = yield* run(args(10))
      assert.strictEqual(probed.code, 0, probed.stderr)
      assert.match(
        probed.stderr.replaceAll("\n", " "),
        /at most [\d,]+ calls of m for [\d.]+ US dollars, and a proposer call/u
      )
      const { probe } = JSON.parse(probed.stdout)
      assert.strictEqual(probe.verdict, "evolve")
      assert.strictEqual(probe.instructions[1].text, `${good} ${seed}`)
    })
  )

  it.live("plans calls and cost without a call, and refuses by name what needs an engine", () =>
    Effect.gen(function* () {
      const exchange = wire(0)
      const server = yield* model(exchange)
      const planned = yield* run(["plan", ...settings(exchange, server)])
      assert.strictEqual(planned.code, 0, planned.stderr)
      assert.match(planned.stdout, /policy calls +[\d,]+ +[\d,]+/u)
      assert.match(planned.stdout, /US dollars for m/u)
      assert.strictEqual(answered(server), 0)
      for (const refused of [
        "train.fromStep=1",
        "engine.url=http://127.0.0.1:1",
        "rollout.agent=search-r1-exact",
        "policy.model=gpt"
      ])
        assertToldInOneParagraph(
          yield* run(flags(exchange, server, "refused", refused)),
          2,
          refused.split("=")[0] ?? ""
        )
      const tokens = ["run", "--quiet", "--out", "refused", ...sets("rollout.agent=tool-calls")]
      assertToldInOneParagraph(yield* run(tokens), 2, "rollout.agent")
      const unpriced = flags(exchange, server, "refused", "budget.prices=[]", "budget.usd=1")
      assertToldInOneParagraph(yield* run(unpriced), 2, "budget.usd")
    })
  )
})
