import { mkdir, mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises"
import { once } from "node:events"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { exchanges, type Exchange } from "../../packages/reflection/test/fixtures/exchanges.ts"
import * as LocalServer from "../../packages/reflection/test/support/LocalServer.ts"
import { assertToldInOneParagraph, endAll, inspo, start, testTimeout } from "./Inspo.ts"

const key = "a-key-that-must-not-be-seen"
const prompt = "Name the capital."
const good = "Answer in one word."
const keys = { OPENAI_API_KEY: key, ANTHROPIC_API_KEY: key, GEMINI_API_KEY: key }
/** Tokens of every answer of the fake servers. */
const tokens = 18

let cwd = ""
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-evolve-cli-"))
  await writeFile(join(cwd, "prompt.txt"), `${prompt}\n`)
  const rows = Array.from({ length: 24 }, (_, id) => `Country-${id},yes`)
  await writeFile(join(cwd, "cases.csv"), `country,expected\n${rows.join("\n")}\n`)
})
afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

const [compatible, ...hosted] = exchanges
const wire = (exchange: Exchange | undefined): Exchange => {
  if (exchange === undefined) throw new Error("no exchange")
  return exchange
}

interface Asked extends LocalServer.Asked {
  /** The number of the country that is asked about; null for a request to the proposer, or for models. */
  readonly country: number | null
}

/** A model that is right about every third country, and about all under a good prompt; its proposer knows one, and a bad one. */
const model = (exchange: Exchange, change: (asked: Asked, made: number) => LocalServer.Reply | null = () => null) => {
  let made = 0
  return LocalServer.make((one) => {
    if (one.method === "GET") return [{ body: JSON.stringify({ data: [{ id: "m" }, { id: "p" }] }) }]
    const isProposal = one.body.includes("<ins_1>")
    const country = isProposal ? null : Number(/Country-(\d+)/u.exec(one.body)?.[1])
    const changed = change({ ...one, country }, (made += isProposal ? 0 : 1))
    if (changed !== null) return [changed]
    if (country === null)
      return [{ body: exchange.success(`<ins_1>${prompt} ${good}</ins_1><ins_2>${prompt} Be polite.</ins_2>`) }]
    return [{ body: exchange.success(country % 3 === 0 || one.body.includes(good) ? " Yes\n" : "It is yes.") }]
  })
}

/** The command, where later flags replace the usual ones. */
const flags = (url: string, ...more: ReadonlyArray<string>): ReadonlyArray<string> => {
  const usual = [
    ["--model", `${url}#m`],
    ["--score", "exact"],
    ["--calls", "60"]
  ]
  return ["evolve", "prompt.txt", "cases.csv", ...usual.filter(([name = ""]) => !more.includes(name)).flat(), ...more]
}

/** Calls of the agent. */
const asked = (server: LocalServer.LocalServer) =>
  server.asked.filter(({ body, method }) => method === "POST" && !body.includes("<ins_1>")).length

const answered = (server: LocalServer.LocalServer) => server.asked.filter(({ method }) => method === "POST").length

const run = (args: ReadonlyArray<string>, options: Omit<Parameters<typeof inspo>[1], "cwd"> = {}) =>
  Effect.promise(() => inspo(args, { cwd, env: keys, ...options }))

/** Waits until a search has so many paid answers. */
const paid = async (directory: string, count: number) => {
  for (let found = 0; found < count; await setTimeout(20)) {
    const text = await readFile(join(cwd, directory, "events.jsonl"), "utf8").catch(() => "")
    found = text.match(/"_tag":"(?:Obtained|Written)"/gu)?.length ?? 0
  }
}

const shown = (...args: ReadonlyArray<string>) => inspo(["show", ...args], { cwd })

const read = (...path: ReadonlyArray<string>) => Effect.promise(() => readFile(join(cwd, ...path), "utf8"))

