/** The file of a journal: locked for one writer, only ever appended to, and never touched if it is something else. */
import * as RegularFile from "@inspo/domain/RegularFile"
import { Effect, type Scope } from "effect"
import { constants, fstatSync } from "node:fs"
import { type FileHandle, open, realpath, rename, rm, stat } from "node:fs/promises"
import { dirname } from "node:path"
import process from "node:process"
import type { JournalError } from "../Journal.ts"
import * as FileLock from "./fileLock.ts"

/** Where the text of a journal is kept. */
export interface FileStore {
  readonly read: Effect.Effect<Uint8Array, JournalError>
  /** Cuts off what is behind the first `at` bytes, and writes a text there. It is on the disk when the effect ends. */
  readonly write: (at: number, text: string) => Effect.Effect<void, JournalError>
  /** Puts another text in the place of all of it, at once. */
  readonly replace: (text: string) => Effect.Effect<void, JournalError>
}

/** A text that nothing keeps. */
export const memory = (): FileStore => {
  let text = Buffer.alloc(0)
  return {
    read: Effect.sync(() => text),
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
export const reading = Effect.fnUntraced(function* (
  failures: FileLock.Failures
): Effect.fn.Return<FileStore, JournalError> {
  const { file } = failures
  if (!(yield* isThere(failures))) return yield* missing(failures)
  const refused = Effect.fail(failures.error("storage", "it was opened for reading only"))
  return {
    read: failures.attempt(() => RegularFile.readBytes(file)),
    write: () => refused,
    replace: () => refused
  }
})

/** A file that this process alone writes, until the scope closes. */
export const writing = Effect.fnUntraced(function* (
  failures: FileLock.Failures,
  creates: boolean
): Effect.fn.Return<FileStore, JournalError, Scope.Scope> {
  const { attempt, error, file } = failures
  const isOld = yield* isThere(failures)
  if (!isOld && !creates) return yield* missing(failures)
  let handle = yield* attempt(() => openAt(file))
  yield* Effect.addFinalizer(() => Effect.ignore(Effect.tryPromise(() => handle.close())))
  const { dev, ino } = yield* attempt(() => handle.stat({ bigint: true }))
  const real = yield* attempt(() => realpath(file))
  const lock = yield* FileLock.acquire(failures, real, `${dev}:${ino}`)
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
    read: attempt(() => RegularFile.readBytes(file)),
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
const isThere = ({ attempt, error, file }: FileLock.Failures): Effect.Effect<boolean, JournalError> =>
  Effect.flatMap(
    attempt(() => stat(file).catch(nullIfMissing)),
    (stats) => {
      const problem = stats === null ? null : RegularFile.fault(stats)
      return problem === null ? Effect.succeed(stats !== null) : Effect.fail(error("not-a-journal", problem))
    }
  )

const missing = ({ error }: FileLock.Failures) =>
  Effect.fail(error("missing", "there is no such file (ENOENT); check the path"))

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
