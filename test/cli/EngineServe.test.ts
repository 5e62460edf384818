import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdtemp, readFile, realpath, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { promisify } from "node:util"
import * as LocalEngine from "@inspo/engine-local"
import { Effect, Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as Served from "../../packages/engine-completions/test/support/Served.ts"
import { endAll, inspo, inspoServer, testTimeout, sets } from "./Inspo.ts"
import { tinyRun, writeTinyModel } from "./TinyModel.ts"

let cwd = ""

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-engine-"))
  await Effect.runPromise(writeTinyModel(join(cwd, "model")))
})

afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

/** Starts `inspo engine serve` on a free port; its address, from the line it prints when it is ready. */
const served = async () => {
  const { ready } = await inspoServer(["engine", "serve", "--port", "0", "--model", "model"], { cwd })
  const [, url = ""] = /^inspo-tiny at (\S+), checkpoints in \S+engine-checkpoints\n$/u.exec(ready) ?? []
  assert.isNotEmpty(url, ready)
  return url
}

/** The settings of a run on the served model. */
const at = (url: string) => [`engine.url=${url}`, "engine.model=null", "engine.tokenizer=model"]

const decodeAnswer = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown)))

/** Two updates a step, with a KL term. */
const small = [
  ...tinyRun,
  ...sets("train.kl={name: advantages, coefficient: 0.01}", "schedule.steps=2", "train.miniBatch.size=2")
]

describe("engine serve", { timeout: testTimeout, tags: "runs" }, () => {
  it("leaves a repository as clean as it was, and names clients an existing tokenizer", async () => {
    await promisify(execFile)("git", ["init", "--quiet", cwd])
    const { stdout: before } = await promisify(execFile)("git", ["status", "--short"], { cwd })
    const url = await served()
    const { stdout: after } = await promisify(execFile)("git", ["status", "--short"], { cwd })
    assert.strictEqual(after, before)
    const ask = async (path: string, body: object): Promise<Record<string, unknown>> => {
      const response = await fetch(`${url}/api/v1/${path}`, { method: "POST", body: JSON.stringify(body) })
      const answer = decodeAnswer(await response.text())
      if (typeof answer["request_id"] !== "string" || path === "retrieve_future") return answer
      return ask("retrieve_future", { request_id: answer["request_id"] })
    }
    const { session_id } = await ask("create_session", { tags: [], sdk_version: "test" })
    const { model_id } = await ask("create_model", { session_id, model_seq_id: 0, base_model: "inspo-tiny" })
    const { model_data } = await ask("get_info", { model_id })
    assert.deepInclude(model_data, { tokenizer_id: await realpath(join(cwd, "model")) })
    assert.isTrue(existsSync(join(cwd, "model", "tokenizer.json")))
  })

  it("is checked by every law; what does not train is not said to hold laws about training", async () => {
    const checking = Effect.gen(function* () {
      const url = yield* Served.listening("vllm")
      for (const base of [url, `${url}/v1`]) {
        const args = [
          "engine",
          "check",
          base,
          "--protocol",
          "completions",
          "--tokenizer",
          "model",
          "--tolerance",
          "0.001"
        ]
        const checked = yield* Effect.promise(() => inspo(args, { cwd }))
        assert.strictEqual(checked.code, 0, checked.stderr)
        assert.match(checked.stdout, /^skipped [^\n]*: the engine does not train$/mu)
        assert.match(checked.stdout, /^ok {6}training is refused/mu)
      }
    })
    const engine = LocalEngine.layer({ checkpoints: cwd, model: join(cwd, "model") })
    await Effect.runPromise(checking.pipe(Effect.scoped, Effect.provide(engine)))
  })

  it("gives a run the results of the embedded engine, bit by bit, over HTTP", async () => {
    const url = await served()
    const run = async (name: string, ...settings: ReadonlyArray<string>) => {
      const args = ["run", "--quiet", "--no-baseline", "--out", name, ...small]
      const finished = await inspo([...args, ...sets(...settings)], { cwd })
      assert.strictEqual(finished.code, 0, finished.stderr)
    }
    await run("local")
    await run("remote", ...at(url))
    for (const file of ["metrics.jsonl", "candidates.json", "traces.jsonl", "best_instruction.txt"])
      assert.strictEqual(
        await readFile(join(cwd, "remote", file), "utf8"),
        await readFile(join(cwd, "local", file), "utf8"),
        file
      )
  })

  it("serves a run at another address, with other retries and workers; other training is another run", async () => {
    const start = ["run", "--no-baseline", "--quiet", "--out", "moved", ...small, ...sets("budget.rollouts=12")]
    const stopped = await inspo([...start, ...sets(...at(await served()))], { cwd })
    assert.strictEqual(stopped.code, 1)
    assert.include(stopped.stderr, "budget.rollouts")
    const resume = (...settings: ReadonlyArray<string>) =>
      inspo(["resume", "moved", "--json", "--quiet", ...sets(...settings)], { cwd })
    const elsewhere = `engine.url=${await served()}`
    const refused = await resume(elsewhere, "train.loss.high=0.3")
    assert.strictEqual(refused.code, 2)
    assert.include(refused.stderr, "train.loss.high is 0.3, but was 0.2 when the run began")
    const finished = await resume(
      elsewhere,
      "engine.concurrency=1",
      "requests.timeoutSeconds=9",
      "requests.retries=1",
      "budget.rollouts=null"
    )
    assert.strictEqual(finished.code, 0, finished.stderr)
    for (const file of ["metrics.jsonl", "candidates.json"])
      assert.strictEqual(
        await readFile(join(cwd, "moved", file), "utf8"),
        await readFile(join(cwd, "local", file), "utf8"),
        file
      )
  })

  it("ends a run whose update is not finite by its step and the setting that mends it, embedded and over HTTP", async () => {
    const url = await served()
    for (const [name, settings] of [["diverged", []] as const, ["diverged-http", at(url)] as const]) {
      const args = ["run", "--quiet", "--no-baseline", "--out", name, ...small]
      const { code, stderr } = await inspo([...args, ...sets("train.learningRate=1e30", ...settings)], { cwd })
      assert.strictEqual(code, 1)
      assert.include(stderr, "the update of step 1 is not finite; lower train.learningRate")
    }
  })
})
