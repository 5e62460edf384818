import { once } from "node:events"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { assertToldInOneParagraph, endAll, inspo, inspoServer, testTimeout, sets } from "./Inspo.ts"
import { tinyRun, writeTinyModel } from "./TinyModel.ts"

const decodeReady = Schema.decodeSync(
  Schema.fromJsonString(Schema.Struct({ url: Schema.String, passages: Schema.Int, built: Schema.Boolean }))
)

let cwd = ""

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-retriever-"))
  await Effect.runPromise(writeTinyModel(join(cwd, "model")))
}, testTimeout)

afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

/** On the world of seed 5, without instructions to compare. */
const small = [
  ...tinyRun,
  ...sets(
    "randomSeed=5",
    "schedule.steps=2",
    "schedule.pruneEvery=0",
    "schedule.evolveEvery=0",
    "population.size=1",
    // Searches for the question whatever the policy, which knows nothing, would do.
    "rollout.agent=rag"
  )
]

/** Starts a server on a free port and gives its address once it is ready. */
const serve = async (corpus: string) => {
  const { child, ready } = await inspoServer(["retriever", "serve", corpus, "--port", "0", "--json", "--quiet"], {
    cwd
  })
  return { child, ready: decodeReady(ready) }
}

describe("a retriever", { timeout: testTimeout, tags: "runs" }, () => {
  it("serves the corpus of a world so that a run over it is the run in one process, to the bit", async () => {
    const written = await inspo(["data", "world", "--out", "world", ...small], { cwd })
    assert.strictEqual(written.code, 0, written.stderr)
    const { child, ready } = await serve("world/corpus.jsonl")
    assert.deepStrictEqual([ready.built, ready.passages], [true, 220])

    const runs = [
      ["here", []],
      ["there", ["--set", `retrieval.url=${ready.url}`]]
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
    ["a file that is no corpus", ["model/tokenizer.json"], 2, "tokenizer.json:1"]
  ] as const)("refuses %s in one paragraph", async (_, args, code, part) => {
    const finished = await inspo(["retriever", "serve", ...args, "--quiet"], { cwd })
    assertToldInOneParagraph(finished, code, part)
  })
})
