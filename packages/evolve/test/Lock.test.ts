import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { evolve } from "../src/index.ts"
import * as Lock from "../src/Lock.ts"
import { options, succeeds } from "./support/Agents.ts"
import * as PaidServer from "./support/PaidServer.ts"

let directory = ""
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "inspo-evolve-lock-"))
})
afterAll(() => rm(directory, { recursive: true, force: true }))

const program = fileURLToPath(new URL("support/SearchProcess.ts", import.meta.url))

const start = (url: string, file: string) => {
  const given = JSON.stringify({ calls: 40, usd: 10, concurrency: 2, most: PaidServer.most })
  const child = spawn(process.execPath, [program, url, file, given], { stdio: ["ignore", "ignore", "pipe"] })
  let error = ""
  child.stderr.on("data", (chunk: Buffer) => (error += chunk.toString()))
  return { child, closed: once(child, "close").then(([code]) => ({ code, error })) }
}

const locks = async (name: string) => (await readdir(directory)).filter((one) => one.startsWith(`${name}.lock-`))

const messageOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => "no failure",
    (error: unknown) => String(error instanceof Error ? error.message : error)
  )

describe("the lock of a file", () => {
  it(
    "keeps a second process out, by its name and its id, until the first one is dead",
    { timeout: 120_000, tags: "runs" },
    async () => {
      const server = await PaidServer.make(1)
      const file = join(directory, "two.jsonl")
      void server.serve(5)
      const first = start(server.url, file)
      while (server.held() === 0) await setTimeout(20)
      const second = await start(server.url, file).closed
      assert.strictEqual(second.code, 1)
      assert.include(second.error, `${file}: process ${first.child.pid} on ${hostname()} is writing to it`)
      assert.match(second.error, /Wait until it ends \(.*\), stop it, or name another file/u)
      first.child.kill("SIGKILL")
      await first.closed
      assert.strictEqual((await locks("two.jsonl")).length, 1)
      void server.serve(Infinity)
      assert.deepStrictEqual(await start(server.url, file).closed, { code: 0, error: "" })
      assert.isEmpty(await locks("two.jsonl"))
      server.close()
    }
  )

  it("is had by exactly one of those that start at the same time", { timeout: 60_000 }, async () => {
    const file = join(directory, "race.jsonl")
    for (let round = 0; round < 2; round++) {
      const exits = await Effect.runPromise(
        Effect.forEach(
          Array.from({ length: 6 }),
          () => Effect.exit(Effect.scoped(Effect.andThen(Lock.acquire(file), Effect.sleep("1200 millis")))),
          { concurrency: "unbounded" }
        )
      )
      assert.strictEqual(exits.filter(Exit.isSuccess).length, 1)
      assert.isEmpty(await locks("race.jsonl"))
    }
  })

  it("is released when a search ends, fails or is stopped", async () => {
    const file = join(directory, "released.jsonl")
    const stop = new AbortController()
    const broken = evolve({ ...options(40), file, score: () => 2 })
    assert.include(await messageOf(broken), "expected a number in [0, 1]")
    const halted = evolve({
      ...options(40),
      file,
      signal: stop.signal,
      agent: () => {
        stop.abort(new Error("halt"))
        return new Promise<string>(() => {})
      }
    })
    assert.include(await messageOf(halted), "halt")
    await evolve({ ...options(40), file })
    assert.isEmpty(await locks("released.jsonl"))
  })

  it("of another host counts until it is a minute old, and one that was removed stops its process", async () => {
    const file = join(directory, "host.jsonl")
    const foreign = `${file}.lock-${process.pid}-0123abcd-elsewhere`
    await writeFile(foreign, "")
    assert.match(
      await messageOf(evolve({ ...options(40), file })),
      /process \d+ on elsewhere is writing to it.*its lock expires a minute later at the latest/u
    )
    await utimes(foreign, 1, 1)
    let calls = 0
    const robbed = evolve({
      ...options(40),
      file,
      agent: async (prompt, one) => {
        if (++calls === 20) for (const name of await locks("host.jsonl")) await rm(join(directory, name))
        return succeeds(prompt, one) ? "right" : "wrong"
      }
    })
    assert.include(await messageOf(robbed), "another process writes to it now")
    assert.isBelow(calls, 40)
  })

  it("of an earlier process with the same id is void", async () => {
    const file = join(directory, "container.jsonl")
    await writeFile(`${file}.lock-${process.pid}-0123abcd-${encodeURIComponent(hostname())}`, "")
    await evolve({ ...options(40), file })
    assert.isEmpty(await locks("container.jsonl"))
  })
})
