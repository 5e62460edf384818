/** What several benches measure and print by. */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"

/** Processor seconds of all threads, so far or since then: a busy machine does not change them as it changes the clock. */
export const processorSeconds = (since?: NodeJS.CpuUsage): number => {
  const { system, user } = process.cpuUsage(since)
  return (system + user) / 1e6
}

/** The value that a share of the sorted values does not exceed; NaN without any. */
export const quantile = (sorted: ReadonlyArray<number>, share: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? Number.NaN

/** The slope of the line through points, by least squares. */
export const slope = (points: ReadonlyArray<readonly [x: number, y: number]>): number => {
  const mean = (axis: 0 | 1) => points.reduce((sum, point) => sum + point[axis], 0) / points.length
  const [x, y] = [mean(0), mean(1)]
  return (
    points.reduce((sum, point) => sum + (point[0] - x) * (point[1] - y), 0) /
    points.reduce((sum, point) => sum + (point[0] - x) ** 2, 0)
  )
}

/** A number with three digits. */
export const short = (value: number): number => Number(value.toPrecision(3))

/** A row of a result with numbers of three digits; whole ones stay as they are. */
export const shortRow = (row: Readonly<Record<string, string | number>>): Readonly<Record<string, string | number>> =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      typeof value === "string" || Number.isInteger(value) ? value : short(value)
    ])
  )

/** Prints the result as a line of JSON, then a table; the exit code is 1 when a limit is missed. */
export const print = (result: object, lines: ReadonlyArray<string>, met: boolean): void => {
  process.stdout.write([JSON.stringify(result), ...lines, ""].join("\n"))
  if (!met) process.exitCode = 1
}

let collect: (() => void) | undefined

export const collectGarbage = (): void => {
  if (collect === undefined) {
    setFlagsFromString("--expose-gc")
    collect = runInNewContext("gc") as () => void
  }
  collect()
}
