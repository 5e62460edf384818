import { existsSync } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, describe, it } from "vitest"
import { endAll } from "../cli/Inspo.ts"
import { report } from "./support/Attacks.ts"
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
