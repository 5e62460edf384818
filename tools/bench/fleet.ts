/**
 * A training step of an asynchronous fleet: workers lease the groups of a cohort and report a reward with a transcript for
 * each sample, through three servers on one PostgreSQL, of which one is active and the others forward. Prints the processor
 * time of each process for one reward, so the rate at which the active server's thread is busy all the time, and what the
 * database stores. Processor times depend little on what else the machine does.
 *
 *     node tools/bench/fleet.ts [GROUPS] [SAMPLES] [CHARACTERS] [STEPS]
 *
 * By default 4,096 groups of 5 samples and transcripts of 2,500 characters, in three steps. `INSPO_PROFILE=FOLDER` profiles the servers.
 */
import { execFileSync } from "node:child_process"
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as wait } from "node:timers/promises"
import { RandomStream } from "@inspo/domain"
import * as PostgresServer from "../../packages/journal/test/support/PostgresServer.ts"
import { print, quantile } from "./Measure.ts"
import * as Client from "./serve/Client.ts"
import * as Process from "./serve/Process.ts"

const [groups = 4096, samples = 5, characters = 2500, steps = 3] = process.argv.slice(2).map(Number)
const workers = 24
/** Groups of a worker's request, as of an agent loop that takes its share; rewards of one are sent together. */
const chunk = 64

const folder = mkdtempSync(join(tmpdir(), "inspo-bench-fleet-"))

interface Server extends Process.Process {
  readonly client: Client.Client
}

const start = async (database: string): Promise<Server> => {
  const server = await Process.start(folder, ["--database", database])
  return { ...server, client: Client.make(server.address, workers) }
}

/** Processor milliseconds of the processes that serve connections to PostgreSQL, and of those that write its log. */
const databaseTime = (): number =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/u.test(name))
    .reduce((sum, pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8")
        if (!stat.includes("(postgres)")) return sum
        const [user, system] = stat.slice(stat.lastIndexOf(")")).split(" ").slice(12, 14).map(Number)
        return sum + 10 * ((user ?? 0) + (system ?? 0))
      } catch {
        return sum // It has ended.
      }
    }, 0)

const ask = (database: string, query: string): number =>
  Number(execFileSync("psql", ["-Atc", query, database], { encoding: "utf8" }).trim())

const population = {
  profile: "trainer",
  seed: "Answer the question.",
  variants: ["Answer the question. Think step by step before you do.", "Answer the question from sources."],
  settings: { randomSeed: 1 }
}
const path = "/v1/populations/policy"

/** Text that compresses as words do. */
const words = RandomStream.make(1, ["words"]).shuffle(Array.from({ length: 5000 }, (_, place) => place.toString(36)))
const transcriptOf = (place: number): string => {
  const parts: Array<string> = []
  for (let at = place, length = 0; length < characters; at = (at * 31 + 7) % words.length) {
    const word = `${words[at]} `
    parts.push(word)
    length += word.length
  }
  return parts.join("").slice(0, characters)
}

/** One cohort: the milliseconds of requests for leases and of reports. */
const step = async (servers: ReadonlyArray<Server>, cohort: string) => {
  const times = { leases: new Array<number>(), rewards: new Array<number>() }
  const timed = async <A>(into: Array<number>, work: Promise<A>): Promise<A> => {
    const begin = performance.now()
    const value = await work
    into.push(performance.now() - begin)
    return value
  }
  let next = 0
  const worker = async (place: number) => {
    const server = servers[place % servers.length]
    if (server === undefined) return
    const { client } = server
    for (let first = next; first < groups; first = next) {
      next += chunk
      const requests = Array.from({ length: Math.min(chunk, groups - first) }, (_, at) => ({
        key: `${first + at}`,
        n: samples,
        question: { id: `${first + at}`, text: transcriptOf(first + at).slice(0, 100) }
      }))
      const given = JSON.parse(
        await timed(times.leases, client.post(`${path}/leases`, JSON.stringify({ cohort, requests })))
      )
      const rewards = given.leases.flatMap(({ lease }: { readonly lease: string }, at: number) =>
        Array.from({ length: samples }, (_, sample) => ({
          lease,
          sample,
          value: (first + at + sample) % 3 === 0 ? 1 : 0,
          ...(characters === 0 ? {} : { transcript: transcriptOf(first + at + sample) })
        }))
      )
      const body = JSON.stringify({ rewards, close: { cohort, groups } })
      await timed(times.rewards, client.post(`${path}/rewards`, body))
    }
  }
  const begin = performance.now()
  await Promise.all(Array.from({ length: workers }, (_, place) => worker(place)))
  return { ...times, seconds: (performance.now() - begin) / 1000 }
}

