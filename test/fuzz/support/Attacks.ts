/** Named attacks on the instruction server, each beside honest clients. */
import { once } from "node:events"
import { createServer } from "node:http"
import { connect } from "node:net"
import type { AddressInfo } from "node:net"
import { setTimeout as sleep } from "node:timers/promises"

/** Where an attack is aimed; `send` counts the status of an answer, and gives its body. */
export interface Target {
  readonly port: number
  readonly send: (path: string, body: string, method?: string) => Promise<string>
  /** A number of this round, which names differ in. */
  readonly round: number
}

export interface Attack {
  readonly name: string
  /** One round, which ends within ten seconds. */
  readonly run: (target: Target) => Promise<unknown>
}

const population = "/v1/populations/support"
const json = JSON.stringify
const chat = (content: string, more = "") =>
  `{"model":"m"${more},"messages":[{"role":"system","content":${json(content)}}]}`
const times = <A>(count: number, run: (index: number) => Promise<A>) =>
  Promise.all(Array.from({ length: count }, (_, index) => run(index)))

export const attacks: ReadonlyArray<Attack> = [
  {
    name: "lone surrogates in names",
    run: ({ round, send }) =>
      Promise.all([
        ...["key", "sticky", "stratum", "cohort"].map((field) =>
          send(`${population}/leases`, `{"requests":[{"key":"s${round}","${field}":"\\ud800"}]}`)
        ),
        send(`${population}/rewards`, '{"rewards":[{"lease":"\\ud800","value":1}]}'),
        send(`${population}/rewards`, '{"rewards":[],"close":{"cohort":"\\ud800"}}'),
        send(`${population}/rewind`, '{"to":"\\ud800","requestId":"r"}'),
        send("/v1/chat/completions", chat("{{inspo:support|Help.}}", ',"user":"\\ud800"'))
      ])
  },
  {
    name: "n 1024 in 1,024 requests",
    run: ({ round, send }) =>
      send(
        `${population}/leases`,
        json({ requests: Array.from({ length: 1024 }, (_, at) => ({ key: `n${round}-${at}`, n: 1024 })) })
      )
  },
  { name: "repeated markers", run: ({ send }) => send("/v1/chat/completions", chat("{{inspo:a|".repeat(40_000))) },
  {
    name: "stalled uploads",
    run: ({ port }) => times(4, (at) => stalled(port, uploads[at % 2] ?? "", 2_000_000, 2000))
  },
  {
    name: "more small uploads that stall than there are places",
    run: ({ port }) => times(2200, (at) => stalled(port, uploads[at % 2] ?? "", 2000, 10_000))
  },
  {
    name: "large requests under other spellings of a path, with a silent upstream",
    run: ({ send }) => times(18, (at) => send(["/V1/chat/completions", "/v1/chat/completions/"][at % 2] ?? "", silent))
  },
  {
    name: "forged lease ids",
    run: ({ round, send }) =>
      send(
        `${population}/rewards`,
        json({
          rewards: Array.from({ length: 64 }, (_, at) => ({ lease: `support/0/1/honest-${round}-${at}`, value: 0 }))
        })
      )
  },
  {
    name: "transcripts deleted while they are read",
    run: async ({ round, send }) => {
      const [, lease = "none"] =
        /"lease":"([^"]+)"/u.exec(await send(`${population}/leases`, json({ requests: [{ key: `t${round}` }] }))) ?? []
      await Promise.all([
        send(`${population}/transcripts/${encodeURIComponent(lease)}`, "", "DELETE"),
        send(`${population}/export`, "", "GET"),
        send(`${population}/events`, "", "GET")
      ])
    }
  },
  {
    name: "JSON of depth 100,000",
    run: ({ send }) => times(2, (at) => send(uploads[at] ?? "", `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`))
  },
  ...[101, 999].map((status) => ({
    name: `status ${status} of the upstream`,
    run: ({ send }: Target) => send("/v1/chat/completions", chat(`{{inspo:support|Help.}} status ${status}`))
  })),
  {
    name: "invalid bodies of 2 MB",
    run: async ({ send }) => {
      const answer = await send(
        `${population}/rewards`,
        json({ rewards: [{ lease: "a", value: "secret ".repeat(285_000) }] })
      )
      if (answer.length > 10_000) throw new Error(`an answer of ${answer.length} bytes repeats its request`)
    }
  }
]

/** What one attack came to; honest latencies in milliseconds. */
export interface Outcome {
  readonly name: string
  readonly requests: number
  readonly statuses: ReadonlyMap<number, number>
  readonly honest: number
  /** How many of the honest ones failed. */
  readonly failed: number
  readonly p99: number
  /** Why the servers did not hold; empty where they did. */
  readonly faults: ReadonlyArray<string>
}

