import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { afterAll, afterEach, assert, beforeAll, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import type { Event } from "../../packages/evolve/src/Event.ts"
import * as Log from "../../packages/evolve/src/Log.ts"
import { make, most, type PaidServer } from "../../packages/evolve/test/support/PaidServer.ts"

let directory = ""
const children = new Set<ChildProcess>()
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "inspo-evolve-kills-"))
})
afterEach(() => {
  for (const child of children) child.kill("SIGKILL")
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const program = fileURLToPath(new URL("../../packages/evolve/test/support/SearchProcess.ts", import.meta.url))
const budget = { calls: 90, usd: 1.6, concurrency: 4 }

const start = (url: string, file: string) => {
  const child = spawn(process.execPath, [program, url, file, JSON.stringify({ ...budget, most })], {
    stdio: ["ignore", "pipe", "pipe"]
  })
  children.add(child)
  child.on("close", () => children.delete(child))
  let [out, error] = ["", ""]
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on("data", (chunk: Buffer) => (error += chunk.toString()))
  return { child, closed: once(child, "close").then(([code]) => ({ code, out, error })) }
}

const eventsOf = async (file: string): Promise<ReadonlyArray<Event>> => {
  const text = await readFile(file, "utf8").catch(() => "")
  return text
    .slice(0, text.lastIndexOf("\n") + 1)
    .split("\n")
    .slice(1, -1)
    .flatMap((line): ReadonlyArray<{ readonly payload: Event }> => JSON.parse(line).events)
    .map(({ payload }) => payload)
    .slice(1)
}

/** Until every call that was started has reached the server, and waits there. */
const quiet = async (server: PaidServer, file: string) => {
  for (let same = 0; same < 3;) {
    await setTimeout(20)
    same = server.held() > 0 && Log.inFlight(await eventsOf(file)).length === server.held() ? same + 1 : 0
  }
}

/** Makes a search whose processes are killed, each after so many requests. */
const killed = async (name: string, seed: number, kills: ReadonlyArray<{ after: number; isQuiet: boolean }>) => {
  const server = await make(seed)
  const file = join(directory, `${name}.jsonl`)
  await rm(file, { force: true })
  for (const { after, isQuiet } of kills) {
    const reached = server.serve(after)
    const { child, closed } = start(server.url, file)
    await Promise.race([reached.then(() => (isQuiet ? quiet(server, file) : undefined)), closed])
    child.kill("SIGKILL")
    await closed
  }
  void server.serve(Infinity)
  const { code, error, out } = await start(server.url, file).closed
  assert.strictEqual(code, 0, error)
  server.close()
  return { server, result: JSON.parse(out), calls: server.received["/agent"] ?? 0, file }
}

describe("a search whose processes are killed", { tags: "runs", timeout: 240_000 }, () => {
  it("counts exactly the calls that the provider received, and names what is lost", async () => {
    const kills = [3, 26, 41].map((after) => ({ after, isQuiet: true }))
    const { calls, file, result, server } = await killed("quiet", 1, kills)
    assert.strictEqual(result.calls, calls)
    assert.isAtMost(calls, budget.calls)
    assert.isAtMost(server.paid(), Math.min(result.usd, budget.usd))
    assert.isAtLeast(result.lost.calls, kills.length)
    assert.match(
      result.text,
      /^\d+ calls were in flight when a previous process ended; their cost is unknown, counted as \$0\.\d+\.$/mu
    )
    const lost = (await eventsOf(file)).flatMap((event) => (event._tag === "Interrupted" ? event.calls : []))
    assert.strictEqual(lost.length, result.lost.calls)
    assert.isEmpty((await readdir(directory)).filter((one) => one.includes(".lock-")))
  })

  it("never passes a budget, whenever the kills come", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 1000 }),
        fc.array(fc.record({ after: fc.integer({ min: 1, max: 60 }), isQuiet: fc.boolean() }), {
          minLength: 1,
          maxLength: 5
        }),
        async (seed, kills) => {
          const { calls, result, server } = await killed("any", seed, kills)
          assert.isAtMost(calls, result.calls)
          assert.isAtMost(result.calls, calls + kills.filter(({ isQuiet }) => !isQuiet).length * budget.concurrency)
          assert.isAtMost(result.calls, budget.calls)
          assert.isAtMost(server.paid(), result.usd + 1e-9)
          assert.isAtMost(result.usd, budget.usd + 1e-9)
        }
      ),
      { numRuns: 4, endOnFailure: true }
    )
  })
})
