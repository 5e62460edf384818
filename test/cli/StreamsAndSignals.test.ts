import { spawnSync } from "node:child_process"
import { once } from "node:events"
import { closeSync, existsSync, openSync } from "node:fs"
import { mkdtemp, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { endAll, inspo, main, testTimeout, sets, start } from "./Inspo.ts"
import { tinyRun, writeTinyModel } from "./TinyModel.ts"

let cwd = ""

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-streams-"))
  await Effect.runPromise(writeTinyModel(join(cwd, "model")))
})

afterAll(async () => {
  endAll()
  await rm(cwd, { recursive: true, force: true })
})

describe("output that nobody reads any more", { timeout: testTimeout, tags: "runs" }, () => {
  it("does not keep a run from its end, nor a command from exit code 0", async () => {
    const closed = await inspo(["run", "--out", "run", "--no-baseline", ...tinyRun], { cwd, closeWhen: () => true })
    assert.deepStrictEqual([closed.code, closed.stderr], [0, ""])
    assert.notInclude(closed.stdout, "step 3/3")
    assert.strictEqual((await readFile(join(cwd, "run/metrics.jsonl"), "utf8")).trim().split("\n").length, 3)

    const traces = await inspo(["data", "score", "run/traces.jsonl"], { cwd, closeWhen: () => true })
    assert.strictEqual(traces.code, 0, traces.stderr)
    const shown = start(["show", "run"], cwd)
    shown.stdout.destroy()
    shown.stderr.destroy()
    assert.deepStrictEqual(await once(shown, "close"), [0, null])
  })

  it.skipIf(!existsSync("/dev/full"))("is told and gives exit code 1 where it is lost", async () => {
    const full = openSync("/dev/full", "w")
    const planned = spawnSync(process.execPath, [main, "plan", "--json"], { cwd, stdio: ["ignore", full, "pipe"] })
    closeSync(full)
    assert.strictEqual(planned.status, 1)
    assert.match(planned.stderr.toString(), /^inspo: Standard output cannot be written: ENOSPC[^\n]+\n$/u)
  })
})

describe("a signal", { timeout: testTimeout, tags: "runs" }, () => {
  it.each(["SIGINT", "SIGTERM"] as const)("%s ends a long computation within a second", async (signal) => {
    const planning = start(["plan", ...sets("schedule.steps=1000000")], cwd)
    // Long enough to be in the middle of it.
    await setTimeout(4000)
    const sent = performance.now()
    planning.kill(signal)
    assert.deepStrictEqual(await once(planning, "close"), [null, signal])
    assert.isBelow(performance.now() - sent, 1000)
  })
})
