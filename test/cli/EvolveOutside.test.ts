import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync } from "node:fs"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { setTimeout } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { exchanges } from "../../packages/reflection/test/fixtures/exchanges.ts"
import * as LocalServer from "../../packages/reflection/test/support/LocalServer.ts"
import { assertToldInOneParagraph, endAll, inspo, main, start, testTimeout } from "./Inspo.ts"

const secret = "a-secret-that-must-not-be-seen"
const prompt = "Name the capital."
const good = "Answer in one word."

/** Answers a third of the cases, and all under a good prompt; the country says what else a call does. */
const answering = `
import { appendFileSync } from "node:fs"
export const run = (prompt, { country, expected }) => {
  const isRight = Number(country.split("-")[1]) % 3 === 0 || prompt.includes(${JSON.stringify(good)})
  return { output: isRight ? expected : "It is yes.", score: Number(isRight), feedback: isRight ? "Right." : "Too long.", usd: 0.01 }
}
`
const program = `
import { appendFileSync } from "node:fs"
import { createInterface } from "node:readline"
import { run } from "./run.mjs"
console.error("the key is " + process.env.AGENT_KEY)
createInterface({ input: process.stdin }).on("line", (line) => {
  const call = JSON.parse(line)
  appendFileSync(process.argv[2], call.id + "\\n")
  const fault = process.argv[3] === undefined || call.prompt.includes("${good}") ? "" : process.argv[3]
  if (fault !== "" && call.case.country === "Country-1") {
    if (fault === "crash") process.exit(3)
    if (fault === "hang") return
    if (fault === "wrong-id") call.id = "another"
    if (fault === "huge") return process.stdout.write('{"id":"x' + "x".repeat(100_000_000))
  }
  console.log(JSON.stringify({ id: call.id, ...run(call.prompt, call.case) }))
})
`

let cwd = ""
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-evolve-outside-"))
  await writeFile(join(cwd, "prompt.txt"), `${prompt}\n`)
  const rows = Array.from({ length: 24 }, (_, id) =>
    JSON.stringify({ country: `Country-${id}`, expected: "yes", n: id })
  )
  await writeFile(join(cwd, "cases.jsonl"), rows.join("\n"))
  await writeFile(join(cwd, "sentences.txt"), `Be polite.\n${good}\n`)
  await writeFile(join(cwd, "run.mjs"), answering)
  await writeFile(join(cwd, "agent.mjs"), program)
})
afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

const flags = (agent: string, ...more: ReadonlyArray<string>) => [
  "evolve",
  "prompt.txt",
  "cases.jsonl",
  "--agent",
  agent,
  "--calls",
  "60",
  "--json",
  ...(more.includes("--proposer") ? [] : ["--sentences", "sentences.txt"]),
  ...more
]
const env = { AGENT_KEY: secret }
const run = (args: ReadonlyArray<string>) => Effect.promise(() => inspo(args, { cwd, env }))
const read = (...path: ReadonlyArray<string>) =>
  Effect.promise(() => readFile(join(cwd, ...path), "utf8").catch(() => ""))
const node = (...args: ReadonlyArray<string>) => [process.execPath, "agent.mjs", ...args].join(" ")

const assertBetter = (finished: { readonly code: number | null; readonly stdout: string; readonly stderr: string }) => {
  assert.strictEqual(finished.code, 0, finished.stderr)
  const result = JSON.parse(finished.stdout)
  assert.strictEqual(result.verdict, "better")
  assert.include(result.prompt, good)
  return result
}

