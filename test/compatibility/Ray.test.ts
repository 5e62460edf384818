import { spawn } from "node:child_process"
import { once } from "node:events"
import { cp, mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { endAll, inspo, sets, start, testTimeout } from "../cli/Inspo.ts"
import { presetOf, retrieverOf, tracesOf, writePrograms } from "../cli/TrainedAgent.ts"
import * as Foreign from "./support/Foreign.ts"

const program = fileURLToPath(new URL("../../examples/ray/workers.py", import.meta.url))
const gateway = 8233

describe.skipIf(Foreign.problem !== null)("Ray", { timeout: 2 * testTimeout }, () => {
  let cwd = ""
  let retriever = ""
  beforeAll(async () => {
    cwd = await mkdtemp(join(tmpdir(), "inspo-ray-"))
    await cp(program, join(cwd, "workers.py"))
    await writePrograms(cwd)
    retriever = await retrieverOf(cwd, "tiny")
  }, testTimeout)
  afterAll(async () => {
    endAll()
    await rm(cwd, { recursive: true, force: true })
  })

  const flags = (out: string, agent: string) => {
    const settings = sets("schedule.steps=4", "evaluation.questions=20", "rollout.agent.timeout=30")
    return ["run", "--agent", agent, ...presetOf("tiny"), "--no-baseline", ...settings, "--out", out]
  }
  const traces = (out: string) => tracesOf(cwd, out)

  it("tasks give the rollouts of one program, also where a worker and the gateway are killed", async () => {
    const whole = await inspo(flags("whole", `python3 search_agent.py ${retriever}`), { cwd })
    assert.strictEqual(whole.code, 0, whole.stderr)
    const tasks = spawn(Foreign.python, ["workers.py", retriever, `http://127.0.0.1:${gateway}`], {
      cwd,
      env: { ...process.env, RAY_DEDUP_LOGS: "0", PYTHONUNBUFFERED: "1" },
      stdio: ["ignore", "pipe", "ignore"]
    })
    const processes = new Set<number>()
    tasks.stdout.on("data", (chunk: Buffer) => {
      for (const [, id] of chunk.toString().matchAll(/plays episodes in process (\d+)/gu)) processes.add(Number(id))
    })
    let killed: number | undefined
    try {
      const child = start(flags("tasks", `:${gateway}`), cwd)
      let shown = ""
      child.stdout.on("data", (chunk: Buffer) => {
        shown += chunk.toString()
        if (killed === undefined && shown.includes("step 1/4")) {
          ;[killed] = processes
          if (killed !== undefined) process.kill(killed, "SIGKILL")
        }
        if (shown.includes("step 2/4")) child.kill("SIGKILL")
      })
      await once(child, "close")
      const resumed = await inspo(["resume", "tasks"], { cwd })
      assert.strictEqual(resumed.code, 0, resumed.stderr)
    } finally {
      tasks.kill()
    }
    assert.deepStrictEqual(await traces("tasks"), await traces("whole"))
    assert.isDefined(killed)
    // Four tasks, and the one that began again.
    assert.isAbove(processes.size, 4)
    Foreign.record({
      software: "Ray",
      package: "ray",
      what: "tasks play the episodes of `inspo run`; a worker and the gateway are killed",
      registry: "PyPI"
    })
  })
})
