import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { Inspo } from "@inspo/client"
import { endAll } from "../cli/Inspo.ts"
import { report } from "./support/Attacks.ts"
import { answers, hostileServer } from "./support/HostileServer.ts"
import { attackAll } from "./support/AttackedServer.ts"

const isFuzz = Number(process.env["INSPO_FUZZ"] ?? 0) > 0 && existsSync("/proc/self/status")

describe.skipIf(!isFuzz)("named attacks, INSPO_FUZZ", () => {
  afterAll(endAll)

  it("leave honest clients served, the server alive and able to start again", { timeout: 240_000 }, async () => {
    const cwd = await mkdtemp(join(tmpdir(), "inspo-attacks-"))
    const faults: Array<string> = []
    try {
      await attackAll(cwd, 20_000, (outcome) => {
        process.stdout.write(`${report(outcome)}\n`)
        if (outcome.faults.length > 0) faults.push(report(outcome))
      })
    } finally {
      await rm(cwd, { recursive: true, force: true })
    }
    assert.deepStrictEqual(faults, [])
  })
})

describe.skipIf(!isFuzz)("a hostile answer, INSPO_FUZZ", () => {
  it.each(Object.keys(answers))("of %s neither blocks an agent nor throws into it", async (name) => {
    const server = await hostileServer(answers[name] ?? "")
    const told: Array<string> = []
    const inspo = new Inspo({ urls: [server.url], onProblem: ({ message }) => told.push(message) })
    try {
      const ticks: Array<number> = []
      const clock = setInterval(() => ticks.push(performance.now()), 5)
      const began = performance.now()
      const lease = await inspo.lease("support", { key: "a", fallback: "Be brief." })
      const took = performance.now() - began
      void lease.reward(1)
      clearInterval(clock)
      const gaps = ticks.map((tick, index) => tick - (ticks[index - 1] ?? began))
      assert.isBelow(took, 1000, "milliseconds for a lease")
      assert.isBelow(Math.max(0, ...gaps), 500, "milliseconds without a turn for anything else")
      // oxlint-disable-next-line no-control-regex
      assert.notMatch(told.join(""), /[\u0000-\u0008\u001B]/u)
    } finally {
      server.close()
    }
  })
})