describe("inspo evolve --agent", { timeout: testTimeout, tags: "runs" }, () => {
  it.live("finds a better prompt for a program, whose scores, feedback and prices count", () =>
    Effect.gen(function* () {
      const [compatible] = exchanges
      assert.isDefined(compatible)
      const asked: Array<string> = []
      const server = yield* LocalServer.make(({ body, method }) => {
        if (method === "GET") return [{ body: JSON.stringify({ data: [{ id: "p" }] }) }]
        asked.push(body)
        return [{ body: compatible.success(`<ins_1>${prompt} ${good}</ins_1><ins_2>${prompt} Be polite.</ins_2>`) }]
      })
      const finished = yield* run(flags(node("program.calls"), "--proposer", `${server.url}#p`, "--out", "program"))
      const result = assertBetter(finished)
      assert.strictEqual(result.agent, node("program.calls"))
      assert.isNull(result.model)
      assert.isAtLeast(result.usd, 0.01 * result.calls - 1e-9)
      assert.isTrue(asked.some((body) => body.includes("Too long.")))
      assert.lengthOf((yield* read("program.calls")).trim().split("\n"), result.calls)
      assert.strictEqual(yield* read("program", "agent.log"), "the key is REDACTED\n")
      for (const file of ["events.jsonl", "result.json", "report.md"])
        assert.notInclude(yield* read("program", file), secret)
    })
  )

  it.live("asks an address, which may fail for a while, and a function", () =>
    Effect.gen(function* () {
      let made = 0
      const { run: answer } = yield* Effect.promise(() => import(join(cwd, "run.mjs")))
      const server = yield* LocalServer.make(({ body }) => {
        made += 1
        if (made % 20 === 3) return [{ status: 503, body: "busy" }]
        const call = JSON.parse(body)
        return [{ body: JSON.stringify(answer(call.prompt, call.case)) }]
      })
      const address = server.url.replace("http://", "http://me:password-of-mine@")
      assertBetter(yield* run(flags(`${address}/run`, "--out", "address")))
      for (const file of ["events.jsonl", "result.json"])
        assert.notInclude(yield* read("address", file), "password-of-mine")
      const [scored, own] = [assertBetter(yield* run(flags("./run.mjs#run", "--out", "function"))), 60]
      assert.isAtMost(scored.calls, own)
      assertToldInOneParagraph(
        yield* run(flags("./run.mjs#other", "--out", "none")),
        2,
        "expected a function that ./run.mjs exports"
      )
    })
  )

  it.live("starts nothing for a plan, and shows what it would start", () =>
    Effect.gen(function* () {
      const planned = yield* run(flags(node("plan.calls"), "--plan", "--workers", "3"))
      assert.strictEqual(planned.code, 0, planned.stderr)
      assert.strictEqual(JSON.parse(planned.stdout).outside, `runs the program ${node("plan.calls")}, 3 times`)
      assert.isFalse(existsSync(join(cwd, "plan.calls")))
    })
  )

  it.live.each(["crash", "hang", "wrong-id", "huge"])("a fault costs one call, not the search: %s", (fault) =>
    Effect.gen(function* () {
      const finished = yield* run(flags(node(`${fault}.calls`, fault), "--out", fault, "--timeout", "3"))
      assertBetter(finished)
      const missed = (yield* read(fault, "events.jsonl")).match(/"_tag":"Missed","prompt":"[^"]*","case":\d+/gu) ?? []
      assert.isNotEmpty(missed)
      for (const one of missed) assert.match(one, /"case":1$/u)
    })
  )

  it.live("loses nothing when it is killed, and pays for no answer twice", () =>
    Effect.gen(function* () {
      const args = flags(node("killed.calls"), "--out", "killed")
      for (const least of [5, 20, 35]) {
        yield* Effect.promise(async () => {
          const child = start(args, cwd, env)
          const ended = once(child, "close")
          const obtained = async () =>
            (await readFile(join(cwd, "killed/events.jsonl"), "utf8").catch(() => "")).match(/"_tag":"Obtained"/gu)
              ?.length ?? 0
          while ((await obtained()) < least && child.exitCode === null) await setTimeout(5)
          child.kill("SIGKILL")
          await ended
        })
      }
      const result = JSON.parse((yield* run(args)).stdout)
      const calls = (yield* read("killed.calls")).trim().split("\n")
      const answered = (yield* read("killed", "events.jsonl")).match(/"_tag":"Obtained"/gu)?.length ?? 0
      assert.isAtMost(calls.length, result.calls)
      // What was asked twice was in flight at a kill; no answer that is in the file was.
      assert.isAtMost(calls.length - answered, result.lost.calls)
      assert.isAtMost(result.calls, 60)
    })
  )

  it.live("lets the process that starts it answer and write prompts, and ends with it", () =>
    Effect.gen(function* () {
      const { run: answer } = yield* Effect.promise(() => import(join(cwd, "run.mjs")))
      const args = flags("-", "--proposer", "-", "--out", "parent")
      const told = yield* Effect.promise(async () => {
        const child = spawn(process.execPath, [main, ...args], { cwd, stdio: ["pipe", "pipe", "ignore"] })
        let answers = 0
        createInterface({ input: child.stdout }).on("line", (line) => {
          const { case: input, id, prompt: asked, request } = JSON.parse(line)
          if (id === undefined) return
          const output = `<ins_1>${prompt} ${good}</ins_1><ins_2>${prompt} Be polite.</ins_2>`
          const found = request === undefined ? answer(asked, input) : { output }
          answers += 1
          if (answers > 25) child.stdin.end()
          else child.stdin.write(`${JSON.stringify({ id, ...found })}\n`)
        })
        const [code] = await once(child, "close")
        assert.strictEqual(code, 1)
        return answers
      })
      assert.isAtLeast(told, 26)
      const events = yield* read("parent", "events.jsonl")
      assert.isAtLeast(events.match(/"_tag":"(?:Obtained|Written)"/gu)?.length ?? 0, 24)
      assert.notInclude(events, '"_tag":"Missed"')
    })
  )

  it.live.each([
    [["--agent", ""], "--agent is"],
    [["--agent", "python a.py", "--workers", "0"], "--workers is 0"],
    [["--agent", "python a.py"], "--proposer is missing"]
  ] as const)("refuses %s", ([more, part]) =>
    Effect.gen(function* () {
      const finished = yield* run(["evolve", "prompt.txt", "cases.jsonl", ...more, "--out", "refused"])
      assertToldInOneParagraph(finished, 2, part)
    })
  )
})
