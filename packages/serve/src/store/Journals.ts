/** The journals of one database, each by the name of its run. */
import { Journal, type JournalError, type Mode } from "@inspo/journal"
import * as postgres from "@inspo/journal/postgres"
import { Context, Effect, Layer, type Scope } from "effect"

/** Opens and removes the journals of populations and of the register, by their names. */
export interface Journals {
  /**
   * Opens a journal as long as the scope lasts. One that is open for writing belongs to this process alone; `onLost` runs
   * once it does not any more, as another process took it or the database is gone.
   */
  readonly open: (
    run: string,
    mode: Mode,
    onLost: (error: JournalError) => Effect.Effect<void>
  ) => Effect.Effect<Journal.Interface, JournalError, Scope.Scope>
  /** Deletes a journal that is not open for writing; a missing one counts as deleted. */
  readonly remove: (run: string) => Effect.Effect<void, JournalError>
}

/** The journals of a PostgreSQL database. Each uses one connection while it is open. */
export const inPostgres = (options: Omit<postgres.Options, "mode" | "onLost" | "run">): Journals => ({
  open: (run, mode, onLost) =>
    Effect.map(Layer.build(Layer.fresh(postgres.layer({ ...options, run, mode, onLost }))), Context.get(Journal)),
  remove: (run) => postgres.remove({ ...options, run })
})
