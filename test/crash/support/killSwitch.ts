/**
 * Loaded into the program before it starts: it kills its own process, as `kill -9` does, in the middle of what
 * `INSPO_KILL_AT` names. Nothing of the program knows of it.
 *
 * - `operation:N`: before the N-th statement on the journal, new file or renaming
 * - `checkpoint:N`: before the N-th operation on a checkpoint that is being written
 * - `event:TYPE`: before an event of that type is stored, inside the transaction
 * - `commit:N`: before the N-th transaction of the journal is committed
 *
 * `+MS` behind it waits so many milliseconds more, from when the operation went on.
 */
import fs from "node:fs"
import { syncBuiltinESMExports } from "node:module"
import { DatabaseSync } from "node:sqlite"
import { isMainThread } from "node:worker_threads"

const [, kind = "", which = "", delay = "0"] =
  /^(\w+):(\w+)(?:\+(\d+))?$/u.exec(process.env["INSPO_KILL_AT"] ?? "") ?? []

const die = (): void => {
  process.kill(process.pid, "SIGKILL")
  // The signal arrives in a moment; nothing may happen until then.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000)
}

let left = Number(which)
let armed = false

/** Something is about to happen; `kinds` are the ways in which a kill may name it. */
const about = (...kinds: ReadonlyArray<string>): void => {
  if (armed || !kinds.includes(kind === "event" ? `event:${which}` : kind)) return
  if (kind !== "event" && --left > 0) return
  armed = true
  if (delay === "0") die()
  else setTimeout(die, Number(delay))
}

/** Has a look at each call of a function, and at what it gives. */
const spy = (
  owner: object,
  name: string,
  before: (parameters: ReadonlyArray<unknown>) => void,
  after: (result: unknown, self: unknown, parameters: ReadonlyArray<unknown>) => void = () => {}
): void => {
  const original: unknown = Reflect.get(owner, name)
  if (typeof original !== "function") throw new Error(`${name} is no function`)
  const watched = new Proxy(original, {
    apply: (target, self: unknown, parameters: ReadonlyArray<unknown>) => {
      before(parameters)
      const result: unknown = Reflect.apply(target, self, parameters)
      after(result, self, parameters)
      return result
    }
  })
  Reflect.set(owner, name, watched)
}

const isJournal = (database: unknown): boolean =>
  database instanceof DatabaseSync && database.location()?.endsWith("journal.sqlite") === true

const watchStatements = (): void =>
  spy(
    DatabaseSync.prototype,
    "prepare",
    () => {},
    (statement, database, [sql]) => {
      if (!isJournal(database) || typeof statement !== "object" || statement === null) return
      const inserts = /^\s*INSERT INTO "?events/iu.test(String(sql))
      const commits = /^COMMIT/iu.test(String(sql)) ? ["commit"] : []
      spy(statement, "all", (parameters) => {
        const texts = parameters.filter((parameter) => typeof parameter === "string")
        about("operation", ...commits, ...(inserts ? texts.map((type) => `event:${type}`) : []))
      })
    }
  )

const watchFiles = (): void => {
  const kinds = (path: unknown) => ["operation", ...(String(path).endsWith(".partial") ? ["checkpoint"] : [])]
  spy(fs.promises, "open", ([path, flags]) => {
    if (flags !== "r") about(...kinds(path))
  })
  spy(fs.promises, "rename", ([from]) => about(...kinds(from)))
  spy(fs, "rename", () => about("operation"))
  syncBuiltinESMExports()
}

if (isMainThread && kind !== "") {
  watchStatements()
  watchFiles()
}