const rounded = (value: number): number => Number(value.toPrecision(3))
const p99 = (times: ReadonlyArray<number>): number =>
  rounded(
    quantile(
      [...times].sort((a, b) => a - b),
      0.99
    )
  )

const postgres = await PostgresServer.start({ sync: true })
const servers: Array<Server> = []
const add = async (): Promise<Server> => {
  const server = await start(postgres.url)
  servers.push(server)
  return server
}
try {
  const active = await add()
  const standbys = [await add(), await add()]
  await wait(1500)
  const made = await fetch(`${active.address}${path}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(population)
  })
  if (!made.ok) throw new Error(await made.text())
  await step(servers, "train/0")
  const stored =
    "select sum(pg_total_relation_size(c.oid)) from pg_class c where relkind = 'r' and relnamespace > 16383"
  const commits = "select xact_commit from pg_stat_database where datname = 'postgres'"
  await Promise.all(servers.map(Process.read))
  const before = { database: databaseTime(), bytes: ask(postgres.url, stored), commits: ask(postgres.url, commits) }
  const taken: Array<Awaited<ReturnType<typeof step>>> = []
  for (let one = 1; one <= steps; one++) taken.push(await step(servers, `train/${one}`))
  const [of, ofStandbys] = await Promise.all([Process.read(active), Promise.all(standbys.map(Process.read))])
  const rewards = steps * groups * samples
  await wait(1000)
  const seconds = taken.reduce((sum, one) => sum + one.seconds, 0)
  const each = {
    active: rounded(of.main / rewards),
    standby: rounded(ofStandbys.reduce((sum, { main }) => sum + main, 0) / ((rewards * ofStandbys.length) / 3)),
    database: rounded((databaseTime() - before.database) / rewards),
    bytes: Math.round((ask(postgres.url, stored) - before.bytes) / rewards)
  }
  const result = {
    bench: "fleet",
    groups,
    samples,
    characters,
    milliseconds: each,
    rewardsPerSecond: { here: Math.round(rewards / seconds), atMost: Math.round(1000 / each.active) },
    commitsPerSecond: rounded((ask(postgres.url, commits) - before.commits) / seconds),
    p99: { leases: p99(taken.flatMap((one) => one.leases)), rewards: p99(taken.flatMap((one) => one.rewards)) }
  }
  print(
    result,
    [
      `${steps} cohorts of ${groups} groups × ${samples} samples, transcripts of ${characters} characters:`,
      `  ${each.active} ms of the active server's thread per reward, ${each.standby} of a standby's per reward it forwards, ${each.database} of PostgreSQL`,
      `  at most ${result.rewardsPerSecond.atMost} rewards a second; ${result.rewardsPerSecond.here} here, with ${result.commitsPerSecond} commits a second`,
      `  ${each.bytes} bytes stored per reward; p99 of a request for ${chunk} leases ${result.p99.leases} ms, for their rewards ${result.p99.rewards} ms`
    ],
    true
  )
} finally {
  for (const { client } of servers) client.close()
  await Promise.all(servers.map(Process.stop))
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}
