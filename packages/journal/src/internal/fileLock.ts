/** Lets one process at a time write a file, whatever its name. */
import { randomUUID } from "node:crypto"
import { type FileHandle, lstat, open, readdir, readFile, rm } from "node:fs/promises"
import { existsSync } from "node:fs"
import { hostname } from "node:os"
import { basename, dirname, join } from "node:path"
import process from "node:process"
import { Effect, Result, Schedule, type Scope } from "effect"
import type { JournalError } from "../Journal.ts"
import type { Store } from "./input.ts"

export interface Lock {
  /** False if another process took the lock over, because this one did not renew it in time. */
  readonly isHeld: () => boolean
}

/** A file, and how what goes wrong with it is reported. */
export interface Failures extends Store {
  readonly file: string
  readonly attempt: <A>(run: () => Promise<A>) => Effect.Effect<A, JournalError>
}

/**
 * Holds the lock of a file until the scope closes. Each process creates a file of its own, `FILE.lock-PID-TOKEN-HOST`, which contains
 * the identity of the file, and has the lock if it finds no other one of that name or identity. The lock of a process that has ended
 * is removed, as is one that was not renewed for a minute: the processes of another host cannot be seen.
 *
 * A lock file of its own cannot be taken from the wrong process, as one shared file can, when two processes find a dead lock at the same time.
 */
export const acquire = Effect.fn("FileLock.acquire")(function* (
  { attempt, error }: Failures,
  file: string,
  identity: string
): Effect.fn.Return<Lock, JournalError, Scope.Scope> {
  const name = `${basename(file)}.lock-${process.pid}-${randomUUID().slice(0, 8)}-${encodeURIComponent(hostname())}`
  const mine = join(dirname(file), name)
  const renew = (handle: FileHandle) => handle.write(identity, 0)
  const handle = yield* Effect.acquireRelease(
    attempt(async () => {
      const created = await open(mine, "wx", 0o600)
      own.add(name)
      await renew(created)
      return created
    }),
    (created) =>
      Effect.ignore(
        Effect.tryPromise(async () => {
          await created.close()
          await rm(mine, { force: true })
          own.delete(name)
        })
      )
  )
  const rival = yield* attempt(() => findRival(file, name, identity))
  if (rival !== null) return yield* error("locked", explain(rival))
  yield* Effect.forkScoped(
    Effect.repeat(Effect.ignore(Effect.tryPromise(() => renew(handle))), Schedule.spaced("10 seconds"))
  )
  return { isHeld: () => existsSync(mine) }
})

/** The lock files of this process. Another one with its id is of a process that ended, such as before its container was restarted. */
const own = new Set<string>()

interface Holder {
  readonly path: string
  readonly name: string
  readonly pid: number
  readonly host: string
  /** When the lock was created or renewed, in milliseconds by the clock of the file system. */
  readonly renewed: number
}

/** Another process with the lock; null if there is none. Of processes that start at the same time the first one gets it. */
const findRival = async (file: string, mine: string, identity: string): Promise<Holder | null> => {
  for (let look = 1; ; look++) {
    const found = await holders(file, identity)
    const self = found.find(({ name }) => name === mine)
    if (self === undefined) throw new Error(`its lock ${mine} was removed; start again`)
    const living: Array<Holder> = []
    for (const one of found) {
      if (one === self) continue
      if (isDead(one, self)) await rm(one.path, { force: true })
      else living.push(one)
    }
    const [rival] = living.toSorted(byAge)
    if (rival === undefined) return null
    // A process that started later finds this one, and gives up.
    if (byAge(rival, self) < 0 || look === mostLooks) return rival
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

const holders = async (file: string, identity: string): Promise<ReadonlyArray<Holder>> => {
  const directory = dirname(file)
  const found = await Promise.all(
    (await readdir(directory)).map(async (name) => {
      const [, base, pid, encoded = ""] = /^(.+)\.lock-(\d+)-[0-9a-f]{8}-(.+)$/u.exec(name) ?? []
      const host = Result.try(() => decodeURIComponent(encoded))
      const path = join(directory, name)
      const renewed = base === undefined ? null : await renewedAt(path)
      if (renewed === null || Result.isFailure(host)) return null
      // Under another name it may be the lock of the same file.
      if (base !== basename(file) && (await readFile(path, "utf8").catch(() => "")) !== identity) return null
      return { path, name, pid: Number(pid), host: host.success, renewed }
    })
  )
  return found.filter((one) => one !== null)
}

/** When a lock file was renewed; null for what is none. */
const renewedAt = async (path: string): Promise<number | null> => {
  try {
    const stats = await lstat(path)
    return stats.isFile() ? stats.mtimeMs : null
  } catch {
    return null
  }
}

const isDead = (other: Holder, self: Holder): boolean =>
  self.renewed - other.renewed > longest || (other.host === hostname() && !isRunning(other))

const isRunning = ({ name, pid }: Holder): boolean => {
  if (pid === process.pid) return own.has(name)
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Without the permission to ask, only the age of the lock counts.
    return !(error instanceof Error && Reflect.get(error, "code") === "ESRCH")
  }
}

const byAge = (one: Holder, other: Holder): number => one.renewed - other.renewed || (one.name < other.name ? -1 : 1)

const explain = ({ host, path, pid }: Holder): string =>
  `process ${pid} on ${host} is writing to it, by its lock ${path}. ` +
  "Wait until it ends (its lock expires a minute later at the latest), stop it, or name another file"

/** Milliseconds without renewal after which a lock is void. */
const longest = 60_000
const mostLooks = 100
const pause = 10
