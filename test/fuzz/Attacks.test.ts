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
import { attackClients } from "./support/AttackedClients.ts"

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

describe.skipIf(!isFuzz)("hostile answers, INSPO_FUZZ", () => {
  it("neither block an agent nor throw into it, and the server after them is asked", { timeout: 240_000 }, async () => {
    const faults: Array<string> = []
    await attackClients(5000, (outcome) => void faults.push(...outcome.faults))
    assert.deepStrictEqual(faults, [])
  })

  it.each(Object.keys(answers))(
    "of %s are refused within 200 ms, and shown without control characters",
    async (name) => {
      const server = await hostileServer(answers[name] ?? "")
      const told: Array<string> = []
      try {
        const took: Array<number> = []
        for (let round = 0; round < 20 && Math.min(...took) >= 200; round++) {
          const inspo = new Inspo({ urls: [server.url], timeout: 2000, onProblem: ({ message }) => told.push(message) })
          const began = performance.now()
          const lease = await inspo.lease("support", { key: "a", fallback: "Be brief." })
          took.push(performance.now() - began)
          void lease.reward(1)
        }
        // The quickest: others wait for what else the machine does.
        assert.isBelow(Math.min(...took), 200, "milliseconds for a lease")
        assert.isNotEmpty(told)
        // oxlint-disable-next-line no-control-regex
        assert.notMatch(told.join(""), /[\u0000-\u0008\u001B]/u)
      } finally {
        server.close()
      }
    }
  )
})
