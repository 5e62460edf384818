import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { ReferenceServer } from "./ReferenceServer.ts"
import { noPython } from "./Subject.ts"

const server = new ReferenceServer()
beforeAll(() => server.start())
afterAll(() => server.stop())

/** Leases once, reports 200 rewards in bursts, and ends. */
const program = (url: string): string => `
import { Inspo } from ${JSON.stringify(import.meta.resolve("@inspo/client"))}
const inspo = new Inspo({ urls: ["${url}"], timeout: 60_000 })
const lease = await inspo.lease("support", { n: 200, fallback: "" })
for (let sample = 0; sample < 200; sample++) {
  if (sample % 8 === 0) await new Promise((done) => setTimeout(done, 1))
  lease.reward(1, { sample })
}
`

/** Sends three rewards of two populations, and ends at once. */
const hasty = (url: string): string => `
import { Inspo } from ${JSON.stringify(import.meta.resolve("@inspo/client"))}
const inspo = new Inspo({ urls: ["${url}"] })
for (const population of ["support", "support", "other"]) inspo.reward(population, { lease: "l", value: 1 })
process.exit()
`

const hastyInPython = (url: string): string => `
from inspo_client import Inspo, Reward
inspo = Inspo(["${url}"])
for population in ["support", "support", "other"]:
    inspo.reward(population, Reward("l", value=1))
`

const lost = (output: string) => output.split("\n").filter((line) => /rewards wait at exit/u.test(line))

describe("a program that ends without a flush", () => {
  it("says how many rewards are lost where it ends before they are acknowledged, and does not go on for them", async () => {
    const began = performance.now()
    server.faults = ["hang", "hang", "hang"]
    const { stderr } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", hasty(server.url)])
    assert.deepStrictEqual(lost(stderr), [
      "inspo: support: lost: 2 rewards wait at exit; call flush() first",
      "inspo: other: lost: 1 rewards wait at exit; call flush() first"
    ])
    assert.isBelow(performance.now() - began, 5000)
  })

  it.skipIf(noPython !== null)("reports them in Python, too", async () => {
    server.faults = ["hang", "hang", "hang"]
    const { stderr } = await promisify(execFile)("python3", ["-c", hastyInPython(server.url)], {
      env: { ...process.env, PYTHONPATH: fileURLToPath(new URL("../../clients/python/src", import.meta.url)) }
    })
    assert.deepStrictEqual(lost(stderr), [
      "support: lost: 2 rewards wait at exit; call flush() first",
      "other: lost: 1 rewards wait at exit; call flush() first"
    ])
  })

  it("has sent its rewards to a server that answers, many per request", async () => {
    server.sent.length = 0
    server.faults = Array.from({ length: 40 }, () => ({ slow: 3 }))
    await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program(server.url)])
    assert.strictEqual(server.accepted.size, 200)
    assert.isBelow(server.sent.length, 20)
  })
})
