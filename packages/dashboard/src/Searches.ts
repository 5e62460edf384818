import type { Stored } from "@inspo/evolve/parts"
import { Clock, Context, type Duration, Effect, Layer, PubSub, Ref, Schedule, Stream } from "effect"
import { type Change, NotFound, Unreadable } from "./Api.ts"
import * as PromptComparison from "./projection/PromptComparison.ts"
import * as Search from "./projection/Search.ts"
import { SearchCatalog, type SearchPlace } from "./SearchCatalog.ts"
import type { PromptComparison as ComparisonDetail } from "./view/PromptComparison.ts"
import type { SearchDetail, SearchRow } from "./view/SearchRow.ts"

/** The searches of a catalog, each read again when it was written. */
export class Searches extends Context.Service<Searches, Searches.Interface>()("@inspo/dashboard/Searches") {}

export declare namespace Searches {
  export interface Interface {
    /** All searches, the latest first. */
    readonly list: Effect.Effect<ReadonlyArray<SearchRow>>
    readonly read: (id: string) => Effect.Effect<SearchDetail, NotFound | Unreadable>
    readonly comparison: (id: string) => Effect.Effect<ComparisonDetail, NotFound | Unreadable>
    /** The changes from now on. */
    readonly changes: Stream.Stream<Change>
  }
}

interface Entry {
  readonly place: SearchPlace
  readonly view: SearchRow
  /** Null if it is unreadable. */
  readonly read: Stored.Stored | null
}

/** Follows all searches until the layer is released; looks for new events every `search`. */
export const layer = (options: { readonly search: Duration.Input }): Layer.Layer<Searches, never, SearchCatalog> =>
  Layer.effect(
    Searches,
    Effect.gen(function* () {
      const catalog = yield* SearchCatalog
      const entries = yield* Ref.make<ReadonlyArray<Entry>>([])
      const news = yield* PubSub.sliding<Change>(16)

      const refreshed = Effect.fnUntraced(function* (place: SearchPlace, before: Entry | undefined) {
        const now = yield* Clock.currentTimeMillis
        const entryOf = (read: Stored.Stored): Entry => ({
          place,
          read,
          view:
            read._tag === "Search"
              ? Search.view(place, read.view, place.at, now)
              : PromptComparison.row(place, read, place.at, now)
        })
        if (before !== undefined && before.place.version === place.version)
          return before.read === null ? before : entryOf(before.read)
        return yield* Effect.match(catalog.read(place, before?.read ?? null), {
          onFailure: ({ message }): Entry => ({ place, read: null, view: Search.unread(place, message) }),
          onSuccess: entryOf
        })
      })

      const refresh = Effect.gen(function* () {
        const known = new Map((yield* Ref.get(entries)).map((entry) => [entry.place.file, entry]))
        const next = yield* Effect.forEach(yield* catalog.find, (place) => refreshed(place, known.get(place.file)))
        const before = yield* Ref.getAndSet(entries, next)
        if (JSON.stringify(before.map(({ view }) => view)) !== JSON.stringify(next.map(({ view }) => view)))
          yield* PubSub.publish(news, { _tag: "Searches" })
      })

      yield* refresh
      yield* Effect.forkScoped(Effect.repeat(refresh, Schedule.spaced(options.search)))

      const stored = Effect.fn("Searches.stored")(function* (id: string) {
        const entry = (yield* Ref.get(entries)).find(({ place }) => place.id === id)
        if (entry === undefined) return yield* missing("search", id)
        return entry.read ?? (yield* new Unreadable({ problem: entry.view.problem ?? "" }))
      })

      return Searches.of({
        list: Effect.map(Ref.get(entries), (all) => all.map(({ view }) => view)),
        read: (id) =>
          Effect.flatMap(stored(id), (read) =>
            read._tag === "Search" ? Effect.succeed(Search.detail(read.view)) : Effect.fail(missing("search", id))
          ),
        comparison: (id) =>
          Effect.flatMap(stored(id), (read) =>
            read._tag === "Search"
              ? Effect.fail(missing("comparison", id))
              : Effect.succeed(PromptComparison.detail(read))
          ),
        changes: Stream.fromPubSub(news)
      })
    })
  )

const missing = (what: string, id: string): NotFound => new NotFound({ what: `${what} ${id}` })
