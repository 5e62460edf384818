import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { freePort } from "../cli/FreePort.ts"
import { type Ended, inspo, endAll, type Kill } from "../crash/support/Program.ts"
import * as Foreign from "./support/Foreign.ts"
import * as SkyRL from "./support/SkyRL.ts"

const software = "SkyRL (API server, JAX on a CPU)"
const record = (what: string) => Foreign.record({ software, package: "skyrl", what })

let cwd = ""
let port = 0
let server: SkyRL.Server

const guide = new URL("../../docs/connect-your-gpus.md", import.meta.url)

/** Runs the command line; where nothing killed it, the server has room for another model afterwards. */
const run = async (args: ReadonlyArray<string>, kill?: Kill): Promise<Ended> => {
  const ended = await inspo(args, cwd, kill)
  if (!ended.killed) assert.isTrue(await server.hasRoom(), `no room after inspo ${args.join(" ")}: ${ended.stderr}`)
  return ended
}

const settings = (url: string) =>
  [
    `engine.url=${url}`,
    "engine.profile=skyrl-jax",
    "engine.tokenizer=model",
    "engine.contextLength=512",
    "engine.loraRank=8",
    "train.kl=advantages",
    "schedule.steps=3",
    "schedule.evolveUntil=2",
    "rollout.maxTurns=0",
    "rollout.maxResponseTokens=8",
    "evaluation.questions=2",
    "checkpoint.every=1"
  ].flatMap((setting) => ["--set", setting])

describe.skipIf(Foreign.problem !== null)(`SkyRL ${Foreign.problem ?? ""}`, { timeout: 600_000 }, () => {
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "inspo-skyrl-"))
    await SkyRL.writeModel(join(cwd, "model"))
    port = await freePort()
    server = await SkyRL.start(cwd, join(cwd, "model"), port)
  }, 300_000)

  afterAll(async () => {
    endAll()
    SkyRL.endAll()
    await rm(cwd, { recursive: true, force: true })
  })

  it("satisfies every law of an engine, by the documented command", async () => {
    const [printed = ""] = /^inspo engine check .*--profile skyrl-jax.*$/mu.exec(await readFile(guide, "utf8")) ?? []
    const args = printed
      .replace("http://127.0.0.1:8000", server.url)
      .replace("qwen3-0.6b", "model")
      .split(/\s+/u)
      .slice(1)
    const checked = await run(args)
    assert.strictEqual(checked.code, 0, checked.stdout + checked.stderr)
    record("`inspo engine check` (all laws)")
  })

  it("gets each option by a flag", async () => {
    const check = ["engine", "check", server.url, "--tokenizer", "model"]
    const expected = [
      [[], "--profile is auto"],
      [["--profile", "skyrl-jax"], "set --context-length"],
      [["--profile", "skyrl-jax", "--context-length", "512"], "--lora-rank is 32"],
      [["--profile", "skyrl-jax", "--context-length", "512", "--model", "another"], "--model is another"]
    ] as const
    for (const [flags, problem] of expected) {
      const refused = await run([...check, ...flags])
      assert.strictEqual(refused.code, 1)
      assert.include(refused.stderr, problem)
    }
  })

  it("runs a co-evolution to its end, through a kill of either side", async () => {
    const start = ["run", "--preset", "tiny", "--no-baseline", "--out", "run", ...settings(server.url)]
    const killed = await run(start, { at: "event:StepTrained" })
    assert.isTrue(killed.killed, killed.stderr)
    assert.isFalse(await server.hasRoom(), "a killed session leaves its model")

    const resumed = inspo(["resume", "run", "--no-baseline"], cwd)
    while (!(await readFile(join(cwd, "run/metrics.jsonl"), "utf8")).includes('"step":1,')) await setTimeout(100)
    await server.kill()
    server = await SkyRL.start(cwd, join(cwd, "model"), port)
    const orphaned = await resumed
    assert.strictEqual(orphaned.code, 1, orphaned.stdout + orphaned.stderr)

    const ended = await run(["resume", "run", "--no-baseline"])
    assert.strictEqual(ended.code, 0, ended.stdout + ended.stderr)
    for (const { stderr } of [orphaned, ended])
      assert.notInclude(stderr, "Maximum number", "nobody had to wait for room")
    const candidates = await readFile(join(cwd, "run/candidates.json"), "utf8")
    assert.include(candidates, '"fate": "pruned"')
    assert.include(candidates, '"verification": {', "candidates were proposed and tried")
    record("`inspo run` and `resume` with pruning and evolution, after `kill -9` of either side")
  })
})
