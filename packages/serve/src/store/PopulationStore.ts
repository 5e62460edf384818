/** Stores populations: a journal for each, by name. */
import type { Journal, JournalError } from "@inspo/journal"
import { Context, type Effect, type Scope } from "effect"

/** The journals of the populations, each with one writer. */
export class PopulationStore extends Context.Service<PopulationStore, PopulationStore.Interface>()(
  "@inspo/serve/store/PopulationStore"
) {}

export declare namespace PopulationStore {
  export interface Interface {
    /** The names of all populations, in any order. */
    readonly names: Effect.Effect<ReadonlyArray<string>, JournalError>
    /** A new, empty journal, open while the scope lasts. Fails with `exists` if the population exists. */
    readonly make: (name: string) => Effect.Effect<Journal.Interface, JournalError, Scope.Scope>
    /** Opens a journal for writing while the scope lasts. Fails with `locked` if another process has it open. */
    readonly open: (name: string) => Effect.Effect<Journal.Interface, JournalError, Scope.Scope>
    /** Deletes a journal that is not open, all of it or nothing; a missing one counts as deleted. */
    readonly remove: (name: string) => Effect.Effect<void, JournalError>
  }
}
