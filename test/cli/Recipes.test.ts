import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Recipes } from "@inspo/coevolution"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { endAll, inspo, inspoServer, sets, testTimeout } from "./Inspo.ts"

let [cwd, url] = ["", ""]

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-recipes-"))
  const { ready } = await inspoServer(["engine", "serve", "--port", "0"], { cwd })
  url = / at (\S+), checkpoints/u.exec(ready)?.[1] ?? ""
  assert.isNotEmpty(url, ready)
})

afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

/** Two passes over a step, so that the second has ratios other than 1. */
const short = sets("schedule.steps=3", "train.miniBatch.epochs=2", "train.learningRate=1e-2", "evaluation.questions=2")

/** This one keeps the KL term of the preset, which the loss of a server lacks. */
const given: Readonly<Record<string, ReadonlyArray<string>>> = { "reinforce++-baseline": sets("train.kl=advantages") }

const ended = async (code: number, ...args: ReadonlyArray<string>) => {
  const finished = await inspo(args, { cwd })
  assert.strictEqual(finished.code, code, finished.stderr)
  return finished
}

describe("a recipe", { timeout: testTimeout, tags: "runs" }, () => {
  it.each(Object.keys(Recipes.recipes))(
    "%s has the same results stopped and resumed, replayed, and in one piece over HTTP",
    async (method) => {
      const run = [
        "run",
        "--quiet",
        "--no-baseline",
        "--preset",
        "tiny",
        "--method",
        method,
        ...short,
        ...(given[method] ?? [])
      ]
      const stopped = await ended(1, ...run, "--out", method, ...sets("budget.rollouts=20"))
      assert.include(stopped.stderr, "budget.rollouts")
      await Promise.all([
        ended(0, "resume", method, "--quiet", ...sets("budget.rollouts=null")),
        ended(0, ...run, "--out", `${method}-served`, ...sets(`engine.url=${url}`))
      ])
      for (const file of ["candidates.json", "best_instruction.txt", "metrics.jsonl", "traces.jsonl"])
        assert.strictEqual(
          await readFile(join(cwd, `${method}-served`, file), "utf8"),
          await readFile(join(cwd, method, file), "utf8"),
          file
        )
      await ended(0, "replay", method)
    }
  )
})
