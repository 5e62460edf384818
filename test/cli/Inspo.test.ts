import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Summary } from "../../apps/cli/src/report/Summary.ts"
import { Effect, Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertToldInOneParagraph, endAll, inspo, main, testTimeout } from "./Inspo.ts"
import { tinyRun, writeTinyModel } from "./TinyModel.ts"

let cwd = ""
const decode = Schema.decodeSync(Schema.fromJsonString(Summary))
const read = (name: string) => readFile(join(cwd, name), "utf8")

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-cli-"))
  await Effect.runPromise(writeTinyModel(join(cwd, "model")))
  await writeFile(join(cwd, "corpus.jsonl"), '{"id":"a","contents":"\\"A\\"\\ntext"}\n')
  await writeFile(join(cwd, "empty.jsonl"), "")
  await writeFile(
    join(cwd, "few.jsonl"),
    '{"id":"1","question":"Who?","golden_answers":["A"],"data_source":"mine","metadata":{"split":"test"}}\n'
  )
  await writeFile(
    join(cwd, "malformed.jsonl"),
    '{"id":"1","question":"Who?","golden_answers":["A"],"data_source":"mine"}\n{"id":"2",\n'
  )
})

afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

describe("a run", { timeout: testTimeout, tags: "runs" }, () => {
  it("ends with one JSON line and its files, and continues after Ctrl-C to the same result", async () => {
    const whole = await inspo(["run", "--json", "--out", "runs/whole", ...tinyRun], { cwd })
    assert.strictEqual(whole.code, 0, whole.stderr)
    assert.match(whole.stdout, /^[^\n]+\n$/u)
    const summary = decode(whole.stdout)
    assert.strictEqual(summary.steps, 3)
    assert.strictEqual(summary.baseline?.source, "run")
    assert.include(["2", "4"], String(summary.evaluation.length))

    const stopped = await inspo(["run", "--out", "runs/stopped", ...tinyRun], {
      cwd,
      interruptWhen: (stdout) => stdout.includes("step 2/3")
    })
    assert.strictEqual(stopped.code, 130, stopped.stderr)
    assert.include(stopped.stdout, "resume runs/stopped")

    const resumed = await inspo(["resume", "runs/stopped", "--json"], { cwd })
    assert.strictEqual(resumed.code, 0, resumed.stderr)
    const again = decode(resumed.stdout)
    assert.deepStrictEqual(
      { ...again, runDir: "", wallSeconds: 0, baseline: null },
      { ...summary, runDir: "", wallSeconds: 0, baseline: null }
    )
    // The results file beside the runs knows the static arm already.
    assert.deepStrictEqual(again.baseline, { ...summary.baseline, source: "cache" })
    for (const file of ["metrics.jsonl", "candidates.json", "traces.jsonl", "best_instruction.txt"])
      assert.strictEqual(await read(`runs/stopped/${file}`), await read(`runs/whole/${file}`), file)
    assert.strictEqual((await read("runs/whole/metrics.jsonl")).trim().split("\n").length, 3)
    assert.include(await read("runs/whole/report.md"), "Strategies and settings")
    assert.include(await readdir(join(cwd, "runs/whole/checkpoints")), "step-000000.safetensors")

    const shown = await inspo(["show", "runs/stopped", "--json"], { cwd })
    assert.deepInclude(JSON.parse(shown.stdout), JSON.parse(resumed.stdout))
    const evaluated = await inspo(["eval", "runs/whole", "--questions", "3", "--json"], { cwd })
    assert.include(evaluated.stdout, '"n":3')

    await writeFile(join(cwd, "runs/stopped/journal.sqlite"), "no longer a journal")
    const corrupt = await inspo(["show", "runs/stopped"], { cwd })
    assert.strictEqual(corrupt.code, 1)
    assert.match(corrupt.stderr, /^inspo: [^\n]*journal\.sqlite[^\n]*\n$/u)
  })
})

describe("bad input", { timeout: testTimeout }, () => {
  const data = (questions: string) => ["--set", `data.questions=${questions}`, "--set", "data.corpus=corpus.jsonl"]
  it.each([
    ["an unknown flag", ["run", "--sed", "3"], 2, "--seed"],
    ["an unknown command", ["rum"], 2, "run"],
    ["a value apart from its setting", ["run", "--set", "schedule.steps", "5"], 2, "KEY=VALUE"],
    ["a wizard without a terminal", ["run", "--wizard"], 2, "--wizard needs a terminal"],
    [
      "a hosted chat model as the policy",
      ["run", "--set", "engine.url=https://api.openai.com/v1", "--set", "engine.model=gpt-5-mini"],
      2,
      "A chat model cannot be the engine"
    ],
    [
      "an OpenAI-compatible server that should train",
      ["plan", "--set", "engine.url=http://127.0.0.1:1/v1"],
      2,
      "engine.profile: completions"
    ],
    [
      "a check of a chat model",
      ["engine", "check", "https://api.openai.com/v1", "--protocol", "completions"],
      2,
      "A chat model cannot be the engine"
    ],
    [
      "shares of questions that are not there",
      ["run", ...data("few.jsonl"), "--set", "data.mix={mine: 1}"],
      2,
      "0 to train on"
    ],
    ["an unknown key", ["run", "--set", "schedule.step=3"], 2, "Did you mean schedule.steps?"],
    ["a negative size", ["run", "--set", "population.size=-1"], 2, "population.size is -1"],
    ["fields that contradict", ["run", "--set", "population.parents=9"], 2, "at most population.size (7)"],
    ["an unknown preset", ["run", "--preset", "quik"], 2, "Did you mean quick?"],
    ["a missing config file", ["run", "missing.yaml"], 2, "missing.yaml"],
    ["an empty question file", ["run", ...data("empty.jsonl")], 2, "empty.jsonl"],
    ["a malformed line", ["run", ...data("malformed.jsonl")], 2, "malformed.jsonl:2"],
    ["a directory that cannot be made", ["run", "--out", "corpus.jsonl/run"], 2, "corpus.jsonl/run"],
    ["a directory that can never be made", ["run", "--out", "/proc/inspo/run"], 2, "/proc/inspo/run"],
    ["a directory in use", ["run", "--out", "model"], 2, "not empty"],
    ["a missing model", ["run", "--set", "engine.model=nowhere"], 1, "nowhere"],
    ["a missing run", ["show", "nowhere"], 1, "nowhere"],
    ["a missing run to continue", ["resume", "nowhere"], 1, "nowhere"]
  ])("%s is told in one paragraph", async (_, args, code, part) => {
    const finished = await inspo([...args], { cwd })
    assertToldInOneParagraph(finished, code, part)
    assert.strictEqual(finished.stdout, "")
  })

  it("of a Node that is too old is named in one line", async () => {
    await writeFile(
      join(cwd, "old.mjs"),
      'Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } })'
    )
    const finished = await inspo(["show"], { cwd, env: { NODE_OPTIONS: `--import=${join(cwd, "old.mjs")}` } })
    await rm(join(cwd, "old.mjs"))
    assertToldInOneParagraph(finished, 2, "This is Node 20.20.2, expected 22.19 or later")
    const entry = await readFile(main, "utf8")
    assert.notMatch(entry, /^import /mu, "what old versions cannot load must not be loaded first")
  })

  it("leaves no run directory behind", async () => {
    const left = await readdir(cwd, { recursive: true })
    assert.deepStrictEqual(
      left.filter((name) => name.includes("quick")),
      []
    )
  })
})
