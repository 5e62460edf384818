import type { Stored } from "@inspo/evolve/parts"
import { Context, type Effect } from "effect"
import type { CatalogError } from "./RunCatalog.ts"

/** Finds and reads searches for better prompts, and comparisons of prompts, without disturbing them. */
export class SearchCatalog extends Context.Service<SearchCatalog, SearchCatalog.Interface>()(
  "@inspo/dashboard/SearchCatalog"
) {}

export declare namespace SearchCatalog {
  export interface Interface {
    /** The present searches, the latest first. */
    readonly find: Effect.Effect<ReadonlyArray<SearchPlace>>
    /** Reads a search; `before` is what was read of it earlier. */
    readonly read: (place: SearchPlace, before: Stored.Stored | null) => Effect.Effect<Stored.Stored, CatalogError>
  }
}

/** A search; `id` is its name in addresses, different from those of runs. `version` changes with each write. */
export interface SearchPlace {
  readonly id: string
  readonly name: string
  readonly file: string
  readonly version: string
  /** When it was last written, in milliseconds since 1970; null if that is not known. */
  readonly at: number | null
}
