/** The load of an instruction server: leases of one unit each, one per request, and rewards some time later. */
import { setTimeout as wait } from "node:timers/promises"
import { Inspo } from "@inspo/client"
import { RandomStream } from "@inspo/domain"
import type { Client } from "./Client.ts"

export interface Traffic {
  readonly client: Client
  readonly population: string
  /** The number of leases between a lease and its reward. */
  readonly between: number
}

/** Reports the reward of a lease; resolves when the server has stored it. */
export type Report = (lease: string, value: number) => Promise<void>

/** Each in a request of its own. */
export const alone =
  (client: Client, population: string): Report =>
  async (lease, value) => {
    await client.post(`/v1/populations/${population}/rewards`, JSON.stringify({ rewards: [{ lease, value }] }))
  }

/** Through the published client, over the connections of `client`: rewards during a request are sent with the next one. */
export const published = (client: Client, population: string): Report => {
  const waiting = new Map<string, () => void>()
  const inspo = new Inspo({
    urls: [client.address],
    fetch: async (url, init) => {
      const body = await new Response(init?.body).text()
      const answer = await client.post(new URL(url instanceof Request ? url.url : url).pathname, body)
      for (const { lease } of JSON.parse(body).rewards) waiting.get(lease)?.()
      return new Response(answer)
    }
  })
  return (lease, value) =>
    new Promise((resolve) => {
      waiting.set(lease, () => {
        waiting.delete(lease)
        resolve()
      })
      void inspo.reward(population, { lease, value })
    })
}

/** Alternating leases and rewards; a lease if there is nothing to reward yet. */
export interface Requests {
  readonly lease: () => Promise<void>
  readonly reward: (report: Report) => Promise<void>
}

export const requests = ({ between, client, population }: Traffic): Requests => {
  const path = `/v1/populations/${population}`
  const mark = performance.timeOrigin
  const given: Array<string> = []
  let asked = 0
  const lease = async () => {
    const answer = await client.post(`${path}/leases`, JSON.stringify({ requests: [{ key: `${mark}-${asked++}` }] }))
    given.push(JSON.parse(answer).leases[0].lease)
  }
  const reward = async (report: Report) => {
    const one = given.length > between ? given.shift() : undefined
    if (one === undefined) return lease()
    await report(one, one.charCodeAt(one.length - 1) % 2)
  }
  return { lease, reward }
}

/** Sends `count` requests, `atOnce` at a time. */
export const take = async (
  { lease, reward }: Requests,
  report: Report,
  { atOnce, count }: { readonly count: number; readonly atOnce: number }
): Promise<void> => {
  let begun = 0
  const ask = async () => {
    while (begun < count) await (begun++ % 2 === 0 ? lease() : reward(report))
  }
  await Promise.all(Array.from({ length: atOnce }, ask))
}

export interface Load {
  readonly requests: Requests
  readonly report: Report
  /** Leases, and rewards, per second. */
  readonly rate: number
  /** The time of measured requests in seconds, after the warm-up. */
  readonly seconds: number
  readonly warmUp: number
  /** Called once a second with the number of leases. */
  readonly onSecond: (leases: number) => void
}

/** Milliseconds from when a request was due to when it was answered. */
export interface Latencies {
  readonly leases: ReadonlyArray<number>
  readonly rewards: ReadonlyArray<number>
  /** Milliseconds by which requests were sent late, because of this process. */
  readonly late: ReadonlyArray<number>
  /** The errors of failed requests, one line each. */
  readonly failures: ReadonlyArray<string>
}

/** Sends requests at independent times, without waiting for earlier ones, so that waiting is measured. */
export const load = async ({ onSecond, rate, requests, seconds, report, warmUp }: Load): Promise<Latencies> => {
  const leases: Array<number> = []
  const rewards: Array<number> = []
  const late: Array<number> = []
  const failures: Array<string> = []
  const flying = new Set<Promise<void>>()
  const begin = performance.now()
  const measured = begin + 1000 * warmUp
  const end = measured + 1000 * seconds

  const ask = async (due: number, request: () => Promise<void>, into: Array<number>) => {
    try {
      if (due >= measured) late.push(performance.now() - due)
      await request()
      if (due >= measured) into.push(performance.now() - due)
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error))
    }
  }

  const gaps = arrivals(2 * rate)
  let asked = 0
  let elapsed = 0
  for (let due = begin; due < end; due += gaps()) {
    const ahead = due - performance.now()
    if (ahead > 1) await wait(ahead)
    const flight = asked % 2 === 0 ? ask(due, requests.lease, leases) : ask(due, () => requests.reward(report), rewards)
    flying.add(flight)
    void flight.finally(() => flying.delete(flight))
    asked += 1
    if (due - begin > 1000 * elapsed) {
      elapsed += 1
      onSecond(asked / 2)
    }
  }
  await Promise.all(flying)
  return { leases, rewards, late, failures }
}

/** Times between independent arrivals, in milliseconds. */
const arrivals = (rate: number): (() => number) => {
  const draws = RandomStream.make(1, ["load"]).shuffle(Array.from({ length: 4096 }, (_, place) => place))
  let next = 0
  return () => (-1000 / rate) * Math.log(1 - ((draws[next++ % 4096] ?? 0) + 0.5) / 4096)
}
