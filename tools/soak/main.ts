/** `pnpm soak [MINUTES] [SERVER]`: all servers, or one, under mixed load, a third of it hostile; `pnpm soak 10 attacks`: the named attacks on the instruction server and on the clients. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import * as fc from "fast-check"
import { endAll } from "../../test/cli/Inspo.ts"
import { noPython } from "../../test/clients/Subject.ts"
import { type Outcome, report as reportAttack } from "../../test/fuzz/support/Attacks.ts"
import { attackClients } from "../../test/fuzz/support/AttackedClients.ts"
import { attackAll } from "../../test/fuzz/support/AttackedServer.ts"
import { mutated, plain } from "../../test/fuzz/support/Hostile.ts"
import { show } from "../../test/fuzz/support/Message.ts"
import {
  concurrency,
  growth,
  kinds,
  prepare,
  type Server,
  settle,
  start,
  warm
} from "../../test/fuzz/support/Servers.ts"

/** The figures of a server. */
interface Figures {
  requests: number
  hostile: number
  readonly milliseconds: Array<number>
  /** Each kind of fault once, with its first request. */
  readonly faults: Map<string, string>
  readonly memory: { start: number; end: number; peak: number }
}

const seed = Number(process.env["INSPO_SEED"] ?? 1)

const soak = async (server: Server, minutes: number): Promise<Figures> => {
  const figures: Figures = {
    requests: 0,
    hostile: 0,
    milliseconds: [],
    faults: new Map(),
    memory: { start: 0, end: 0, peak: 0 }
  }
  await warm(server, seed)
  figures.memory.start = server.memory().now
  const end = performance.now() + 60_000 * minutes
  const messages = fc.oneof(
    { weight: 2, arbitrary: server.kind.protocol.map(plain) },
    { weight: 1, arbitrary: mutated(server.kind.protocol) }
  )
  for (let round = 0; performance.now() < end; round++) {
    const batch = fc.sample(messages, { seed: seed + round, numRuns: 200 })
    await Promise.all(
      Array.from({ length: concurrency }, async (_, lane) => {
        for (let at = lane; at < batch.length && performance.now() < end; at += concurrency) {
          const message = batch[at]
          if (message === undefined) return
          const answer = await server.ask(message)
          figures.requests++
          if (message.delivery !== "whole" || message.headers.length > 0 || message.packing !== "none")
            figures.hostile++
          if (answer.status !== null && !message.path.includes("retrieve_future"))
            figures.milliseconds.push(answer.milliseconds)
          const fault = server.fault(message, answer)
          if (fault !== null && !figures.faults.has(kindOf(fault)))
            figures.faults.set(kindOf(fault), `${fault}\n    ${show(message)}`)
        }
      })
    )
    const illness = await server.illness()
    if (illness !== null)
      figures.faults.set(kindOf(illness), `${illness} (after the batch of INSPO_SEED=${seed + round})`)
    await server.ensure()
  }
  await settle(server)
  const { now, peak } = server.memory()
  Object.assign(figures.memory, { end: now, peak })
  return figures
}

/** A fault without its numbers and texts. */
const kindOf = (fault: string): string => fault.replaceAll(/\d+/gu, "N").slice(0, 60)

const percentile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0

const report = ({ kind }: Server, { faults, hostile, memory, milliseconds, requests }: Figures): boolean => {
  const sorted = milliseconds.toSorted((a, b) => a - b)
  const megabytes = (kilobytes: number) => `${Math.round(kilobytes / 1024)} MB`
  const grown = memory.end / memory.start
  const lines = [
    `${kind.name}: ${requests} requests, ${hostile} of them hostile, ${faults.size} kinds of faults`,
    `  answers: p50 ${percentile(sorted, 0.5).toFixed(1)} ms, p95 ${percentile(sorted, 0.95).toFixed(1)} ms, slowest ${percentile(sorted, 1).toFixed(0)} ms`,
    `  memory: ${megabytes(memory.start)} at the start, ${megabytes(memory.end)} at the end (${grown.toFixed(2)} ×), at most ${megabytes(memory.peak)}`,
    ...Array.from(faults.values(), (fault) => `  FAULT ${fault}`),
    ...(grown > growth ? [`  FAULT more than ${growth} × the memory at the start`] : [])
  ]
  process.stdout.write(`${lines.join("\n")}\n`)
  return faults.size === 0 && grown <= growth
}

/** Nine tenths of the time for the server, the rest for the clients; the last line sums up the honest rounds. */
const attacked = async (): Promise<boolean> => {
  const all = { honest: 0, failed: 0, p99: 0 }
  const add = (outcome: Outcome) => {
    all.honest += outcome.honest
    all.failed += outcome.failed
    all.p99 = Math.max(all.p99, outcome.p99)
    process.stdout.write(`${reportAttack(outcome)}\n`)
  }
  const milliseconds = 60_000 * Number(minutes)
  const server = await attackAll(cwd, 0.9 * milliseconds, add)
  const clients = await attackClients(0.1 * milliseconds, add)
  if (noPython !== null) process.stdout.write(`hostile answers to the client for Python: ${noPython}\n`)
  process.stdout.write(`honest: ${all.honest} rounds, ${all.failed} failed, largest p99 ${all.p99.toFixed(0)} ms\n`)
  return server && clients
}

const loaded = async (): Promise<boolean> => {
  await prepare(cwd)
  const servers = await Promise.all(kinds.filter(({ name }) => name.includes(only)).map((kind) => start(kind, cwd)))
  const figures = await Promise.all(
    servers.map(async (server) => ({ server, of: await soak(server, Number(minutes)) }))
  )
  const sound = figures.map(({ of, server }) => report(server, of))
  return sound.every(Boolean)
}

const [minutes = "30", only = ""] = process.argv.slice(2)
const cwd = await mkdtemp(join(tmpdir(), "inspo-soak-"))
try {
  process.exitCode = (await (only === "attacks" ? attacked() : loaded())) ? 0 : 1
} finally {
  endAll()
  await sleep(200)
  await rm(cwd, { recursive: true, force: true })
}
