import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect, Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { endAll, inspo } from "./Inspo.ts"
import { writeTinyModel } from "./TinyModel.ts"

/** A run of a few seconds takes minutes on a machine that is busy with other things. */
const patience = 240_000

const main = fileURLToPath(new URL("../../apps/cli/src/main.ts", import.meta.url))
const decodeReady = Schema.decodeSync(
  Schema.fromJsonString(Schema.Struct({ url: Schema.String, passages: Schema.Int, built: Schema.Boolean }))
)

let cwd = ""
let server: ChildProcess | null = null

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-retriever-"))
  await Effect.runPromise(writeTinyModel(join(cwd, "model")))
}, patience)

afterAll(async () => {
  server?.kill("SIGKILL")
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

/** A run of seconds on the world of seed 5. */
const small = [
  "engine.model=model",
  "seed=5",
  "schedule.steps=2",
  "schedule.pruneEvery=0",
  "schedule.evolveEvery=0",
  "population.size=1",
  "rollout.groupSize=2",
  // Searches for the question whatever the policy, which knows nothing, would do.
  "rollout.agent=rag",
  "train.batchSize=4",
  "train.miniBatchSize=4",
  "data.world.counts={train: 40, validation: 4, test: 8}",
  "evaluation.questions=4"
].flatMap((setting) => ["--set", setting])

/** Starts a server on a free port and gives its address once it is ready. */
const serve = async (corpus: string) => {
  const child = spawn(process.execPath, [main, "retriever", "serve", corpus, "--port", "0", "--json"], {
    cwd,
    stdio: ["ignore", "pipe", "ignore"]
  })
  server = child
  const [line] = await once(child.stdout, "data")
  return { child, ready: decodeReady(String(line)) }
}

describe("a retriever", { timeout: patience }, () => {
  it("serves the corpus of a world so that a run over it is the run in one process, to the bit", async () => {
    const written = await inspo(["data", "world", "--out", "world", ...small], { cwd })
    assert.strictEqual(written.code, 0, written.stderr)
    const { child, ready } = await serve("world/corpus.jsonl")
    assert.deepStrictEqual([ready.built, ready.passages], [true, 220])

    const runs = [
      ["here", []],
      ["there", ["--set", `retrieval.url=${ready.url}`, "--set", "retrieval.batchSize=3"]]
    ] as const
    for (const [name, where] of runs) {
      const args = ["run", "--json", "--no-baseline", "--out", name, ...small, ...where]
      const finished = await inspo(args, { cwd })
      assert.strictEqual(finished.code, 0, finished.stderr)
    }
    assert.include(await readFile(join(cwd, "there", "traces.jsonl"), "utf8"), '"toolCalls":1')
    for (const file of ["metrics.jsonl", "traces.jsonl"])
      assert.strictEqual(
        await readFile(join(cwd, "there", file), "utf8"),
        await readFile(join(cwd, "here", file), "utf8")
      )

    child.kill("SIGTERM")
    const [code] = await once(child, "exit")
    assert.strictEqual(code, 130)
    const again = await serve("world/corpus.jsonl")
    assert.isFalse(again.ready.built)
    again.child.kill("SIGINT")
    await once(again.child, "exit")
  })

  it.each([
    ["an address others can reach", ["model/tokenizer.json", "--host", "0.0.0.0"], 2, "--api-key-env"],
    ["a file that is no corpus", ["model/tokenizer.json"], 1, "tokenizer.json:1"]
  ] as const)("refuses %s in one paragraph", async (_, args, code, part) => {
    const finished = await inspo(["retriever", "serve", ...args, "--quiet"], { cwd })
    assert.strictEqual(finished.code, code, finished.stderr)
    assert.match(finished.stderr, /^inspo: [^\n]+\n$/u)
    assert.include(finished.stderr, part)
  })
})
