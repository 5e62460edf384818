/** What a request of leases, or of one reward, costs a server: figures that hardly depend on the load of the machine. */
import { join } from "node:path"
import { processorSeconds, quantile } from "../Measure.ts"
import * as Client from "./Client.ts"
import { alone, requests, take } from "./Load.ts"
import type { Reading } from "./Meter.ts"
import * as Process from "./Process.ts"

/** The traffic of a server: eight requests at a time, leases and rewards by turns. */
export const trafficOf = (server: Process.Process) => {
  const client = Client.make(server.address, 256)
  return { client, asking: requests({ client, population: "default", between: 1000 }), one: alone(client, "default") }
}

/** Milliseconds and kilobytes of one of so many requests, after a warm-up. `generator` is what this process took for it. */
export const ofRequest = async (
  server: Process.Process,
  { asking, one }: Pick<ReturnType<typeof trafficOf>, "asking" | "one">,
  { count, warmUp }: { readonly count: number; readonly warmUp: number }
) => {
  await take(asking, one, { count: warmUp, atOnce: 8 })
  await Process.read(server)
  const before = process.cpuUsage()
  await take(asking, one, { count, atOnce: 8 })
  const generator = rounded((1000 * processorSeconds(before)) / count)
  return { ...costs(await Process.read(server), count), generator }
}

/** The same of a server that is started for it. */
export const ofServer = async (start: () => Promise<Process.Process>, counts: Parameters<typeof ofRequest>[2]) => {
  const server = await start()
  const traffic = trafficOf(server)
  const cost = await ofRequest(server, traffic, counts)
  traffic.client.close()
  await Process.stop(server)
  return cost
}

/**
 * The costs of `inspo serve` and of a server of Node alone, by turns: medians, and the median of the ratios of the processor times
 * of each turn.
 */
export const beside = async (
  folder: string,
  { counts, turns }: { readonly counts: Parameters<typeof ofRequest>[2]; readonly turns: number }
) => {
  const bare: Array<Awaited<ReturnType<typeof ofServer>>> = []
  const own: typeof bare = []
  for (let turn = 0; turn < turns; turn++) {
    bare.push(await ofServer(() => Process.startBare(folder), counts))
    own.push(await ofServer(() => Process.start(folder, ["--out", join(folder, `beside-${turn}`)]), counts))
  }
  return {
    bare: median(bare.map(({ processor }) => processor)),
    processor: median(own.map(({ processor }) => processor)),
    kilobytes: median(own.map(({ kilobytes }) => kilobytes)),
    ratio: rounded(median(own.map(({ processor }, turn) => processor / (bare[turn]?.processor ?? Number.NaN))))
  }
}

const median = (values: ReadonlyArray<number>): number =>
  quantile(
    [...values].sort((a, b) => a - b),
    0.5
  )

export const rounded = (value: number): number => Math.round(1000 * value) / 1000

/** Processor time of all threads and of the main thread, pauses, and what was allocated. */
const costs = ({ allocated, main, pauses, processor }: Reading, count: number) => ({
  processor: rounded(processor / count),
  main: rounded(main / count),
  collecting: rounded(Object.values(pauses).reduce((sum, one) => sum + one.sum, 0) / count),
  kilobytes: rounded(allocated / count / 1000)
})
