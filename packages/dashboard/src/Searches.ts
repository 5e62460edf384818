import type { Viewing } from "@inspo/evolve/parts"
import { Clock, Context, type Duration, Effect, Layer, PubSub, Ref, Schedule, Stream } from "effect"
import { type Change, NotFound, Unreadable } from "./Api.ts"
import * as Search from "./projection/Search.ts"
import { SearchCatalog, type SearchPlace } from "./SearchCatalog.ts"
import type { SearchDetail, SearchRow } from "./view/SearchRow.ts"

/** The searches of a catalog, each read again when it was written. */
export class Searches extends Context.Service<Searches, Searches.Interface>()("@inspo/dashboard/Searches") {}

export declare namespace Searches {
  export interface Interface {
    /** All searches, the latest first. */
    readonly list: Effect.Effect<ReadonlyArray<SearchRow>>
    readonly read: (id: string) => Effect.Effect<SearchDetail, NotFound | Unreadable>
    /** The changes from now on. */
    readonly changes: Stream.Stream<Change>
  }
}

interface Entry {
  readonly place: SearchPlace
  readonly view: SearchRow
  /** Null if it is unreadable. */
  readonly read: Viewing.Read | null
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
        const entryOf = (read: Viewing.Read): Entry => ({
          place,
          read,
          view: Search.view(place, read.view, place.at, now)
        })
        if (before !== undefined && before.place.version === place.version)
          return before.read === null ? before : entryOf(before.read)
        return yield* Effect.match(catalog.read(place, before?.read?.followed ?? null), {
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

      return Searches.of({
        list: Effect.map(Ref.get(entries), (all) => all.map(({ view }) => view)),
        read: Effect.fn("Searches.read")(function* (id: string) {
          const entry = (yield* Ref.get(entries)).find(({ place }) => place.id === id)
          if (entry === undefined) return yield* new NotFound({ what: `search ${id}` })
          if (entry.read === null) return yield* new Unreadable({ problem: entry.view.problem ?? "" })
          return Search.detail(entry.read.view)
        }),
        changes: Stream.fromPubSub(news)
      })
    })
  )
