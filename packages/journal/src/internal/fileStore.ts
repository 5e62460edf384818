/** The file of a journal: locked for one writer, only ever appended to, and never touched if it is something else. */
import * as RegularFile from "@inspo/domain/RegularFile"
import { Effect, Result, Schedule, type Scope } from "effect"
import { randomUUID } from "node:crypto"
import { constants, existsSync, fstatSync } from "node:fs"
import { type FileHandle, lstat, open, readdir, readFile, realpath, rename, rm, stat } from "node:fs/promises"
import { hostname } from "node:os"
import { basename, dirname, join } from "node:path"
import process from "node:process"
import type { JournalError } from "../Journal.ts"
import type { Store } from "./input.ts"

/** A file, and how what goes wrong with it is reported. */
export interface Failures extends Store {
  readonly file: string
  readonly attempt: <A>(run: () => Promise<A>) => Effect.Effect<A, JournalError>
}

/** Where the text of a journal is kept. */
export interface FileStore {
  /** What is behind the first `from` bytes. */
  readonly read: (from: number) => Effect.Effect<Uint8Array, JournalError>
  /** Cuts off what is behind the first `at` bytes, and writes a text there. It is on the disk when the effect ends. */
  readonly write: (at: number, text: string) => Effect.Effect<void, JournalError>
  /** Puts another text in the place of all of it, at once. */
  readonly replace: (text: string) => Effect.Effect<void, JournalError>
}

/** A text that nothing keeps. */
export const memory = (): FileStore => {
  let text = Buffer.alloc(0)
  return {
    read: (from) => Effect.sync(() => text.subarray(from)),
    write: (at, more) =>
      Effect.sync(() => {
        text = Buffer.concat([text.subarray(0, at), Buffer.from(more)])
      }),
    replace: (all) =>
      Effect.sync(() => {
        text = Buffer.from(all)
      })
  }
}

/** A file that is read alone, also while another process writes it. */
export const reading = Effect.fnUntraced(function* (failures: Failures): Effect.fn.Return<FileStore, JournalError> {
  const { file } = failures
  if (!(yield* isThere(failures))) return yield* missing(failures)
  const refused = Effect.fail(failures.error("storage", "it was opened for reading only"))
  return {
    read: (from) => failures.attempt(() => RegularFile.readBytes(file, Infinity, from)),
    write: () => refused,
    replace: () => refused
  }
})

/** A file that this process alone writes, until the scope closes. */
export const writing = Effect.fnUntraced(function* (
  failures: Failures,
  creates: boolean
): Effect.fn.Return<FileStore, JournalError, Scope.Scope> {
  const { attempt, error, file } = failures
  const isOld = yield* isThere(failures)
  if (!isOld && !creates) return yield* missing(failures)
  let handle = yield* attempt(() => openAt(file))
  yield* Effect.addFinalizer(() => Effect.ignore(Effect.tryPromise(() => handle.close())))
  const { dev, ino } = yield* attempt(() => handle.stat({ bigint: true }))
  const real = yield* attempt(() => realpath(file))
  const lock = yield* acquire(failures, real, `${dev}:${ino}`)
  if (!isOld) yield* attempt(() => syncFolderOf(real))
  let size = (yield* attempt(() => handle.stat())).size
  // Asking at once is faster than a turn of the event loop, of which a write has few.
  const assertOwn = Effect.suspend(() => {
    const found = fstatSync(handle.fd)
    return !lock.isHeld()
      ? Effect.fail(error("fenced", "another process writes to it now; its lock was not renewed for a minute"))
      : found.nlink === 0
        ? Effect.fail(error("fenced", "the file was removed"))
        : found.size === size
          ? Effect.void
          : Effect.fail(error("fenced", "another process wrote to it"))
  })
  return {
    read: (from) => attempt(() => RegularFile.readBytes(file, Infinity, from)),
    write: (at, text) =>
      Effect.andThen(
        assertOwn,
        attempt(async () => {
          if (at < size) await handle.truncate(at)
          await handle.appendFile(text)
          await handle.datasync()
          size = at + Buffer.byteLength(text)
        })
      ),
    replace: (text) =>
      Effect.andThen(
        assertOwn,
        attempt(async () => {
          const partial = `${real}.partial`
          await rm(partial, { force: true })
          const other = await open(partial, "ax", 0o600)
          await other.appendFile(text)
          await other.datasync()
          await rename(partial, real)
          await syncFolderOf(real)
          await handle.close()
          handle = other
          size = Buffer.byteLength(text)
        })
      )
  }
})

/** Whether there is a file; fails if it is a pipe, a device or a directory, which is not opened. */
const isThere = ({ attempt, error, file }: Failures): Effect.Effect<boolean, JournalError> =>
  Effect.flatMap(
    attempt(() => stat(file).catch(nullIfMissing)),
    (stats) => {
      const problem = stats === null ? null : RegularFile.fault(stats)
      return problem === null ? Effect.succeed(stats !== null) : Effect.fail(error("not-a-journal", problem))
    }
  )

const missing = ({ error }: Failures) => Effect.fail(error("missing", "there is no such file (ENOENT); check the path"))

const nullIfMissing = (cause: unknown): null => {
  if (cause instanceof Error && Reflect.get(cause, "code") === "ENOENT") return null
  throw cause
}

/** If a pipe has taken the place of the file since, opening it does not wait for the other end. Windows has no such flag. */
const openAt = (file: string): Promise<FileHandle> =>
  open(
    file,
    process.platform === "win32"
      ? "a+"
      : constants.O_RDWR | constants.O_CREAT | constants.O_APPEND | constants.O_NONBLOCK,
    0o600
  )

/** Windows refuses to bring a folder to the disk. */
const syncFolderOf = async (file: string): Promise<void> => {
  if (process.platform === "win32") return
  const folder = await open(dirname(file), "r")
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

interface Lock {
  /** False if another process took the lock over, because this one did not renew it in time. */
  readonly isHeld: () => boolean
}

/**
 * Holds the lock of a file until the scope closes. Each process creates a file of its own, `FILE.lock-PID-TOKEN-HOST`, which contains
 * the identity of the file, and has the lock if it finds no other one of that name or identity. The lock of a process that has ended
 * is removed, as is one that was not renewed for a minute: the processes of another host cannot be seen.
 *
 * A lock file of its own cannot be taken from the wrong process, as one shared file can, when two processes find a dead lock at the same time.
 */
const acquire = Effect.fn("FileLock.acquire")(function* (
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
