/** What a file holds: a search, or a comparison. */
import { Effect } from "effect"
import * as Compare from "./Compare.ts"
import type * as Log from "./Log.ts"
import * as Viewing from "./Viewing.ts"

export type Stored = (Viewing.Read & { readonly _tag: "Search" }) | Compare.StoredComparison

/** Reads a file, which another process may write meanwhile; `before` is what was read of it earlier, and spares work. */
export const read = (file: string, before: Stored | null = null): Effect.Effect<Stored, Log.FileFailed> =>
  before?._tag === "Comparison"
    ? Compare.read(file)
    : Viewing.read(file, before?.followed ?? null).pipe(
        Effect.map((search) => ({ _tag: "Search" as const, ...search })),
        // What is neither is said as of a search.
        Effect.catch((failure) => Effect.mapError(Compare.read(file), () => failure))
      )
