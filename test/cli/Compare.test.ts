import { execFileSync } from "node:child_process"
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { once } from "node:events"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { exchanges } from "../../packages/reflection/test/fixtures/exchanges.ts"
import * as LocalServer from "../../packages/reflection/test/support/LocalServer.ts"
import { assertToldInOneParagraph, endAll, inspo, start, testTimeout } from "./Inspo.ts"

const control = "Name the capital."
const good = `${control} Answer in one word.`
const bad = `${control} Answer in verse.`
const count = 90

let cwd = ""
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-compare-cli-"))
  await writeFile(join(cwd, "prompt.txt"), `${control}\n`)
  await writeFile(join(cwd, "good.txt"), `${good}\n`)
  const rows = Array.from({ length: count }, (_, id) => `Country-${id},yes`)
  await writeFile(join(cwd, "cases.csv"), `country,expected\n${rows.join("\n")}\n`)
  const git = (...args: ReadonlyArray<string>) => execFileSync("git", args, { cwd, stdio: "ignore" })
  git("init", "--initial-branch=main")
  git("add", "prompt.txt")
  git("-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-m", "A prompt")
})
afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

const [exchange] = exchanges

/** A model that is right about every third country, about nearly all under a good prompt, and about none under a bad one. */
const model = () =>
  LocalServer.make((one) => {
    if (exchange === undefined) throw new Error("no exchange")
    if (one.method === "GET") return [{ body: JSON.stringify({ data: [{ id: "m" }, { id: "strong" }] }) }]
    const country = Number(/Country-(\d+)/u.exec(one.body)?.[1])
    const isGood = one.body.includes("one word") || one.body.includes('"strong"')
    const isRight = one.body.includes("in verse") ? false : isGood ? country % 30 > 0 : country % 3 === 0
    return [{ body: exchange.success(isRight ? "Yes" : "It is yes.") }]
  })

const flags = (url: string, ...more: ReadonlyArray<string>): ReadonlyArray<string> => [
  "compare",
  ...more,
  "--cases",
  "cases.csv",
  "--model",
  `${url}#m`,
  "--score",
  "exact"
]

const run = (args: ReadonlyArray<string>) => Effect.promise(() => inspo(args, { cwd }))
const read = (...path: ReadonlyArray<string>) => Effect.promise(() => readFile(join(cwd, ...path), "utf8"))
const write = (path: string, text: string) => Effect.promise(() => writeFile(join(cwd, path), text))
const asked = ({ asked: all }: LocalServer.LocalServer) => all.filter(({ method }) => method === "POST").length

