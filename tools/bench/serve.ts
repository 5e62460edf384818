/**
 * The response times of the instruction server: 1,000 leases a second, one per request, and 1,000 rewards a second, first as
 * the published client sends them and then one per request, from this process, which does not wait for responses. SQLite,
 * then PostgreSQL if it is installed, both with syncs. Exits with 1 if the p99 of leases exceeds 10 ms with rewards as the
 * client sends them, or memory grows. The time of a reward includes the 10 ms for which the client collects rewards.
 *
 * Before that, 20,000 requests, eight at a time, for the processor time and memory of one request, which a busy machine hardly
 * changes. With 0 seconds only this is measured: five times, by turns with a bare Node server.
 *
 * The rate and the limit are those of a machine where a request of a bare Node server, which is measured first, takes 0.07 ms. On
 * others, with the rate `scaled`, both follow its speed: half the rate and twice the limit where a bare request takes 0.14 ms.
 *
 *     node tools/bench/serve.ts [SECONDS] [RATE | scaled] [sqlite|postgres]
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import * as PostgresServer from "../../packages/journal/test/support/PostgresServer.ts"
import { print, quantile, slope } from "./Measure.ts"
import * as Cost from "./serve/Cost.ts"
import { type Latencies, load, published, type Report } from "./serve/Load.ts"
import * as Process from "./serve/Process.ts"

const [length = "20", perSecond = "1000", only = ""] = process.argv.slice(2)
const [seconds, warmUp] = [Number(length), 5]
const counted = { count: 20_000, warmUp: 6000 }

const folder = mkdtempSync(join(tmpdir(), "inspo-bench-serve-"))

const summary = (latencies: ReadonlyArray<number>) => {
  const sorted = [...latencies].sort((a, b) => a - b)
  const of = (share: number) => Math.round(100 * quantile(sorted, share)) / 100
  return { answers: sorted.length, p50: of(0.5), p90: of(0.9), p99: of(0.99), most: of(1) }
}

const resident = (pid: number): number =>
  1024 * Number(/VmRSS:\s+(\d+)/u.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1])

const beside = await Cost.beside(folder, { counts: counted, turns: seconds === 0 ? 5 : 1 })
const { bare } = beside
/** How much slower this machine is than the one of the limits. */
const slowness = perSecond === "scaled" ? bare / 0.07 : 1
const rate = perSecond === "scaled" ? Math.round(1000 / slowness) : Number(perSecond)
/** Milliseconds, and bytes of memory that a lease may add after the warm-up. */
const limits = { p99: Cost.rounded(10 * slowness), resident: 64 }

const measure = async (database: string, options: ReadonlyArray<string>) => {
  const server = await Process.start(folder, options)
  const traffic = Cost.trafficOf(server)
  const { asking, client, one } = traffic
  const perRequest = await Cost.ofRequest(server, traffic, counted)

  const under = async (report: Report) => {
    const samples: Array<readonly [leases: number, bytes: number]> = []
    const onSecond = (leases: number) => {
      samples.push([leases, resident(server.child.pid ?? 0)])
      if (samples.length === warmUp) void Process.read(server)
    }
    const latencies = await load({ requests: asking, report, rate, seconds, warmUp, onSecond })
    const { delay, main, pauses } = await Process.read(server)
    // Between two full collections the heap grows whatever is kept.
    const isCollected = (pauses["MarkSweepCompact"]?.count ?? 0) > 1
    return { ...judge(samples, latencies), isCollected, busy: Cost.rounded(main / seconds / 1000), delay, pauses }
  }
  const asClient = seconds === 0 ? null : await under(published(client, "default"))
  const apart = seconds === 0 ? null : await under(one)
  client.close()
  await Process.stop(server)
  return { database, met: asClient?.met ?? true, perRequest, asClient, apart }
}

const judge = (
  samples: ReadonlyArray<readonly [leases: number, bytes: number]>,
  { failures, late, leases, rewards }: Latencies
) => {
  const latencies = { leases: summary(leases), rewards: summary(rewards), late: summary(late) }
  // In the first half caches fill.
  const bytesPerLease = slope(samples.slice(Math.floor(samples.length / 2)))
  const grown = (bytesPerLease - limits.resident) * seconds * rate
  return {
    // A process allocates whole megabytes.
    met: failures.length === 0 && latencies.leases.p99 <= limits.p99 && grown <= 2 ** 25,
    failures,
    ...latencies,
    residentMegabytes: Math.round((samples.at(-1)?.[1] ?? 0) / 2 ** 20),
    bytesPerLease: Math.round(bytesPerLease)
  }
}

type Measured = Awaited<ReturnType<typeof measure>>
const results: Array<Measured> = []
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

const under = (
  rewards: string,
  {
    bytesPerLease,
    busy,
    delay,
    failures,
    isCollected,
    pauses,
    residentMegabytes,
    ...latencies
  }: NonNullable<Measured["asClient"]>
): ReadonlyArray<string> => [
  `rewards ${rewards}:`,
  line("  leases", latencies.leases),
  line("  rewards", latencies.rewards),
  line("  asked late by", latencies.late),
  `  the server's thread worked ${Math.round(100 * busy)} % of the time, and was late by p50 ${Cost.rounded(delay.p50)} ms, p99 ${Cost.rounded(delay.p99)} ms, at most ${Cost.rounded(delay.most)} ms`,
  ...Object.entries(pauses).map(
    ([kind, { count, most, sum }]) =>
      `    ${kind}: ${count} times, ${Cost.rounded(sum)} ms in all, at most ${Cost.rounded(most)} ms`
  ),
  `  ${failures.length} failures${failures.length === 0 ? "" : ` (${failures[0]})`}, ${residentMegabytes} MB resident, ` +
    `${bytesPerLease} bytes more per lease${isCollected ? "" : "; too short: fewer than two full collections of garbage"}`
]

const lines = ({ apart, asClient, database, perRequest }: Measured): ReadonlyArray<string> => {
  const { collecting, generator, kilobytes, main, processor } = perRequest
  return [
    `${database}: ${processor} ms of a processor per request, ${main} of the main thread, ${collecting} ms collecting garbage, ${kilobytes} kB made; ${generator} ms in this process`,
    ...(asClient === null ? [] : under("as the client sends them", asClient)),
    ...(apart === null ? [] : under("one to a request", apart))
  ]
}
const met = results.every((result) => result.met)
const { kilobytes, processor, ratio } = beside
const anchor = `bare Node: ${bare} ms of a processor per request, inspo serve: ${processor} ms, ${ratio} times as much, and ${kilobytes} kB; ${rate} leases and ${rate} rewards a second, p99 of leases at most ${limits.p99} ms`
print({ bench: "serve", met, beside, limits, rate, seconds, results }, [anchor, ...results.flatMap(lines)], met)
