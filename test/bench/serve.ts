/**
 * How long the instruction server takes to answer: 1,000 leases and 1,000 rewards a second, one to a request, from this
 * process, which waits for no answer before it asks the next one. SQLite, then PostgreSQL where it is installed, both with
 * their syncs. Exits with 1 where one of a hundred answers takes longer than 10 ms, or memory grows.
 *
 *     node test/bench/serve.ts [SECONDS] [RATE] [sqlite|postgres]
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import * as PostgresServer from "../../packages/journal/test/support/PostgresServer.ts"
import { load } from "./serve/Load.ts"

const [length = "20", perSecond = "1000", only = ""] = process.argv.slice(2)
const [seconds, rate, warmUp] = [Number(length), Number(perSecond), 5]
/** Milliseconds, and bytes that a lease may leave in the memory of the process once it is warm. */
const limits = { p99: 10, resident: 64 } as const

const main = fileURLToPath(new URL("../../apps/cli/src/main.ts", import.meta.url))
const folder = mkdtempSync(join(tmpdir(), "inspo-bench-serve-"))

const quantile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.min(Math.floor(share * sorted.length), sorted.length - 1)] ?? Number.NaN

const summary = (latencies: ReadonlyArray<number>) => {
  const sorted = [...latencies].sort((a, b) => a - b)
  const of = (share: number) => Math.round(100 * quantile(sorted, share)) / 100
  return { answers: sorted.length, p50: of(0.5), p90: of(0.9), p99: of(0.99), most: of(1) }
}

/** Bytes per lease, by least squares, of the second half: until then caches fill. */
const slope = (samples: ReadonlyArray<readonly [leases: number, bytes: number]>): number => {
  const settled = samples.slice(Math.floor(samples.length / 2))
  const mean = (of: 0 | 1) => settled.reduce((sum, sample) => sum + sample[of], 0) / settled.length
  const [leases, bytes] = [mean(0), mean(1)]
  return (
    settled.reduce((sum, sample) => sum + (sample[0] - leases) * (sample[1] - bytes), 0) /
    settled.reduce((sum, sample) => sum + (sample[0] - leases) ** 2, 0)
  )
}

const resident = (pid: number): number =>
  1024 * Number(/VmRSS:\s+(\d+)/u.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1])

/** Milliseconds of a processor that a process has had, all its threads together, to the hundredth of a second. */
const processor = (pid: number): number => {
  const [, fields = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")
  const [user = 0, system = 0] = fields.split(" ").slice(11, 13).map(Number)
  return 10 * (user + system)
}

const measure = async (database: string, options: ReadonlyArray<string>) => {
  const profile = process.env["INSPO_PROFILE"]
  const child = spawn(
    process.execPath,
    [
      ...(profile === undefined ? [] : ["--cpu-prof", "--cpu-prof-dir", profile]),
      main,
      "serve",
      "--port",
      "0",
      "--json",
      ...options
    ],
    { cwd: folder, stdio: ["ignore", "pipe", "inherit"] }
  )
  const [ready] = await once(child.stdout, "data")
  const { url: address } = JSON.parse(String(ready))
  const { pid = 0 } = child
  const samples: Array<readonly [leases: number, bytes: number]> = []
  const busy: Array<number> = []
  const onSecond = (leases: number) => {
    samples.push([leases, resident(pid)])
    busy.push(processor(pid))
  }
  const { failures, leases, rewards } = await load({ address, population: "default", rate, seconds, warmUp, onSecond })
  child.kill("SIGTERM")
  await once(child, "exit")
  const told = { leases: summary(leases), rewards: summary(rewards) }
  const bytesPerLease = slope(samples)
  const grown = (bytesPerLease - limits.resident) * seconds * rate
  return {
    database,
    // A process takes memory by the megabyte.
    met: failures.length === 0 && told.leases.p99 <= limits.p99 && told.rewards.p99 <= limits.p99 && grown <= 2 ** 25,
    failures,
    ...told,
    processorPerRequest: ((busy.at(-1) ?? 0) - (busy[warmUp] ?? 0)) / (2 * rate * (busy.length - 1 - warmUp)),
    residentMegabytes: Math.round((samples.at(-1)?.[1] ?? 0) / 2 ** 20),
    bytesPerLease: Math.round(bytesPerLease)
  }
}

const results = []
try {
  if (only !== "postgres") results.push(await measure("SQLite", ["--out", join(folder, "served")]))
  if (only !== "sqlite" && PostgresServer.unavailable === null) {
    const postgres = await PostgresServer.start({ sync: true })
    try {
      results.push(await measure("PostgreSQL", ["--database", postgres.url]))
    } finally {
      await postgres.stop()
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}

const line = (what: string, { answers, most, p50, p90, p99 }: ReturnType<typeof summary>) =>
  `${what.padEnd(20)} ${String(answers).padStart(7)} answers  p50 ${p50} ms  p90 ${p90} ms  p99 ${p99} ms  most ${most} ms`
const met = results.every((result) => result.met)
process.stdout.write(
  [
    JSON.stringify({ bench: "serve", met, limits, rate, seconds, results }),
    ...results.flatMap(
      ({ bytesPerLease, database, failures, leases, processorPerRequest, residentMegabytes, rewards }) => [
        line(`${database}, leases`, leases),
        line(`${database}, rewards`, rewards),
        `${database}: ${failures.length} failures${failures.length === 0 ? "" : ` (${failures[0]})`}, ${processorPerRequest.toFixed(2)} ms of a processor per request, ${residentMegabytes} MB resident, ${bytesPerLease} bytes more per lease`
      ]
    ),
    ""
  ].join("\n")
)
if (!met) process.exitCode = 1