describe("inspo evolve", { timeout: testTimeout, tags: "runs" }, () => {
  it.live.each(exchanges)(
    "finds a better prompt over the wire of $provider.name, at the price of what was counted",
    (exchange) =>
      Effect.gen(function* () {
        const { name } = exchange.provider
        const server = yield* model(exchange)
        const url = name === "openai-compatible" ? server.url : `${name}+${server.url}`
        const price = ["--price", "1000/1000", "--budget", "500", "--api-key-env", "OPENAI_API_KEY"]
        const finished = yield* run(flags(url, "--out", name, "--json", ...price))
        assert.strictEqual(finished.code, 0, finished.stderr)
        const result = JSON.parse(finished.stdout)
        assert.strictEqual(result.verdict, "better")
        assert.strictEqual(result.prompt, `${prompt} ${good}`)
        assert.strictEqual(yield* read(name, "best_prompt.txt"), `${prompt} ${good}\n`)
        assert.deepStrictEqual(JSON.parse(yield* read(name, "result.json")), result)
        assert.include(yield* read(name, "report.md"), "**Answer in one word.**")
        assert.approximately(result.usd, (answered(server) * tokens) / 1000, 1e-6)
        for (const one of server.asked) assert.strictEqual(one.headers[exchange.keyHeader], exchange.sent(key))
        for (const file of yield* Effect.promise(() => readdir(join(cwd, name))))
          assert.notInclude(yield* read(name, file), key)
        for (const output of [finished.stdout, finished.stderr]) assert.notInclude(output, key)
        assert.match(finished.stderr, /searching · \d+ of 60 calls/u)
        assert.notInclude(finished.stderr, "not in the list")
      })
  )

  it.live.each([
    (text: string) => `Is it no?\n</think>\n\n${text}`,
    (text: string) => `[THINK]Is it no?[/THINK]${text}`,
    (text: string) =>
      `<|channel|>analysis<|message|>Is it no?<|end|><|start|>assistant<|channel|>final<|message|>${text}<|return|>`
  ])("scores no thoughts as the answer: %#", (thinking) =>
    Effect.gen(function* () {
      const exchange = wire(compatible)
      const server = yield* model({ ...exchange, success: (text) => exchange.success(thinking(text)) })
      const out = ["--out", `thoughts-${thinking("x").length}`, "--json"]
      const finished = yield* run(flags(server.url, ...out))
      assert.strictEqual(finished.code, 0, finished.stderr)
      const { prompt: found, verdict } = JSON.parse(finished.stdout)
      assert.deepStrictEqual([verdict, found], ["better", `${prompt} ${good}`])
    })
  )

  it.live("finds a prompt for a model that replaces another one, and compares with that one alone", () =>
    Effect.gen(function* () {
      const exchange = wire(compatible)
      const old = yield* LocalServer.make(({ method }) => [
        { body: method === "GET" ? JSON.stringify({ data: [{ id: "old" }] }) : exchange.success("Yes") }
      ])
      const server = yield* model(exchange)
      const args = [
        "--from",
        `${old.url}#old`,
        "--margin",
        "0.5",
        "--out",
        "migrated",
        "--require",
        "no-worse",
        "--json"
      ]
      const finished = yield* run(flags(server.url, ...args))
      assert.strictEqual(finished.code, 0, finished.stderr)
      const { finalist, prompt: found, verdict } = JSON.parse(finished.stdout)
      assert.deepStrictEqual([verdict, found, finalist], ["no-worse", `${prompt} ${good}`, found])
      const posted = old.asked.filter(({ method }) => method === "POST")
      assert.isAbove(posted.length, 5)
      for (const { body } of posted) assert.notInclude(body, good)
      const refused = yield* run(flags(server.url, ...args, "--aim", "shorter"))
      assertToldInOneParagraph({ ...refused }, 2, "--from names the chat model that --model replaces")
    })
  )

  it.live("revises a long prompt by edits, and refuses those of words that are not there or there again", () =>
    Effect.gen(function* () {
      const exchange = wire(compatible)
      const rules = Array.from({ length: 720 }, (_, at) => `Rule ${at}.`)
      const long = [prompt, ...rules].join("\n")
      const edit = (search: string, replacement: string) =>
        `<<<<<<< SEARCH\n${search}\n=======\n${replacement}\n>>>>>>> REPLACE`
      let proposals = 0
      const requests: Array<string> = []
      const server = yield* model(exchange, ({ body, country, method }) => {
        if (method === "GET" || country !== null) return null
        requests.push(body)
        proposals += 1
        return {
          body: exchange.success(
            proposals === 1
              ? `<ins_1>${edit("Rule 7.\nRule 8.", good)}</ins_1><ins_2>${edit("Rule 1", "No rule")}</ins_2>`
              : `<ins_1>${edit("Rule 9999.", "Be polite.")}</ins_1>`
          )
        }
      })
      yield* Effect.promise(() => writeFile(join(cwd, "long.txt"), `${long}\n`))
      const finished = yield* run(flags(server.url, "--out", "long", "--json").with(1, "long.txt"))
      assert.strictEqual(finished.code, 0, finished.stderr)
      const { prompt: found, verdict } = JSON.parse(finished.stdout)
      assert.strictEqual(verdict, "better")
      assert.strictEqual(found, long.replace("Rule 7.\nRule 8.", good))
      assert.strictEqual(yield* read("long", "best_prompt.txt"), `${found}\n`)
      assert.include(requests[0] ?? "", "The original is long")
      assert.include(requests[1] ?? "", "in the original instruction more than once")
      const events = yield* read("long", "events.jsonl")
      for (const reason of ["edit-ambiguous", "edit-not-found"]) assert.include(events, `"reason":"${reason}"`)
      assert.include(yield* read("long", "report.md"), "rejected (edit-not-found)")
    })
  )

  it.live("adds the sentences of a file, and asks no model for prompts", () =>
    Effect.gen(function* () {
      const server = yield* model(wire(compatible))
      yield* Effect.promise(() => writeFile(join(cwd, "sentences.txt"), `Be polite.\n\n${good}\n`))
      const sentences = ["--sentences", "sentences.txt", "--out", "sentences"]
      const planned = yield* run(flags(server.url, ...sentences, "--plan", "--json"))
      assert.isNull(JSON.parse(planned.stdout).proposer)
      const finished = yield* run(flags(server.url, ...sentences, "--json"))
      assert.strictEqual(finished.code, 0, finished.stderr)
      const { prompt: found, proposer, verdict } = JSON.parse(finished.stdout)
      assert.deepStrictEqual([verdict, proposer], ["better", null])
      assert.match(finished.stderr, /The price of m is not in the list of 20.*give it with --price IN\/OUT/u)
      assert.include(found, good)
      assert.strictEqual(answered(server), asked(server))
    })
  )

  it.live("tries cases with their right answers after the prompt, and is asked none that it shows", () =>
    Effect.gen(function* () {
      const exchange = wire(compatible)
      let shown = 0
      const server = yield* model(exchange, ({ body }) => {
        if (!body.includes("Output: yes")) return null
        const countries = (body.match(/Country-\d+/gu) ?? []).toReversed()
        shown += Number(countries.indexOf(countries[0] ?? "", 1) > 0)
        return { body: exchange.success("yes") }
      })
      yield* Effect.promise(() => writeFile(join(cwd, "polite.txt"), "Be polite.\n"))
      const finished = yield* run(
        flags(server.url, "--examples", "--sentences", "polite.txt", "--out", "examples", "--json")
      )
      assert.strictEqual(finished.code, 0, finished.stderr)
      const { prompt: found, verdict } = JSON.parse(finished.stdout)
      assert.deepStrictEqual([verdict, shown], ["better", 0])
      assert.match(found, /^Name the capital\..*\n\nExamples:(\n\nInput: country: Country-\d+\nOutput: yes)+$/u)
      assert.strictEqual(yield* read("examples", "best_prompt.txt"), `${found}\n`)
    })
  )

  it.live("says what else to give where the proposer writes nothing that can be used", () =>
    Effect.gen(function* () {
      const exchange = wire(compatible)
      const server = yield* model(exchange, ({ country, method }) =>
        method === "POST" && country === null ? { body: exchange.success("{% endblock %}") } : null
      )
      const { code, stderr } = yield* run(flags(server.url, "--out", "unusable"))
      assert.strictEqual(code, 1)
      assert.include(
        stderr.replaceAll(/\s+/gu, " "),
        "Name another model with --proposer, or give sentences with --sentences."
      )
    })
  )

  it.live("waits as a server asks, and counts refused and cut answers as answers", () =>
    Effect.gen(function* () {
      const exchange = wire(hosted[1])
      const times: Array<number> = []
      const server = yield* model(exchange, ({ country }, made) => {
        times.push(performance.now())
        if (made === 1) return { status: 429, headers: { "retry-after": "2" }, body: exchange.limited }
        if (country === 1) return { body: exchange.refusal }
        return country === 2 ? { body: exchange.cut("yes") } : null
      })
      const finished = yield* run(flags(`anthropic+${server.url}`, "--out", "odd", "--budget", "1", "--price", "1/1"))
      assert.strictEqual(finished.code, 0, finished.stderr)
      // The first call is repeated: alone, or beside others.
      assert.isAtLeast((times.at(-1) ?? 0) - (times[0] ?? 0), 2000)
      assert.match(finished.stdout, /answers? cut at --max-tokens 4096/u)
      assert.match(finished.stdout, /answers? refused/u)
      const result = JSON.parse(yield* read("odd", "result.json"))
      assert.deepStrictEqual(result.failures, [])
    })
  )

  it.live("continues after kill -9 and Ctrl-C, pays no answer twice, and counts what was in flight", () =>
    Effect.gen(function* () {
      let most = 15
      let answers = 0
      let silent = 0
      const server = yield* model(wire(compatible), () => {
        if (answers >= most) return ((silent += 1), { silent: true })
        answers += 1
        return null
      })
      const place = ["--out", "killed", "--price", "1000/1000", "--max-tokens", "30"]
      const args = flags(server.url, ...place)
      const recorded = async () => {
        const text = await readFile(join(cwd, "killed", "events.jsonl"), "utf8").catch(() => "")
        const count = (tag: string) => text.split(`"_tag":"${tag}"`).length - 1
        return {
          answers: count("Obtained") + count("Written"),
          agent: text.split('"_tag":"Started","kind":"agent"').length - 1
        }
      }
      /** Until all answers are recorded, and the calls that were started have reached the server. */
      const until = async (count: number) => {
        for (let same = 0; same < 3; await setTimeout(20)) {
          const { agent, answers: found } = await recorded()
          same = found >= count && agent === asked(server) && silent > 0 ? same + 1 : 0
        }
      }
      for (const signal of ["SIGKILL", "SIGINT"] as const) {
        const child = start(args, cwd, keys)
        let shown = ""
        child.stdout.on("data", (chunk: Buffer) => (shown += chunk.toString()))
        yield* Effect.promise(() => until(most))
        child.kill(signal)
        const [code] = yield* Effect.promise(() => once(child, "close"))
        assert.strictEqual(code, signal === "SIGKILL" ? null : 130)
        assert.strictEqual(shown.includes("the same command continues in killed"), signal === "SIGINT")
        most += 15
        silent = 0
      }
      most = Infinity
      const finished = yield* run(args)
      assert.strictEqual(finished.code, 0, finished.stderr)
      const result = JSON.parse(yield* read("killed", "result.json"))
      assert.strictEqual(result.calls, asked(server))
      assert.isAtLeast(result.lost.calls, 2)
      assert.approximately(result.usd, (answers * tokens) / 1000 + result.lost.usd, 1e-6)
      assert.isAtLeast(result.lost.usd, (result.lost.calls * 30) / 1000)
      const named = /\d+ calls were in flight when a previous process ended; their cost is unknown, counted as \$/gu
      // At the start, and in the report.
      assert.strictEqual(finished.stdout.match(named)?.length, 2)
      assert.match(yield* read("killed", "report.md"), named)

      // Once more: everything is known.
      const again = yield* run([...args, "--json"])
      assert.deepStrictEqual(JSON.parse(again.stdout), result)
      assert.strictEqual(result.calls, asked(server))
      assertToldInOneParagraph(yield* run(flags(server.url, ...place, "--calls", "80")), 2, "other calls")
      const other = flags(server.url, ...place.slice(0, 4), "--max-tokens", "80")
      assertToldInOneParagraph(yield* run(other), 2, "other --max-tokens")
    })
  )

  it.live("keeps a second process out of the files of the first one", () =>
    Effect.gen(function* () {
      const server = yield* model(wire(compatible), () => ({ silent: true }))
      const args = flags(server.url, "--out", "taken-by-one")
      const child = start(args, cwd, keys)
      while (answered(server) === 0) yield* Effect.sleep("20 millis")
      assertToldInOneParagraph(
        yield* run(args),
        2,
        `taken-by-one/events.jsonl: process ${child.pid} on ${hostname()} is writing to it`
      )
      child.kill("SIGKILL")
    })
  )

  it.live("sends a key to the server that it is for, and to no other one", () =>
    Effect.gen(function* () {
      const env = { ...keys, AGENT_KEY: "key-of-the-agent", PROPOSER_KEY: "key-of-the-proposer" }
      yield* Effect.promise(() => writeFile(join(cwd, "rubric.txt"), "Only the word."))
      const sent = (server: LocalServer.LocalServer) => [
        ...new Set(server.asked.map(({ headers }) => headers.authorization ?? null))
      ]
      for (const [isAgentNamed, isProposerNamed] of [
        [true, false],
        [false, true],
        [true, true]
      ]) {
        const [agent, proposer] = [yield* model(wire(compatible)), yield* model(wire(compatible))]
        const args = ["--proposer", `${proposer.url}#p`, "--score", "judge", "--rubric", "rubric.txt", "--calls", "29"]
        if (isAgentNamed === true) args.push("--api-key-env", "AGENT_KEY")
        if (isProposerNamed === true) args.push("--api-key-env", `${proposer.url}/v1=PROPOSER_KEY`)
        yield* run(flags(agent.url, "--out", `keys-${isAgentNamed}-${isProposerNamed}`, ...args), { env })
        assert.isAbove(answered(agent), 1)
        assert.isAbove(answered(proposer), 0)
        assert.deepStrictEqual(sent(agent), [isAgentNamed === true ? "Bearer key-of-the-agent" : null])
        assert.deepStrictEqual(sent(proposer), [isProposerNamed === true ? "Bearer key-of-the-proposer" : null])
      }
    })
  )

  it.live("shows a search that was killed and one that is done, and says what is wrong with a file", () =>
    Effect.gen(function* () {
      let most = 12
      let answers = 0
      const server = yield* model(wire(compatible), () => (answers < most ? ((answers += 1), null) : { silent: true }))
      yield* Effect.promise(() => writeFile(join(cwd, "hostile.txt"), `${prompt} \u001b[2J\n`))
      const args = flags(server.url, "--out", "shown").with(1, "hostile.txt")
      const child = start(args, cwd, keys)
      yield* Effect.promise(async () => {
        await paid("shown", most)
        child.kill("SIGKILL")
        await once(child, "close")
      })
      const killed = yield* Effect.promise(() => shown("shown"))
      assert.match(killed.stdout, /^shown: running\.\nsearching · \d+ of 60 calls/u)
      assert.match(killed.stdout, /i0, given, in use +\d+ +[\d.]+ %/u)
      yield* Effect.promise(() => utimes(join(cwd, "shown", "events.jsonl"), 1, 1))
      assert.match((yield* Effect.promise(() => shown("shown"))).stdout, /^shown: not finished/u)

      most = Infinity
      const finished = yield* run([...args, "--json"])
      assert.strictEqual(finished.code, 0, finished.stderr)
      const result = JSON.parse(finished.stdout)
      for (const place of ["shown", "shown/events.jsonl"]) {
        const { calls, status, test, tried, verdict } = JSON.parse(
          (yield* Effect.promise(() => shown(place, "--json"))).stdout
        )
        assert.strictEqual(status, "finished")
        assert.deepStrictEqual(
          { verdict, calls, gain: test.gain, tried: tried.length },
          { verdict: result.verdict, calls: result.calls, gain: result.gain, tried: result.tried.length }
        )
      }
      const text = (yield* Effect.promise(() => shown("shown"))).stdout
      assert.match(text, /^shown: A better prompt\. On \d+ held-out cases/u)
      assert.include(text, "{+Answer in one word.+}")
      const lineage = (yield* Effect.promise(() => shown("shown", "--lineage"))).stdout
      assert.match(lineage, /i0: the one that was given/u)
      assert.match(lineage, /i\d, in use: from i0 after round \d+/u)
      for (const output of [killed.stdout, text, lineage]) {
        assert.notInclude(output, "\u001b")
        for (const line of output.split("\n")) assert.isAtMost(line.length, 80, line)
      }

      const events = yield* read("shown", "events.jsonl")
      const problem = (content: string) =>
        Effect.promise(async () => {
          await mkdir(join(cwd, "broken"), { recursive: true })
          await writeFile(join(cwd, "broken", "events.jsonl"), content)
          return shown("broken")
        })
      assertToldInOneParagraph(yield* problem("a,b\n"), 1, "is not the file of a search")
      assertToldInOneParagraph(yield* problem(""), 1, "no search has begun")
      assertToldInOneParagraph(yield* problem(events.replace('"score":', '"points":')), 1, "is not what was written")
      assertToldInOneParagraph(yield* Effect.promise(() => shown("cases.csv")), 1, "is not the file of a search")
      assertToldInOneParagraph(yield* Effect.promise(() => shown("shown", "shown")), 2, "is shown alone")
      assertToldInOneParagraph(yield* Effect.promise(() => shown("shown", "--report", "md")), 2, "report.md")
    })
  )

  it.live("never passes the budget in US dollars", () =>
    Effect.gen(function* () {
      const server = yield* model(wire(compatible))
      const prices = ["--price", "m=1000/1000", "--price", "p=0/0", "--max-tokens", "30", "--budget", "0.5"]
      const finished = yield* run(flags(server.url, "--out", "capped", "--proposer", `${server.url}#p`, ...prices))
      assert.strictEqual(finished.code, 0, finished.stderr)
      const paid = server.asked.filter(({ body }) => body.includes('"model":"m"')).length
      assert.isAtMost((paid * tokens) / 1000, 0.5)
      assert.isAbove((paid * tokens) / 1000, 0.4)
    })
  )

  it.live("plans without a request", () =>
    Effect.gen(function* () {
      const server = yield* model(wire(compatible))
      const planned = yield* run(flags(server.url, "--out", "planned", "--plan", "--price", "1/2"))
      assert.strictEqual(planned.code, 0, planned.stderr)
      assert.match(planned.stdout, /cases +14 to find a prompt, 10 held out/u)
      assert.match(planned.stdout, /at most 60 requests/u)
      assert.match(planned.stdout, /cost +\$\d+\.\d+ for the input alone/u)
      const unknown = yield* run(flags(server.url, "--plan"))
      assert.include(unknown.stdout.replaceAll(/\s+/gu, " "), "not known: give the prices")
      assert.isEmpty(server.asked)
      assert.notInclude(yield* Effect.promise(() => readdir(cwd)), "planned")
    })
  )

  it.live("scores by a judge, whose cost counts, and by a program", () =>
    Effect.gen(function* () {
      const exchange = wire(compatible)
      const server = yield* model(exchange, ({ body }) =>
        body.includes("You grade")
          ? { body: exchange.success(`So. <score>${body.includes("It is") ? 2 : 10}</score>`) }
          : null
      )
      yield* Effect.promise(() => writeFile(join(cwd, "rubric.txt"), "Only the word."))
      const judged = ["--score", "judge", "--rubric", "rubric.txt", "--price", "1000/1000", "--budget", "500"]
      const finished = yield* run(flags(server.url, "--out", "judged", "--json", ...judged))
      assert.strictEqual(finished.code, 0, finished.stderr)
      const result = JSON.parse(finished.stdout)
      assert.strictEqual(result.verdict, "better")
      assert.approximately(result.usd, (answered(server) * tokens) / 1000, 1e-6)

      const program =
        "let text='';process.stdin.on('data',(c)=>text+=c).on('end',()=>{const{output,expected,input}=JSON.parse(text);" +
        "console.log(JSON.stringify({score:Number(output.trim().toLowerCase()===expected&&input.startsWith('country: ')),feedback:'f'}))})"
      yield* Effect.promise(() => writeFile(join(cwd, "score.mjs"), program))
      const command = ["--score", "command", "--command", `${process.execPath} score.mjs`]
      const scored = yield* run(flags(server.url, "--out", "scored", "--json", ...command))
      assert.strictEqual(scored.code, 0, scored.stderr)
      assert.strictEqual(JSON.parse(scored.stdout).verdict, "better")
      const failing = yield* run(flags(server.url, "--out", "failing", "--score", "command", "--command", "false"))
      assertToldInOneParagraph(failing, 1, "ended with exit code 1")
    })
  )

  it.live("reads a promptfoo config, and keeps its placeholders", () =>
    Effect.gen(function* () {
      const template = "Capital of {{country}}?"
      const exchange = wire(hosted[0])
      const server = yield* model(exchange, ({ country }) =>
        country === null
          ? {
              body: exchange.success(
                `<ins_1>${good}</ins_1><ins_2>${template} ${good}</ins_2><ins_3>${template} Hm.</ins_3>`
              )
            }
          : null
      )
      const tests = Array.from({ length: 24 }, (_, id) => ({
        vars: { country: `Country-${id}` },
        assert: [{ type: "regex", value: "^\\s*(?i:yes)\\s*$" }]
      }))
      const config = { prompts: [template], providers: ["openai:chat:m"], tests }
      yield* Effect.promise(() => writeFile(join(cwd, "promptfooconfig.yaml"), JSON.stringify(config)))
      const place = ["--out", "promptfoo", "--json"]
      const args = ["evolve", "promptfooconfig.yaml", "--model", `openai+${server.url}#m`, "--calls", "60"]
      const finished = yield* run([...args, ...place])
      assert.strictEqual(finished.code, 0, finished.stderr)
      const result = JSON.parse(finished.stdout)
      assert.strictEqual(result.prompt, `${template} ${good}`)
      assert.include(JSON.stringify(result.rejected), "text-lost")
      const [first] = server.asked
        .filter(({ method }) => method === "POST")
        .map(({ body }) => JSON.parse(body).messages)
      assert.match(JSON.stringify(first), /^\[\{"role":"user","content":"Capital of Country-\d+\?"\}\]$/u)
    })
  )

  it.live.each([
    ["an unknown price", ["--budget", "2"], "the price of m is not known; expected --price IN/OUT"],
    ["a wrong price", ["--price", "cheap"], "--price is cheap; expected IN/OUT"],
    ["a wrong model", ["--model", "gpt"], "--model is gpt; expected openai:MODEL"],
    [
      "a key for no server",
      ["--api-key-env", "http://elsewhere.example=KEY"],
      "--api-key-env is http://elsewhere.example=KEY, whose address is not that of a model; expected http://127.0.0.1:"
    ],
    [
      "a key for a provider",
      ["--model", "openai:m", "--api-key-env", "KEY"],
      "--model is openai:m, whose provider has its own variable; expected URL=NAME"
    ],
    ["a key that is not set", ["--api-key-env", "NO_SUCH_KEY"], "NO_SUCH_KEY is not set"],
    ["a model that is not there", ["--model", "openai+http://127.0.0.1:1#m"], "did not answer"],
    [
      "a budget that pays no call",
      ["--budget", "0.001", "--price", "1/1"],
      "--budget is 0.001; expected at least 0.0041"
    ],
    ["too few calls", ["--calls", "5"], "--calls is 5; expected a whole number of at least 29"],
    ["a missing column", ["--expected", "answer"], 'cases.csv, row 1: there is no column "answer"'],
    ["no number", ["--score", "number"], 'cases.csv, row 1, column "expected" is "yes"; expected a number'],
    ["no rubric", ["--score", "judge"], "--rubric is missing"],
    [
      "a tolerance below 0",
      ["--score", "number", "--tolerance", "-1"],
      "--tolerance is -1; expected a number of at least 0"
    ],
    ["examples of patterns", ["--score", "pattern", "--examples"], "--examples is given with --score pattern"],
    ["a price to lower that is unknown", ["--aim", "cheaper"], "--aim is cheaper, and the price of m is not known"],
    [
      "a replacement that is to be better",
      ["--from", "openai+http://127.0.0.1:1#old", "--require", "better"],
      "--require is better; expected no-worse"
    ],
    ["a directory with other files", ["--out", "taken"], "--out is taken, which has other files"]
  ] as const)("says what is wrong: %s", ([, more, part]) =>
    Effect.gen(function* () {
      const server = yield* model(wire(compatible))
      yield* Effect.promise(() => mkdir(join(cwd, "taken", "file"), { recursive: true }))
      const out = more.some((one) => one === "--out") ? [] : ["--out", "refused"]
      assertToldInOneParagraph(yield* run(flags(server.url, ...out, ...more)), 2, part)
      assert.strictEqual(answered(server), 0)
      assert.notInclude(yield* Effect.promise(() => readdir(cwd)), "refused")
    })
  )
})
