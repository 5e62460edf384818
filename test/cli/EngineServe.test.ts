import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { endAll, inspo, inspoServer, patience, sets } from "./Inspo.ts"
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
  const [, url = ""] = /^inspo-tiny at (\S+)\n$/u.exec(ready) ?? []
  assert.isNotEmpty(url, ready)
  return url
}

/** Two updates a step, with a KL term. */
const small = [
  ...tinyRun,
  ...sets("train.kl=advantages", "train.klCoefficient=0.01", "schedule.steps=2", "train.miniBatchSize=2")
]

describe("engine serve", { timeout: patience }, () => {
  it("gives a run the results of the embedded engine, bit by bit, over JSON and over protobuf", async () => {
    const url = await served()
    const run = async (name: string, ...settings: ReadonlyArray<string>) => {
      const args = ["run", "--quiet", "--no-baseline", "--out", name, ...small]
      const finished = await inspo([...args, ...sets(...settings)], { cwd })
      assert.strictEqual(finished.code, 0, finished.stderr)
    }
    await run("local")
    for (const encoding of ["json", "protobuf"]) {
      await run(encoding, `engine.url=${url}`, `engine.encoding=${encoding}`)
      for (const file of ["metrics.jsonl", "candidates.json", "traces.jsonl", "best_instruction.txt"])
        assert.strictEqual(
          await readFile(join(cwd, encoding, file), "utf8"),
          await readFile(join(cwd, "local", file), "utf8"),
          `${encoding} ${file}`
        )
    }
  })
})
