import { spawn } from "node:child_process"
import { existsSync, writeFileSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { fileURLToPath } from "node:url"
import { RandomStream } from "@inspo/domain"
import * as postgres from "@inspo/journal/postgres"
import * as sqlite from "@inspo/journal/sqlite"
import { Schema } from "effect"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import * as PostgresServer from "../../packages/journal/test/support/PostgresServer.ts"
import { freePort } from "../cli/FreePort.ts"
import * as Kills from "./support/Kills.ts"
import { endAll, server } from "./support/Program.ts"
import { acknowledged, verify } from "./support/Served.ts"

/** How often servers and clients are killed in each database: `INSPO_SERVE_KILLS`, and without it not at all. */
const kills = Number(process.env["INSPO_SERVE_KILLS"] ?? 0)
/** Time without an active server, in milliseconds, that is allowed. */
const longestGap = 5000

const programs = ["serveClient.ts", "serveClient.ts", "serve_client.py", "flagClient.ts"] as const

const fixture = (name: string) => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url))
const python = fileURLToPath(new URL("../../clients/python/src", import.meta.url))

let cwd = ""
const ends: Array<() => unknown> = []

beforeAll(async () => {
  if (kills === 0) return
  cwd = await mkdtemp(join(tmpdir(), "inspo-crash-serve-"))
  // Cohorts that are closed within seconds, so that rewards are in time, late, and in none of both.
  await writeFile(
    join(cwd, "populations.yaml"),
    JSON.stringify({
      populations: {
        default: {
          seed: "Be brief.",
          variants: ["Think first.", "Search twice."],
          settings: {
            sealAfterLeases: 25,
            sealAfterSeconds: 2,
            horizonSeconds: 2,
            guardrails: ["usd=0.05", "latency.p95=2s"]
          }
        }
      }
    })
  )
})

afterAll(async () => {
  for (const end of ends) await end()
  endAll()
  if (kills > 0) await rm(cwd, { recursive: true, force: true })
})

const files = (prefix: string) => programs.map((_, number) => join(cwd, `${prefix}-client-${number}`))

/**
 * Two more seconds of work, or until each client, however often it was killed, has had a reward acknowledged, and the costly member is
 * paused.
 */
const allRewarded = async (prefix: string, address: string): Promise<void> => {
  await wait(2000)
  for (let turns = 0; turns < 120; turns++) {
    const isRewarded = files(prefix).every((file) => existsSync(file) && acknowledged(file).rewards.size > 0)
    if (isRewarded && (await (await fetch(`${address}${population}`)).text()).includes('"paused"')) return
    await wait(500)
  }
}

/** Clients that lease and reward until they are killed, and come again. */
const startClients = (prefix: string, urls: ReadonlyArray<string>) => {
  const start = (number: number) => {
    const program = programs[number] ?? ""
    const [command, ...options] = program.endsWith(".py") ? ["python3"] : [process.execPath]
    const child = spawn(
      command ?? "",
      [...options, fixture(program), urls.join(","), files(prefix)[number] ?? "", String(number)],
      { stdio: ["ignore", "ignore", "inherit"], env: { ...process.env, PYTHONPATH: python } }
    )
    ends.push(() => child.kill("SIGKILL"))
    return child
  }
  for (const file of files(prefix)) writeFileSync(file, "")
  const running = programs.map((_, number) => start(number))
  return {
    kill: (number: number) => {
      running[number]?.kill("SIGKILL")
      running[number] = start(number)
    },
    end: () => running.forEach((child) => child.kill("SIGKILL"))
  }
}

const drawing = (seed: number, name: string) => {
  let drawn = 0
  return (below: number) => RandomStream.make(seed, ["serve", name, drawn++]).nextIntBetween(0, below - 1)
}

const population = "/v1/populations/default"

/** Whether an agent gets a lease at an address. */
const leases = async (address: string): Promise<boolean> => {
  try {
    const answer = await fetch(`${address}${population}/leases`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ requests: [{ key: crypto.randomUUID() }] }),
      signal: AbortSignal.timeout(1000)
    })
    return answer.ok
  } catch {
    return false
  }
}

const Shown = Schema.Struct({ generation: Schema.Int, members: Schema.Json, cohorts: Schema.Json, leases: Schema.Json })
const decodeShown = Schema.decodeUnknownSync(Shown)

/** What a population has come to, once nothing more happens by itself. */
const shown = async (address: string) => {
  const answer = await fetch(`${address}${population}`)
  assert.isTrue(answer.ok)
  return decodeShown(await answer.json())
}

/** Until no cohort waits for its horizon any more. */
const quiet = () => wait(7000)

