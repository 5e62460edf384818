/** Where populations are kept: a journal for each, by name. */
import type { Journal, JournalError } from "@inspo/journal"
import { Context, type Effect, type Scope } from "effect"

/** Knows the journals of the populations, and holds them for one writer. */
export class PopulationStore extends Context.Service<PopulationStore, PopulationStore.Interface>()(
  "@inspo/serve/store/PopulationStore"
) {}

export declare namespace PopulationStore {
  export interface Interface {
    /** The names of all that are kept, in any order. */
    readonly names: Effect.Effect<ReadonlyArray<string>, JournalError>
    /** A new, empty journal, held while the scope lives. Fails with `exists` where there is one. */
    readonly make: (name: string) => Effect.Effect<Journal.Interface, JournalError, Scope.Scope>
    /** Holds a journal for writing while the scope lives. Fails with `locked` where another process does. */
    readonly open: (name: string) => Effect.Effect<Journal.Interface, JournalError, Scope.Scope>
    /** Deletes a journal that nobody holds, all of it or nothing; one that is not there is deleted already. */
    readonly remove: (name: string) => Effect.Effect<void, JournalError>
  }
}
