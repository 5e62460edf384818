/** Reads files that somebody else may have put there: no pipe or device is opened, and no more than a limit is read. */
import { constants } from "node:fs"
import { open, stat } from "node:fs/promises"

/** The text of a regular file, or of a link to one; rejects for anything else, and for one of more than `mostBytes`. */
export const readText = async (file: string, mostBytes = longestText): Promise<string> =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(await readBytes(file, mostBytes))

/** The same as bytes, those before `from` excluded. What others append meanwhile is left out. */
export const readBytes = async (file: string, mostBytes = Infinity, from = 0): Promise<Uint8Array<ArrayBuffer>> => {
  // Opening a device may already act on it.
  check(await stat(file), mostBytes)
  // If a pipe has replaced the file since, opening it must not wait for a writer. Windows has no such flag.
  const handle = await open(file, process.platform === "win32" ? "r" : constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const size = Math.max(0, check(await handle.stat(), mostBytes).size - from)
    const bytes = new Uint8Array(size)
    let length = 0
    while (length < size) {
      const { bytesRead } = await handle.read(bytes, length, size - length, from + length)
      if (bytesRead === 0) break
      length += bytesRead
    }
    return bytes.subarray(0, length)
  } finally {
    await handle.close()
  }
}

/** Why this is no regular file of at most `mostBytes`; null if it is one. */
export const fault = (stats: FileStats, mostBytes = Infinity): string | null =>
  !stats.isFile()
    ? `it is ${kindOf(stats)}; expected a regular file`
    : stats.size > mostBytes
      ? `it has ${stats.size} bytes; expected at most ${mostBytes}`
      : null

/** What `stat` of `node:fs` says of a file. */
export interface FileStats {
  readonly size: number
  isFile(): boolean
  isDirectory(): boolean
  isFIFO(): boolean
  isSocket(): boolean
}

/** Bytes of the longest text that JavaScript holds. */
const longestText = 2 ** 29 - 24

const check = (stats: FileStats, mostBytes: number): FileStats => {
  const problem = fault(stats, mostBytes)
  if (problem !== null) throw new Error(problem)
  return stats
}

const kindOf = (stats: FileStats): string =>
  stats.isDirectory() ? "a directory" : stats.isFIFO() ? "a named pipe" : stats.isSocket() ? "a socket" : "a device"
