import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, readdir, readFile, rm, utimes, writeFile } from "node:fs/promises"
import { hostname, tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Result } from "effect"
import * as fc from "fast-check"
import { evolve } from "../src/index.ts"
import * as Viewing from "../src/Viewing.ts"
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

describe("the file of a search", () => {
  const finished = async (name: string) => {
    const file = join(directory, name)
    const result = await evolve({ ...options(40), file })
    return { result, file, bytes: await readFile(file) }
  }

  it(
    "shows each bit that is not what was written: to who reads it, and to who goes on",
    { timeout: 120_000 },
    async () => {
      const { bytes, result } = await finished("flips.jsonl")
      const file = join(directory, "flipped.jsonl")
      let tries = 0
      await fc.assert(
        fc.asyncProperty(fc.nat(8 * bytes.length - 1), async (bit) => {
          const copy = Uint8Array.from(bytes)
          copy[bit >> 3] = (copy[bit >> 3] ?? 0) ^ (1 << (bit & 7))
          await writeFile(file, copy)
          const isLast = bit >> 3 === bytes.length - 1
          // Without its end a line counts as one that is being written.
          assert.strictEqual(Result.isFailure(await Effect.runPromise(Effect.result(Viewing.read(file)))), !isLast)
          if (isLast || ++tries % 10 > 0) return
          assert.match(
            await messageOf(evolve({ ...options(40), file })),
            /line \d+|format version|not the file of a search/u
          )
          assert.deepStrictEqual(Uint8Array.from(await readFile(file)), copy)
        }),
        { numRuns: 50 }
      )
      assert.isAbove(result.calls, 0)
    }
  )

  it("goes on before an event that a crash cut off, and says so", async () => {
    const { bytes, result } = await finished("torn.jsonl")
    const file = join(directory, "cut.jsonl")
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: bytes.length - 1 }), async (length) => {
        await writeFile(file, bytes.subarray(0, length))
        const whole = bytes.subarray(0, length).lastIndexOf("\n") + 1
        if (whole === 0 && length < 11) return
        const later = await evolve({ ...options(40), file })
        assert.strictEqual(later.verdict, result.verdict)
        const note = `the file ended within an event, of which ${length - whole} bytes were left out`
        assert.deepStrictEqual(later.failures, length === whole ? [] : [note])
        assert.strictEqual((await Effect.runPromise(Viewing.read(file))).view.verdict, result.verdict)
      }),
      { numRuns: 8 }
    )
  })

  it.each([
    ["a line without end", "my only copy of a poem"],
    ["one object", '{"name":"x","version":"1"}'],
    ["a brace", "{"],
    ["lines", "one\ntwo\n"],
    ["another journal", '{"format":"inspo-journal","version":1}\n']
  ])("is never one of others: %s", async (name, text) => {
    const file = join(directory, `${name}.txt`)
    await writeFile(file, text)
    assert.include(await messageOf(evolve({ ...options(40), file })), "is not the file of a search; name another one")
    assert.strictEqual(await readFile(file, "utf8"), text)
  })
})
