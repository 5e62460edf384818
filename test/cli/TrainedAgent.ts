/** The agent of the page that trains one from outside, with a world to be asked about. */
import { spawnSync } from "node:child_process"
import { readFile, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { assert } from "vitest"
import { blocksOf } from "../docs-examples/support/Documents.ts"
import { inspo, inspoServer } from "./Inspo.ts"

export const hasPython = spawnSync("python3", ["--version"]).status === 0

/** The flags of a world, and of the runs on it. */
export const presetOf = (name: string): ReadonlyArray<string> => ["--preset", name, "--seed", "2"]

/** Writes `search_agent.py` and `worker.py` of the page to a folder. */
export const writePrograms = async (cwd: string): Promise<void> => {
  const programs = blocksOf("docs/how-to/train-your-agent.md").filter(({ language }) => language === "python")
  for (const [index, name] of ["search_agent.py", "worker.py"].entries())
    await writeFile(join(cwd, name), programs[index]?.code ?? "")
}

/** The first address that a server has printed. */
export const urlIn = (ready: string): string => /http:\/\/[\d.:]+/u.exec(ready)?.[0] ?? ""

/** The address of a retriever over the world of a preset. */
export const retrieverOf = async (cwd: string, preset: string): Promise<string> => {
  const out = `world-${preset}`
  const world = await inspo(["data", "world", ...presetOf(preset), "--out", out], { cwd })
  assert.strictEqual(world.code, 0, world.stderr)
  return urlIn((await inspoServer(["retriever", "serve", `${out}/corpus.jsonl`, "--port", "0"], { cwd })).ready)
}

/** What a run wrote for each rollout, in an order that does not depend on when it ended. */
export const tracesOf = async (cwd: string, out: string): Promise<ReadonlyArray<string>> =>
  (await readFile(join(cwd, out, "traces.jsonl"), "utf8")).trim().split("\n").toSorted()
