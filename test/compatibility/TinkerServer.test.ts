import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { ModelFolder } from "@inspo/engine-local"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { endAll, inspoServer } from "../cli/Inspo.ts"
import * as Foreign from "./support/Foreign.ts"

/** Milliseconds, most of which Python spends on its imports where it starts for the first time. */
const testTimeout = 600_000

let folder = ""
const started = new Set<ChildProcess>()

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "inspo-sdk-"))
})

afterAll(async () => {
  endAll()
  for (const child of started) child.kill("SIGKILL")
  await rm(folder, { recursive: true, force: true })
})

/** The embedded model, under the name of the folder with its tokenizer, which the SDK loads tokenizers by. */
const serve = async (port: number) => {
  const args = ["engine", "serve", "--port", String(port), "--name", ModelFolder.shipped, "--json"]
  const { child, ready } = await inspoServer(args, { cwd: folder })
  const [, url = ""] = /"url":"([^"]+)"/u.exec(ready) ?? []
  assert.isNotEmpty(url, ready)
  return { child, url }
}

/** Runs a program of this folder; `onLine` answers what it prints. Gives its last line. */
const python = async (
  program: string,
  args: ReadonlyArray<string>,
  onLine: (line: string, child: ChildProcess) => void = () => {}
) => {
  const child = spawn(
    Foreign.python,
    ["-W", "ignore", fileURLToPath(new URL(`./python/${program}.py`, import.meta.url)), ...args],
    { cwd: folder, env: { ...process.env, TINKER_API_KEY: "tml-local", HF_HUB_OFFLINE: "1", TINKER_TELEMETRY: "0" } }
  )
  started.add(child)
  let [stdout, stderr] = ["", ""]
  child.stderr.on("data", (chunk: Buffer) => (stderr += chunk.toString()))
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString()
    for (const line of chunk.toString().split("\n")) onLine(line, child)
  })
  const [code] = await once(child, "close")
  assert.strictEqual(code, 0, `${stdout.slice(-4000)}\n${stderr.slice(-4000)}`)
  return stdout.trimEnd().split("\n").at(-1) ?? ""
}

describe.skipIf(Foreign.problem !== null)(`engine serve (${Foreign.problem ?? "with foreign clients"})`, () => {
  it(
    "serves the Tinker SDK: losses, stops, checkpoints, resuming, listings, refusals",
    { timeout: testTimeout },
    async () => {
      const { child, url } = await serve(0)
      const result = await python("sdk", [url, ModelFolder.shipped])
      assert.match(result, /topk_prompt_logprobs is 5, expected/u)
      child.kill("SIGTERM")
      Foreign.record({
        software: "Tinker SDK",
        package: "tinker",
        what: "`inspo engine serve`: training, custom losses, sampling, tokenizer, resuming with and without the optimizer's state, listings, refusals"
      })
    }
  )

  it("serves recipes of tinker-cookbook, resumed after a restart of the server", { timeout: testTimeout }, async () => {
    let { child, url } = await serve(0)
    const restart = async (python: ChildProcess) => {
      child.kill("SIGKILL")
      await once(child, "close")
      child = (await serve(Number(new URL(url).port))).child
      python.stdin?.write("\n")
    }
    const result = await python("recipes", [url, ModelFolder.shipped, folder], (line, python) => {
      if (line === "restart") void restart(python)
    })
    // The last row of reinforcement learning holds totals.
    assert.strictEqual(result, '{"supervised": [0, 1, 2, 3], "arithmetic": [0, 1, 2, 3]}')
    child.kill("SIGTERM")
    Foreign.record({
      software: "tinker-cookbook",
      package: "tinker-cookbook",
      what: "`inspo engine serve`: supervised training and reinforcement learning (PPO with unequal clip bounds), resumed after a restart of the server"
    })
  })
})
