import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { ReferenceServer } from "./ReferenceServer.ts"

const server = new ReferenceServer()
beforeAll(() => server.start())
afterAll(() => server.stop())

/** Leases once, tells 200 rewards in bursts, and has nothing more to do. */
const program = (url: string): string => `
import { Inspo } from ${JSON.stringify(import.meta.resolve("@inspo/client"))}
const inspo = new Inspo({ urls: ["${url}"], timeout: 60_000 })
const lease = await inspo.lease("support", { n: 200, fallback: "" })
for (let sample = 0; sample < 200; sample++) {
  if (sample % 8 === 0) await new Promise((done) => setTimeout(done, 1))
  lease.reward(1, { sample })
}
`

describe("a program that ends without a flush", () => {
  it("has told its rewards to a server that answers, many by one request", async () => {
    server.faults = Array.from({ length: 40 }, () => ({ slow: 3 }))
    await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program(server.url)])
    assert.strictEqual(server.accepted.size, 200)
    assert.isBelow(server.sent.length, 20)
  })
})
