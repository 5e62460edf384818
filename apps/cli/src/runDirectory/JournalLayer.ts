import type { RunConfig } from "@inspo/config"
import { basename, resolve } from "node:path"
import { Journal, JournalError, type Mode } from "@inspo/journal"
import * as sqlite from "@inspo/journal/sqlite"
import { Effect, Layer } from "effect"
import * as Secret from "../config/Secret.ts"
import { filesOf } from "./Files.ts"

/** The journal of a run: a file in its directory, or the database that the config names. */
export const layerJournal = (
  directory: string,
  { journal, keys }: Pick<RunConfig, "journal" | "keys">,
  mode: Mode
): Layer.Layer<Journal, JournalError> => {
  const { url } = journal
  if (url === null) return sqlite.layer({ file: filesOf(directory).journal, mode })
  return Layer.unwrap(
    Effect.gen(function* () {
      const password = keys.journal === null ? undefined : yield* secret(keys.journal)
      const postgres = yield* Effect.promise(() => import("@inspo/journal/postgres"))
      const run = basename(resolve(directory))
      return postgres.layer({ url, password, run, mode, lease })
    })
  ).pipe(
    Layer.catch((error) =>
      Layer.effect(Journal, Effect.fail(new JournalError({ ...error, detail: `${error.detail} (journal.url)` })))
    )
  )
}

/** After this time another machine may take over from a writer that stopped responding. */
const lease = "30 seconds"

const secret = (variable: string) =>
  Secret.fromEnvironment(
    variable,
    "keys.journal",
    "the password of the database",
    (detail) => new JournalError({ reason: "invalid", file: "journal.url", sequence: null, detail })
  )