describe.skipIf(kills === 0)("an instruction server and clients that are killed at any moment", () => {
  it("lose nothing that was acknowledged, in SQLite", { timeout: 3_600_000 }, async () => {
    const draw = drawing(Kills.seedOfThisRun(), "sqlite")
    const port = String(await freePort())
    const serve = () => server(["serve", "populations.yaml", "--port", port, "--out", "served"], cwd)
    let running = await serve()
    const clients = startClients("sqlite", [running.address])
    const killed = { server: 0, client: 0 }
    while (killed.server + killed.client < kills) {
      await wait(50 + draw(1000))
      if (draw(3) > 0) {
        clients.kill(draw(programs.length))
        killed.client += 1
      }
      if (draw(3) > 0) {
        await running.kill()
        running = await serve()
        killed.server += 1
      }
    }
    await allRewarded("sqlite", running.address)
    clients.end()
    await quiet()
    const before = await shown(running.address)
    await running.kill()
    running = await serve()
    assert.deepStrictEqual(await shown(running.address), before)
    // The switch to the seed holds from its answer on.
    await fetch(`${running.address}/v1/populations/seed`, { method: "POST" })
    await running.kill()
    running = await serve()
    assert.include(await (await fetch(`${running.address}${population}`)).text(), '"state":"seed"')
    await running.kill()
    const file = join(cwd, "served", "populations", "default", "journal.sqlite")
    const found = await verify(sqlite.layer({ file, mode: "read-only" }), files("sqlite").map(acknowledged))
    process.stdout.write(`SQLite: ${JSON.stringify({ ...killed, ...found })}\n`)
    assert.isAbove(found.evidence, 0)
  })

  it.skipIf(PostgresServer.unavailable !== null)(
    "lose nothing that was acknowledged, three servers in PostgreSQL, and one is active again within 5 s",
    { timeout: 3_600_000 },
    async () => {
      const draw = drawing(Kills.seedOfThisRun(), "postgres")
      const database = await PostgresServer.start()
      ends.push(database.stop)
      const ports = await Promise.all([freePort(), freePort(), freePort()])
      const serve = (place: number) =>
        server(["serve", "populations.yaml", "--port", String(ports[place]), "--database", database.url], cwd)
      const running = [await serve(0), await serve(1), await serve(2)]
      const clients = startClients(
        "postgres",
        running.map(({ address }) => address)
      )
      const isActive = async ({ address }: { readonly address: string }) => {
        try {
          return (await (await fetch(`${address}/readyz`)).text()).startsWith("active")
        } catch {
          return false
        }
      }
      const active = async (): Promise<number> => {
        const roles = await Promise.all(running.map(isActive))
        return roles.includes(true) ? roles.indexOf(true) : wait(20).then(active)
      }
      const killed = { active: 0, frozen: 0, standby: 0, client: 0 }
      const gaps: Array<number> = []
      const sum = () => Object.values(killed).reduce((sum, count) => sum + count)
      while (sum() < kills) {
        await wait(50 + draw(1000))
        if (draw(2) > 0) {
          clients.kill(draw(programs.length))
          killed.client += 1
          continue
        }
        const place = await active()
        const isFrozen = draw(4) === 0
        const victim = draw(3) > 0 ? place : (place + 1) % 3
        const other = running[(victim + 1) % 3]
        const began = performance.now()
        if (isFrozen) running[victim]?.send("SIGSTOP")
        else await running[victim]?.kill()
        killed[isFrozen ? "frozen" : victim === place ? "active" : "standby"] += 1
        while (!(await leases(other?.address ?? ""))) await wait(10)
        if (victim === place) gaps.push(performance.now() - began)
        if (isFrozen) {
          await wait(draw(1000))
          running[victim]?.send("SIGCONT")
        } else running[victim] = await serve(victim)
      }
      await allRewarded("postgres", running[0]?.address ?? "")
      clients.end()
      await quiet()
      const before = await shown(running[0]?.address ?? "")
      for (const { address } of running) assert.deepStrictEqual(await shown(address), before)
      await running[await active()]?.kill()
      assert.deepStrictEqual(await shown(running[await active()]?.address ?? ""), before)
      // The switch to the seed holds for all servers from its answer on, whichever is asked.
      const last = await active()
      const standing = async (): Promise<number> => {
        const answers = await Promise.all(running.map(({ address }) => leases(address)))
        const place = answers.findIndex((does, place) => does && place !== last)
        return place < 0 ? wait(20).then(standing) : place
      }
      const standby = await standing()
      const asked = running[standby]?.address ?? ""
      assert.strictEqual((await fetch(`${asked}/v1/populations/seed`, { method: "POST" })).status, 200)
      await running[last]?.kill()
      assert.strictEqual(await active(), standby)
      assert.include(await (await fetch(`${asked}${population}`)).text(), '"state":"seed"')
      for (const one of running) await one.kill()
      const run = "instruction-server.0"
      const found = await verify(
        postgres.layer({ url: database.url, run, mode: "read-only", lease: "3 seconds" }),
        files("postgres").map(acknowledged)
      )
      const longest = Math.round(Math.max(...gaps))
      process.stdout.write(`PostgreSQL: ${JSON.stringify({ ...killed, ...found, longestGap: longest })}\n`)
      assert.isAbove(found.evidence, 0)
      assert.isAtMost(longest, longestGap)
      if (kills >= 100) assert.isAtLeast(killed.active, 10)
    }
  )
})
