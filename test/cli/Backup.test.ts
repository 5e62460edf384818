import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as PostgresServer from "../../packages/journal/test/support/PostgresServer.ts"
import { endAll, inspoServer, testTimeout } from "./Inspo.ts"

const decodeReady = Schema.decodeSync(Schema.fromJsonString(Schema.Struct({ url: Schema.String })))
const decodeLeases = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ leases: Schema.Array(Schema.Struct({ lease: Schema.String })) }))
)
const decodeResults = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ results: Schema.Array(Schema.Struct({ outcome: Schema.String })) }))
)

let cwd = ""
const ends: Array<() => unknown> = []

beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), "inspo-backup-"))
  const settings = { sealAfterLeases: 20, horizonSeconds: 1, guardrails: ["usd=0.05"] }
  const populations = { support: { seed: "Be brief.", variants: ["Explain."], settings } }
  await writeFile(join(cwd, "populations.yaml"), JSON.stringify({ populations }))
})

afterAll(async () => {
  endAll()
  for (const end of ends) await end()
  await rm(cwd, { recursive: true, force: true })
})

const serve = async (...args: ReadonlyArray<string>) => {
  const { child, ready } = await inspoServer(["serve", "populations.yaml", "--port", "0", "--json", ...args], { cwd })
  return { child, url: decodeReady(ready).url }
}

const post = async (url: string, path: string, body: unknown): Promise<string> => {
  const answer = await fetch(`${url}/v1/populations/support/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  const text = await answer.text()
  assert.strictEqual(answer.status, 200, text)
  return text
}

const report = async (url: string, lease: string, value: number): Promise<string | undefined> =>
  decodeResults(await post(url, "rewards", { rewards: [{ lease, value, usd: 0.01 }] })).results[0]?.outcome

/**
 * Saves what a server has while agents work, restores it beside, and looks for what was acknowledged before: the second reward of such a
 * lease is a duplicate there.
 */
const verify = async (from: string, save: () => unknown, restored: () => Promise<string>) => {
  const acknowledged: Array<string> = []
  const over = new AbortController()
  const work = async () => {
    while (!over.signal.aborted) {
      const { leases } = decodeLeases(await post(from, "leases", { requests: [{ key: crypto.randomUUID() }] }))
      for (const { lease } of leases) if ((await report(from, lease, 1)) === "accepted") acknowledged.push(lease)
    }
  }
  const working = Promise.all([work(), work(), work()])
  while (acknowledged.length < 100) await new Promise((resolve) => setTimeout(resolve, 10))
  const before = [...acknowledged]
  await save()
  over.abort()
  await working
  const to = await restored()
  const outcomes = new Set<string | undefined>()
  for (const lease of before) outcomes.add(await report(to, lease, 0))
  assert.deepStrictEqual([...outcomes], ["duplicate"])
  const { leases } = decodeLeases(await post(to, "leases", { requests: [{ key: "new" }] }))
  assert.strictEqual(await report(to, leases[0]?.lease ?? "", 1), "accepted")
}

/** A program whose rights are those of its files, and that leaves this process to answer meanwhile. */
const run = async (program: string, ...args: ReadonlyArray<string>) => {
  const [code] = await once(spawn(program, args, { stdio: ["ignore", "ignore", "inherit"] }), "close")
  assert.strictEqual(code, 0)
}

const has = (program: string): boolean => {
  try {
    execFileSync(program, ["--version"], { stdio: "ignore" })
    return true
  } catch {
    return false
  }
}

describe("a server that is restored", { timeout: testTimeout, tags: "runs" }, () => {
  it.skipIf(!has("sqlite3"))("has all that was acknowledged before its files were copied", async () => {
    const { url } = await serve("--out", "served")
    const copy = join(cwd, "restored/populations/support")
    mkdirSync(copy, { recursive: true })
    const save = () =>
      run("sqlite3", join(cwd, "served/populations/support/journal.sqlite"), `VACUUM INTO '${copy}/journal.sqlite'`)
    await verify(url, save, async () => (await serve("--out", "restored")).url)
  })

  it.skipIf(PostgresServer.unavailable !== null || !has("pg_dump"))(
    "has all that was acknowledged before its database was",
    async () => {
      const database = await PostgresServer.start()
      ends.push(database.stop)
      const other = database.url.replace("/postgres?", "/restored?")
      const { child, url } = await serve("--database", database.url)
      const file = join(cwd, "dump.sql")
      await verify(
        url,
        () => run("pg_dump", "--file", file, database.url),
        async () => {
          child.kill("SIGINT")
          await once(child, "close")
          await run("psql", "-q", "-c", "CREATE DATABASE restored", database.url)
          await run("psql", "-q", "-v", "ON_ERROR_STOP=1", "-f", file, other)
          return (await serve("--database", other)).url
        }
      )
    }
  )
})
