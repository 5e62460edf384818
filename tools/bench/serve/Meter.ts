/**
 * Loaded into a server before its program: on request it sends its parent the figures of the process since the last request.
 * The figures except `delay` and `pauses` hardly depend on the load of the machine.
 */
import { monitorEventLoopDelay } from "node:perf_hooks"
import { GCProfiler, getHeapStatistics } from "node:v8"

/** Times in milliseconds. */
export interface Reading {
  /** Processor time of all threads, and of the main thread. */
  readonly processor: number
  readonly main: number
  /** Allocated bytes. */
  readonly allocated: number
  /** Pauses of the garbage collection, by kind. */
  readonly pauses: Readonly<Record<string, { readonly count: number; readonly sum: number; readonly most: number }>>
  /** The delays of timers. */
  readonly delay: { readonly p50: number; readonly p99: number; readonly most: number }
}

const delay = monitorEventLoopDelay({ resolution: 1 })
delay.enable()

const begin = () => {
  delay.reset()
  const collector = new GCProfiler()
  collector.start()
  return {
    processor: process.cpuUsage(),
    main: process.threadCpuUsage(),
    heap: getHeapStatistics().used_heap_size,
    collector
  }
}

const milliseconds = ({ system, user }: NodeJS.CpuUsage): number => (system + user) / 1000

const read = (since: ReturnType<typeof begin>): Reading => {
  const processor = milliseconds(process.cpuUsage(since.processor))
  const main = milliseconds(process.threadCpuUsage(since.main))
  const { statistics } = since.collector.stop()
  const pauses: Record<string, { count: number; sum: number; most: number }> = {}
  let [allocated, left] = [0, since.heap]
  for (const { afterGC, beforeGC, cost, gcType } of statistics) {
    const known = pauses[gcType] ?? { count: 0, sum: 0, most: 0 }
    const pause = cost / 1000
    pauses[gcType] = { count: known.count + 1, sum: known.sum + pause, most: Math.max(known.most, pause) }
    allocated += beforeGC.heapStatistics.usedHeapSize - left
    left = afterGC.heapStatistics.usedHeapSize
  }
  allocated += getHeapStatistics().used_heap_size - left
  const of = (nanoseconds: number) => nanoseconds / 1e6
  return {
    processor,
    main,
    allocated,
    pauses,
    delay: { p50: of(delay.percentile(50)), p99: of(delay.percentile(99)), most: of(delay.max) }
  }
}

let since = begin()
process.on("message", () => {
  process.send?.(read(since))
  since = begin()
})
process.channel?.unref()