/** Runs an attack for so many milliseconds, beside honest clients. */
export const withstand = async (attack: Attack, port: number, milliseconds: number): Promise<Outcome> => {
  const statuses = new Map<number, number>()
  const faults = new Set<string>()
  const latencies: Array<number> = []
  const end = performance.now() + milliseconds
  let requests = 0
  let failed = 0
  const send: Target["send"] = async (path, body, method = "POST") => {
    requests++
    const { status, text } = await ask(port, path, body, method)
    statuses.set(status, (statuses.get(status) ?? 0) + 1)
    if (status !== 0 && (status === 500 || status > 504)) faults.add(`status ${status}: ${text.slice(0, 200)}`)
    return text
  }
  const honest = async (lane: number) => {
    for (let at = 0; performance.now() < end; at++) {
      const began = performance.now()
      const fault = await honestly(port, `${attack.name}-${lane}-${at}`, lane === 1 && at % 10 === 0)
      latencies.push(performance.now() - began)
      if (fault !== null) {
        failed++
        faults.add(`honest: ${fault}`)
      }
      await sleep(20)
    }
  }
  const hostile = async () => {
    for (let round = 0; performance.now() < end; round++) {
      await attack.run({ port, round, send }).catch((error: unknown) => faults.add(String(error).slice(0, 300)))
      await sleep(20)
    }
  }
  await Promise.all([hostile(), honest(0), honest(1)])
  return { name: attack.name, requests, statuses, failed, ...honestFigures(latencies, faults) }
}

/** What honest rounds took, with a fault where that is too long. Of fewer than 100 rounds the slowest would be the p99. */
export const honestFigures = (
  latencies: ReadonlyArray<number>,
  faults: ReadonlySet<string>
): Pick<Outcome, "honest" | "p99" | "faults"> => {
  const p99 = latencies.toSorted((a, b) => a - b)[Math.floor(0.99 * latencies.length)] ?? 0
  const isSlow = latencies.length >= 100 && p99 > slowest
  const slow = isSlow ? [`honest: p99 is ${Math.round(p99)} ms, expected at most ${slowest}`] : []
  return { honest: latencies.length, p99, faults: [...faults, ...slow] }
}

export const report = ({ failed, faults, honest, name, p99, requests, statuses }: Outcome): string =>
  [
    `${name}: ${requests} requests (${[...statuses].map(([status, count]) => `${count} × ${status || "no answer"}`).join(", ")})`,
    `  honest: ${honest} rounds, ${failed} failed, p99 ${p99.toFixed(0)} ms`,
    ...faults.slice(0, 5).map((fault) => `  FAULT ${fault}`)
  ].join("\n")

/** A model server that says nothing when asked so, and answers with any status. */
export const upstream = async () => {
  const server = createServer((request, response) => {
    let body = ""
    request.on("data", (part: Buffer) => (body += part.toString()))
    request.on("end", () => {
      if (body.includes("say nothing")) return
      const [, status] = /status (\d{3})/u.exec(body) ?? []
      if (status !== undefined) return void response.socket?.end(`HTTP/1.1 ${status} Odd\r\ncontent-length: 0\r\n\r\n`)
      response.setHeader("content-type", "application/json")
      response.end(
        json({
          id: "1",
          object: "chat.completion",
          choices: [{ index: 0, message: { role: "assistant", content: "Yes." } }]
        })
      )
    })
  })
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/v1`,
    close: () => {
      server.closeAllConnections()
      server.close()
    }
  }
}

/** A lease and its reward, and a call of the model; why one of them failed, or null. */
const honestly = async (port: number, key: string, isLarge: boolean): Promise<string | null> => {
  const leased = await ask(port, `${population}/leases`, json({ requests: [{ key }] }))
  const [, lease] = /"lease":"([^"]+)"/u.exec(leased.text) ?? []
  if (leased.status !== 200 || lease === undefined) return `a lease: ${leased.status} ${leased.text.slice(0, 200)}`
  const rewarded = await ask(port, `${population}/rewards`, json({ rewards: [{ lease, value: 1 }] }))
  if (rewarded.status !== 200 || !rewarded.text.includes('"accepted"'))
    return `a reward: ${rewarded.status} ${rewarded.text.slice(0, 200)}`
  const asked = await ask(port, "/v1/chat/completions", chat(`{{inspo:support|Help.}}${isLarge ? large : ""}`))
  return asked.status === 200 ? null : `a call: ${asked.status} ${asked.text.slice(0, 200)}`
}

const ask = async (port: number, path: string, body: string, method = "POST") => {
  try {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { "content-type": "application/json" },
      signal: AbortSignal.timeout(testTimeout),
      ...(method === "POST" ? { body } : {})
    })
    return { status: response.status, text: await response.text() }
  } catch (error) {
    return { status: 0, text: String(error) }
  }
}

/** The head of a request and no more, for so many milliseconds. */
const stalled = async (port: number, path: string, length: number, milliseconds: number) => {
  const socket = connect({ port, host: "127.0.0.1" })
  socket.on("error", () => {})
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n{`
  )
  await sleep(milliseconds)
  socket.destroy()
}

const uploads = [`${population}/leases`, "/v1/chat/completions"]
const large = " word".repeat(220_000)
const silent = chat(`{{inspo:support|Help.}} say nothing ${"x".repeat(1_100_000)}`)

/** Milliseconds in which 99 of 100 honest rounds end, and after which nobody waits. */
const slowest = 1000
const testTimeout = 5000