describe("inspo compare", { timeout: testTimeout, tags: "runs" }, () => {
  it.live("says better, worse and undecided, in words, as JSON, as JUnit and in the exit status", () =>
    Effect.gen(function* () {
      const server = yield* model()
      const better = yield* run(
        flags(
          server.url,
          "git:main:prompt.txt",
          "good.txt",
          "--require",
          "better",
          "--json",
          "--out",
          "better",
          "--junit",
          "better.xml",
          "--markdown",
          "better.md"
        )
      )
      assert.strictEqual(better.code, 0, better.stderr)
      const result = JSON.parse(better.stdout)
      assert.deepStrictEqual([result.isMet, result.candidates[0].verdict], [true, "better"])
      assert.deepStrictEqual(JSON.parse(yield* read("better", "result.json")), result)
      assert.isBelow(result.calls, 2 * count)
      assert.match(yield* read("better.md"), /^# Better\n/u)
      assert.match(yield* read("better.xml"), /tests="1" failures="0"/u)
      assert.match(yield* read("better", "evidence.svg"), /^<svg/u)
      assert.deepInclude(JSON.parse((yield* run(["show", "better", "--json"])).stdout), {
        isDone: true,
        calls: result.calls,
        candidates: result.candidates
      })
      assert.strictEqual((yield* run(["show", "better"])).stdout.trim(), (yield* read("better", "report.md")).trim())

      const worse = yield* run(
        flags(server.url, "prompt.txt", bad, "--require", "no-worse", "--out", "worse", "--junit", "worse.xml")
      )
      assert.strictEqual(worse.code, 3, worse.stderr)
      assert.include(worse.stdout, "# Worse")
      assert.include(worse.stderr, "--require no-worse is not met")
      assert.match(yield* read("worse.xml"), /failures="1"[^]*<failure message="worse: /u)

      const undecided = yield* run(
        flags(server.url, "prompt.txt", "good.txt", "--require", "better", "--calls", "8", "--out", "short")
      )
      assert.strictEqual(undecided.code, 4, undecided.stderr)
      assert.include(undecided.stdout, "would decide")
      const unasked = yield* run(flags(server.url, "prompt.txt", "good.txt", "--calls", "8", "--out", "open"))
      assert.strictEqual(unasked.code, 0, unasked.stderr)
    })
  )

  it.live("compares models under one prompt, and a prompt with itself", () =>
    Effect.gen(function* () {
      const server = yield* model()
      const models = yield* run([
        ...flags(server.url, "prompt.txt", "--json", "--out", "models"),
        "--model",
        `${server.url}#strong`
      ])
      assert.strictEqual(models.code, 0, models.stderr)
      const { candidates } = JSON.parse(models.stdout)
      assert.deepStrictEqual(candidates[0].prompt, { prompt: control, model: `${server.url}#strong` })
      assert.strictEqual(candidates[0].verdict, "better")

      const self = yield* run(flags(server.url, "prompt.txt", "--aa", "--json", "--out", "self"))
      const [found] = JSON.parse(self.stdout).candidates
      assert.strictEqual(found.verdict, "no-worse")
      assert.deepInclude(found.noise, { difference: 0, falseAlarms: 0 })
    })
  )

  it.live("asks an agent outside, which scores its answers", () =>
    Effect.gen(function* () {
      const agent = `export const run = (prompt, { country }) => ({
        output: country,
        score: prompt.includes("one word") || country.endsWith("0") ? 1 : 0
      })`
      yield* Effect.promise(() => writeFile(join(cwd, "agent.mjs"), agent))
      const args = ["compare", "prompt.txt", "good.txt", "--cases", "cases.csv", "--agent", "./agent.mjs#run", "--json"]
      const finished = yield* run([...args, "--out", "outside"])
      assert.strictEqual(finished.code, 0, finished.stderr)
      assert.strictEqual(JSON.parse(finished.stdout).candidates[0].verdict, "better")
    })
  )

  it.live("includes protected cases, tokens and metrics in verdict and exit status", () =>
    Effect.gen(function* () {
      const server = yield* model()
      const rows = Array.from({ length: count }, (_, id) => `Country-${id},yes,${id === 30}`)
      yield* Effect.promise(() =>
        writeFile(join(cwd, "protected.csv"), `country,expected,protected\n${rows.join("\n")}\n`)
      )
      const losing = yield* run(
        flags(server.url, "prompt.txt", "good.txt", "--require", "better", "--out", "losing").map((one) =>
          one === "cases.csv" ? "protected.csv" : one
        )
      )
      assert.strictEqual(losing.code, 3, losing.stderr)
      assert.include(losing.stdout, "It fails 1 protected case that the control solves.")
      assert.include(losing.stdout, "Country-30")
      assert.isFalse(server.asked.some(({ body }) => body.includes("protected")))

      const bounded = yield* run(
        flags(
          server.url,
          "prompt.txt",
          "good.txt",
          "--at-most",
          "length=+0%",
          "--at-most",
          "tokens=+50%",
          "--require",
          "better",
          "--looks",
          "final",
          "--json",
          "--out",
          "bounded"
        )
      )
      assert.strictEqual(bounded.code, 3, bounded.stderr)
      const [found] = JSON.parse(bounded.stdout).candidates
      assert.deepStrictEqual(
        [found.verdict, ...found.constraints.map(({ isMet }: { readonly isMet: boolean }) => isMet)],
        ["worse", false, true]
      )
    })
  )

  it.live("pays no answer of an earlier comparison again", () =>
    Effect.gen(function* () {
      const server = yield* model()
      const cached = (candidate: string, out: string) =>
        Effect.map(
          run(
            flags(server.url, "prompt.txt", candidate, "--cache", "answers", "--looks", "final", "--json", "--out", out)
          ),
          ({ stdout }) => JSON.parse(stdout)
        )
      assert.strictEqual((yield* cached("good.txt", "first")).cached, 0)
      const before = asked(server)
      const second = yield* cached(bad, "second")
      assert.deepStrictEqual([second.cached, second.calls, asked(server) - before], [count, count, count])
      assert.include(yield* read("second", "report.md"), `${count} answers are those of earlier comparisons`)
    })
  )

  it.live("continues after a kill, and pays only for what was in flight a second time", () =>
    Effect.gen(function* () {
      const server = yield* model()
      const args = flags(server.url, "prompt.txt", "good.txt", "--looks", "final", "--json", "--out", "killed")
      const child = start(args, cwd)
      const closed = once(child, "close")
      yield* Effect.promise(async () => {
        for (let paid = 0; paid < 20; await setTimeout(10)) {
          const text = await readFile(join(cwd, "killed", "events.jsonl"), "utf8").catch(() => "")
          paid = text.match(/"_tag":"Obtained"/gu)?.length ?? 0
        }
        child.kill("SIGKILL")
        await closed
      })
      const finished = yield* run(args)
      assert.strictEqual(finished.code, 0, finished.stderr)
      const { calls, candidates, lost } = JSON.parse(finished.stdout)
      assert.strictEqual(candidates[0].verdict, "better")
      assert.isAtMost(calls, 2 * count + lost.calls)
      assert.isAtMost(asked(server), calls)
      const again = yield* run(args)
      assert.strictEqual(again.stdout, finished.stdout)
      assert.isAtMost(asked(server), calls)
    })
  )

  it.live("says how many cases are there again", () =>
    Effect.gen(function* () {
      const server = yield* model()
      const rows = (yield* read("cases.csv")).trim().split("\n")
      yield* write("twice.csv", [...rows, ...rows.slice(1, 31)].join("\n"))
      const given = flags(server.url, "prompt.txt", "good.txt", "--json", "--out", "twice")
      const { stdout } = yield* run(given.map((one) => (one === "cases.csv" ? "twice.csv" : one)))
      assert.deepInclude(JSON.parse(stdout).cases, { given: count, repeated: 30 })
      const search = ["evolve", "prompt.txt", "twice.csv", ...given.slice(8), "--sentences", "good.txt", "--json"]
      assert.strictEqual(JSON.parse((yield* run(search)).stdout).cases.repeated, 30)
    })
  )

  it.live("has a judge that labels of some answers show to be wrong, and corrects what it says", () =>
    Effect.gen(function* () {
      const server = yield* model()
      yield* run(flags(server.url, "prompt.txt", "good.txt", "--looks", "final", "--json", "--out", "judged"))
      const judge = (...args: ReadonlyArray<string>) => run(["judge", "judged", "--json", ...args])
      const first = yield* judge("--cases", "30")
      assert.deepInclude(JSON.parse(first.stdout), { answers: 60 })
      const [head = "", ...rows] = (yield* read("judged", "to-label.csv")).split("\n")
      // People find every second answer of the judge's right ones wrong.
      const label = (row: string, at: number) => row.replace(/""$/u, row.includes('"Yes"') && at % 2 === 0 ? "1" : "0")
      yield* write("judged/to-label.csv", [head, ...rows.map(label)].join("\n"))
      const { agreement, bias, candidates, labels } = JSON.parse((yield* judge()).stdout)
      assert.strictEqual(labels, 60)
      assert.isBelow(agreement.mean, 0.9)
      assert.isAbove(bias.lower, 0)
      assert.isBelow(candidates[0].corrected.mean, candidates[0].judged)
      assert.include((yield* run(["judge", "judged"])).stdout, "60 labels")

      yield* write("judged/to-label.csv", [head, ...rows].join("\n"))
      assertToldInOneParagraph(yield* run(["judge", "judged"]), 2, "has no label; expected scores from 0 to 1")
      for (const few of ["0", "-3"])
        assertToldInOneParagraph(
          yield* judge(`--cases=${few}`),
          2,
          `--cases is ${few}; expected a whole number above 0`
        )
      yield* write("judged/to-label.csv", [head, rows[0]?.replace(/""$/u, "2") ?? ""].join("\n"))
      assertToldInOneParagraph(yield* run(["judge", "judged"]), 2, "expected a score from 0 to 1")
      assertToldInOneParagraph(yield* run(["judge", "."]), 2, "holds no comparison")
    })
  )

  it.live("has a judge whose rubric is improved by the labels, on answers that the search does not see", () =>
    Effect.gen(function* () {
      if (exchange === undefined) throw new Error("no exchange")
      const clause = "Only one word counts as right."
      // A judge that finds all right until its rubric names what people look at; its proposer knows that, and a worse clause.
      const judging: Array<string> = []
      const server = yield* LocalServer.make(({ body, method }) => {
        if (method === "GET") return [{ body: JSON.stringify({ data: [{ id: "m" }] }) }]
        if (body.includes("<ins_1>"))
          return [
            {
              body: exchange.success(`<ins_1>Grade the town. ${clause}</ins_1><ins_2>Grade the town. Be kind.</ins_2>`)
            }
          ]
        if (!body.includes("<rubric>"))
          return [{ body: exchange.success(Number(/Country-(\d+)/u.exec(body)?.[1]) % 2 === 0 ? "Yes" : "It is yes.") }]
        judging.push(body)
        const isRight = !body.includes(clause) || body.includes("<answer>\\nYes\\n")
        return [{ body: exchange.success(`So it is. <score>${isRight ? 9 : 2}</score>`) }]
      })
      yield* write("rubric.txt", "Grade the town.")
      const judged = ["--score", "judge", "--rubric", "rubric.txt", "--looks", "final", "--out", "rubric"]
      const compared = flags(server.url, "prompt.txt", "good.txt").slice(0, -2)
      assert.strictEqual((yield* run([...compared, ...judged, "--json"])).code, 0)
      const asked = new Set(judging.splice(0))
      yield* run(["judge", "rubric", "--cases", "60"])
      const file = "rubric/to-label.csv"
      const [head = "", ...rows] = (yield* read(file)).split("\n")
      const label = (row: string) => row.replace(/""$/u, row.includes('"Yes"') ? "1" : "0.2")
      yield* write(file, [head, ...rows.slice(0, 100).map(label), ...rows.slice(100)].join("\n"))

      const evolve = ["evolve", "rubric.txt", file, "--model", `${server.url}#m`, "--score", "label"]
      const finished = yield* run([...evolve, "--out", "better-rubric", "--require", "better", "--json"])
      assert.strictEqual(finished.code, 0, finished.stderr)
      const { gain, prompt, verdict } = JSON.parse(finished.stdout)
      assert.deepStrictEqual([verdict, prompt], ["better", `Grade the town. ${clause}`])
      assert.isAbove(gain.lower, 0.2)
      // The judge is asked as in the comparison, byte for byte, but for the most tokens of a verdict.
      const text = (body: string) => body.replace(/"max(?:_completion)?_tokens":\d+/u, "")
      const known = new Set([...asked].map(text))
      const own = judging.filter((body) => !body.includes(clause) && !body.includes("kind"))
      assert.isAbove(own.length, 20)
      for (const body of own) assert.isTrue(known.has(text(body)), body)

      // The rubric is a prompt like others: the new one, compared with the old one on all labels.
      yield* write("new-rubric.txt", prompt)
      const again = ["compare", "rubric.txt", "new-rubric.txt", "--cases", file, ...evolve.slice(3), "--json"]
      assert.strictEqual(JSON.parse((yield* run(again)).stdout).candidates[0].verdict, "better")

      yield* write(file, [head, rows[0]?.replace(/""$/u, "2") ?? ""].join("\n"))
      assertToldInOneParagraph(yield* run([...evolve, "--out", "refused"]), 2, "expected a score from 0 to 1")
      assertToldInOneParagraph(yield* run([...evolve, "--agent", "python agent.py"]), 2, "--score label is given with")
    })
  )

  it.live.each([
    { args: ["prompt.txt"], says: "expected a second prompt" },
    { args: ["prompt.txt", "missing.txt"], says: "missing.txt cannot be read" },
    { args: ["prompt.txt", "git:nowhere:prompt.txt"], says: "expected git:REV:PATH" },
    { args: ["prompt.txt", "good.txt", "--aa"], says: "--aa compares a prompt with itself" },
    { args: ["prompt.txt", "good.txt", "--at-most", "usd"], says: "--at-most is usd" },
    { args: ["prompt.txt", "good.txt", "--margin", "0"], says: "--margin is 0" },
    {
      args: ["prompt.txt", "good.txt", "--budget", "0.00001", "--price", "1/1"],
      says: "--budget is 0.00001; expected at least"
    }
  ])("refuses $args in one paragraph, and starts nothing", ({ args, says }) =>
    Effect.gen(function* () {
      const server = yield* model()
      const finished = yield* run(flags(server.url, ...args, "--out", "refused"))
      assertToldInOneParagraph(finished, 2, says)
      assert.strictEqual(asked(server), 0)
    })
  )
})
