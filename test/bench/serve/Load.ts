/** Requests that come at times of their own, whether or not earlier ones are answered: so waiting is counted. */
import { Agent, request } from "node:http"
import { setTimeout as wait } from "node:timers/promises"
import { RandomStream } from "@inspo/domain"
import { Random } from "effect"

export interface Load {
  readonly address: string
  readonly population: string
  /** Leases, and rewards, per second. */
  readonly rate: number
  /** How long requests come, in seconds, after those that warm up. */
  readonly seconds: number
  readonly warmUp: number
  /** Told once a second, with the leases that were given. */
  readonly onSecond: (leases: number) => void
}

/** Milliseconds from when a request was due to when it was answered. */
export interface Latencies {
  readonly leases: ReadonlyArray<number>
  readonly rewards: ReadonlyArray<number>
  /** Why requests were not answered, one line each. */
  readonly failures: ReadonlyArray<string>
}

/** Asks for leases of one unit each, and rewards each some time later, one to a request. */
export const load = async ({ address, onSecond, population, rate, seconds, warmUp }: Load): Promise<Latencies> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const url = `${address}/v1/populations/${population}`
  const given: Array<string> = []
  const leases: Array<number> = []
  const rewards: Array<number> = []
  const failures: Array<string> = []
  const flying = new Set<Promise<void>>()
  const begin = performance.now()
  const measured = begin + 1000 * warmUp
  const end = measured + 1000 * seconds

  const fly = (request: Promise<void>) => {
    flying.add(request)
    void request.finally(() => flying.delete(request))
  }
  const ask = async (due: number, path: string, body: string, into: Array<number>, read: (answer: string) => void) => {
    try {
      read(await post(agent, `${url}${path}`, body))
      if (due >= measured) into.push(performance.now() - due)
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error))
    }
  }
  const lease = (due: number, key: string) =>
    ask(due, "/leases", JSON.stringify({ requests: [{ key }] }), leases, (answer) => {
      given.push(JSON.parse(answer).leases[0].lease)
    })
  const reward = (due: number) => {
    const lease = given.length > rate ? given.shift() : undefined
    if (lease === undefined) return
    const items = [{ lease, value: lease.charCodeAt(lease.length - 1) % 2 }]
    fly(ask(due, "/rewards", JSON.stringify({ rewards: items }), rewards, () => {}))
  }

  const gaps = arrivals(2 * rate)
  let asked = 0
  let elapsed = 0
  for (let due = begin; due < end; due += gaps()) {
    const ahead = due - performance.now()
    if (ahead > 1) await wait(ahead)
    if (asked % 2 === 0) fly(lease(due, `${begin}-${asked}`))
    else reward(due)
    asked += 1
    if (due - begin > 1000 * elapsed) {
      elapsed += 1
      onSecond(asked / 2)
    }
  }
  await Promise.all(flying)
  agent.destroy()
  return { leases, rewards, failures }
}

/** Times between arrivals that know nothing of each other, in milliseconds. */
const arrivals = (rate: number): (() => number) => {
  const draws = RandomStream.drawSync(1, ["load"], Random.shuffle(Array.from({ length: 4096 }, (_, place) => place)))
  let next = 0
  return () => (-1000 / rate) * Math.log(1 - ((draws[next++ % 4096] ?? 0) + 0.5) / 4096)
}

const post = (agent: Agent, url: string, body: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) }
    const asked = request(url, { agent, method: "POST", headers }, (response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (chunk: string) => (text += chunk))
      response.on("error", reject)
      response.on("end", () => (response.statusCode === 200 ? resolve(text) : reject(new Error(text))))
    })
    asked.on("error", reject)
    asked.end(body)
  })
