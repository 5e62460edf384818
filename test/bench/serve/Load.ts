/** Requests to an instruction server: leases of one unit each, and rewards some time later, one to a request. */
import { setTimeout as wait } from "node:timers/promises"
import { RandomStream } from "@inspo/domain"
import { Random } from "effect"
import type { Client } from "./Client.ts"

export interface Traffic {
  readonly client: Client
  readonly population: string
  /** Leases that are given between a lease and its reward. */
  readonly between: number
}

/** One after the other, a lease and a reward by turns; a lease where there is nothing to reward yet. */
export interface Requests {
  readonly lease: () => Promise<void>
  readonly reward: () => Promise<void>
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
  const reward = async () => {
    const one = given.length > between ? given.shift() : undefined
    if (one === undefined) return lease()
    const value = one.charCodeAt(one.length - 1) % 2
    await client.post(`${path}/rewards`, JSON.stringify({ rewards: [{ lease: one, value }] }))
  }
  return { lease, reward }
}

/** So many requests, of which so many are asked at a time. */
export const take = async ({ lease, reward }: Requests, count: number, atOnce: number): Promise<void> => {
  let begun = 0
  const ask = async () => {
    while (begun < count) await (begun++ % 2 === 0 ? lease() : reward())
  }
  await Promise.all(Array.from({ length: atOnce }, ask))
}

export interface Load {
  readonly requests: Requests
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
  /** Milliseconds by which requests were asked later than they were due: what is the fault of this process. */
  readonly late: ReadonlyArray<number>
  /** Why requests were not answered, one line each. */
  readonly failures: ReadonlyArray<string>
}

/** Requests come at times of their own, whether or not earlier ones are answered: so waiting is counted. */
export const load = async ({ onSecond, rate, requests, seconds, warmUp }: Load): Promise<Latencies> => {
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
    const flight = asked % 2 === 0 ? ask(due, requests.lease, leases) : ask(due, requests.reward, rewards)
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

/** Times between arrivals that know nothing of each other, in milliseconds. */
const arrivals = (rate: number): (() => number) => {
  const draws = RandomStream.drawSync(1, ["load"], Random.shuffle(Array.from({ length: 4096 }, (_, place) => place)))
  let next = 0
  return () => (-1000 / rate) * Math.log(1 - ((draws[next++ % 4096] ?? 0) + 0.5) / 4096)
}
