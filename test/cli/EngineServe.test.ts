import { spawn } from "node:child_process"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { endAll, inspo } from "./Inspo.ts"
import { writeTinyModel } from "./TinyModel.ts"

/** A run of a few seconds takes minutes on a machine that is busy with other things. */
const patience = 240_000

let cwd = ""
let stop = () => {}

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-engine-"))
  await Effect.runPromise(writeTinyModel(join(cwd, "model")))
})

afterAll(async () => {
  stop()
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

/** Starts `inspo engine serve` on a free port; its address, from the line it prints when it is ready. */
const served = () =>
  new Promise<string>((resolve, reject) => {
    const main = fileURLToPath(new URL("../../apps/cli/src/main.ts", import.meta.url))
    const child = spawn(process.execPath, [main, "engine", "serve", "--port", "0", "--model", "model"], { cwd })
    stop = () => child.kill("SIGINT")
    child.stdout.on("data", (chunk: Buffer) => {
      const [, url] = /^inspo-tiny at (\S+)\n$/u.exec(chunk.toString()) ?? []
      if (url === undefined) reject(new Error(`unexpected: ${chunk.toString()}`))
      else resolve(url)
    })
    child.stderr.on("data", (chunk: Buffer) => reject(new Error(chunk.toString())))
    child.on("error", reject)
  })

/** Training with a KL term, pruning, evolution and evaluation. */
const small = [
  "engine.model=model",
  "train.kl=advantages",
  "train.klCoefficient=0.01",
  "schedule.steps=2",
  "schedule.pruneEvery=2",
  "schedule.evolveEvery=2",
  "schedule.evolveUntil=2",
  "halving.minimumGroups=0",
  "population.size=4",
  "proposer.candidates=2",
  "verification.samples=2",
  "verification.rounds=1",
  "rollout.groupSize=2",
  "rollout.maxTurns=1",
  "train.batchSize=4",
  "train.miniBatchSize=2",
  "data.world.counts={train: 40, validation: 4, test: 8}",
  "evaluation.questions=4"
].flatMap((setting) => ["--set", setting])

describe("engine serve", { timeout: patience }, () => {
  it("gives a run the results of the embedded engine, bit by bit, over JSON and over protobuf", async () => {
    const url = await served()
    const run = async (name: string, ...settings: ReadonlyArray<string>) => {
      const args = ["run", "--quiet", "--no-baseline", "--out", name, ...small]
      const finished = await inspo([...args, ...settings.flatMap((setting) => ["--set", setting])], { cwd })
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
