/** Lets one process at a time write a file. */
import { randomUUID } from "node:crypto"
import { access, open, readdir, rm, stat } from "node:fs/promises"
import { hostname } from "node:os"
import { basename, dirname, join } from "node:path"
import process from "node:process"
import { Effect, Schedule, type Scope } from "effect"
import { describe, FileFailed } from "./Failure.ts"

export interface Lock {
  /** Fails if another process took the lock over, because this one did not renew it in time. */
  readonly assertHeld: Effect.Effect<void, FileFailed>
}

/**
 * Holds the lock of a file until the scope closes. Each process creates a file of its own, `FILE.lock-PID-TOKEN-HOST`, and has the lock
 * if it finds no other one. The lock of a process that has ended is removed, as is one that was not renewed for a minute: the
 * processes of another host cannot be seen.
 *
 * A lock file of its own cannot be taken from the wrong process, as one shared file can, when two processes find a dead lock at the same time.
 */
export const acquire = Effect.fn("Lock.acquire")(function* (
  file: string
): Effect.fn.Return<Lock, FileFailed, Scope.Scope> {
  const failed = (cause: unknown) => new FileFailed({ file, problem: describe(cause), cause })
  const attempt = <A>(run: () => Promise<A>) => Effect.tryPromise({ try: run, catch: failed })
  const name = `${basename(file)}.lock-${process.pid}-${randomUUID().slice(0, 8)}-${encodeURIComponent(hostname())}`
  const mine = join(dirname(file), name)
  const handle = yield* Effect.acquireRelease(
    attempt(async () => {
      const created = await open(mine, "wx", 0o600)
      own.add(name)
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
  const rival = yield* attempt(() => findRival(file, name))
  if (rival !== null) return yield* new FileFailed({ file, problem: explain(rival) })
  yield* Effect.forkScoped(
    Effect.repeat(Effect.ignore(Effect.tryPromise(() => handle.write(".", 0))), Schedule.spaced("10 seconds"))
  )
  return {
    assertHeld: Effect.mapError(
      Effect.tryPromise(() => access(mine)),
      () => new FileFailed({ file, problem: "another process writes to it now; its lock was not renewed for a minute" })
    )
  }
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
const findRival = async (file: string, mine: string): Promise<Holder | null> => {
  for (let look = 1; ; look++) {
    const found = await holders(file)
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

const holders = async (file: string): Promise<ReadonlyArray<Holder>> => {
  const directory = dirname(file)
  const found = await Promise.all(
    (await readdir(directory)).map(async (name) => {
      const [, pid, host] = parse(basename(file), name)
      if (pid === undefined || host === undefined) return null
      const path = join(directory, name)
      const renewed = await renewedAt(path)
      return renewed === null ? null : { path, name, pid: Number(pid), host: decodeURIComponent(host), renewed }
    })
  )
  return found.filter((one) => one !== null)
}

const parse = (base: string, name: string): ReadonlyArray<string | undefined> =>
  name.startsWith(`${base}.lock-`) ? (/^(\d+)-[0-9a-f]{8}-(.+)$/u.exec(name.slice(base.length + 6)) ?? []) : []

const renewedAt = async (path: string): Promise<number | null> => {
  try {
    return (await stat(path)).mtimeMs
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
