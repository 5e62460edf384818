import { EventLog } from "@inspo/coevolution"
import { Journal, type JournalError } from "@inspo/journal"
import {
  Clock,
  Context,
  type Duration,
  Effect,
  Layer,
  PubSub,
  RcMap,
  Ref,
  Schedule,
  type Scope,
  Semaphore,
  Stream
} from "effect"
import { type Change, NotFound, Unreadable } from "./Api.ts"
import * as Run from "./projection/Run.ts"
import { runSettings } from "./projection/RunSettings.ts"
import { RunCatalog, type RunPlace, type RunSource } from "./RunCatalog.ts"
import * as RunRecord from "./RunRecord.ts"
import type { RunView } from "./view/RunView.ts"
import type { SettingsView } from "./view/SettingsView.ts"

/** The runs of a catalog. Each is folded once and then updated with its new events, which are published. */
export class Runs extends Context.Service<Runs, Runs.Interface>()("@inspo/dashboard/Runs") {}

export declare namespace Runs {
  export interface Interface {
    /** All runs, the latest first. */
    readonly list: Effect.Effect<ReadonlyArray<RunView>>
    /** The settings of all runs that could be read so far. */
    readonly settings: Effect.Effect<SettingsView>
    /** One run with all its events. */
    readonly read: (id: string) => Effect.Effect<ReadRun, NotFound | Unreadable>
    /** The journal of a run, open until the scope closes. */
    readonly journal: (run: ReadRun) => Effect.Effect<Journal["Service"], Unreadable, Scope.Scope>
    /** The changes from now on. */
    readonly changes: Stream.Stream<Change>
  }
}

export interface ReadRun {
  readonly place: RunPlace
  readonly source: RunSource
  readonly view: RunView
  readonly record: RunRecord.RunRecord
}

/** How often running journals are read, and how often directories are searched for new runs. */
export interface Options {
  readonly poll: Duration.Input
  readonly search: Duration.Input
}

/** Follows all runs until the layer is released. */
export const layer = (options: Options): Layer.Layer<Runs, never, RunCatalog> =>
  Layer.effect(
    Runs,
    Effect.gen(function* () {
      const catalog = yield* RunCatalog
      const entries = yield* Ref.make<ReadonlyMap<string, Entry>>(new Map())
      const news = yield* PubSub.sliding<Change>(256)
      const journals = yield* RcMap.make({
        lookup: (source: RunSource) =>
          Effect.map(Layer.build(source.journal), (context) => Context.get(context, Journal)),
        idleTimeToLive: "20 seconds"
      })

      const search = Effect.gen(function* () {
        const places = yield* catalog.find
        const known = yield* Ref.get(entries)
        const next = yield* Effect.forEach(places, (place) =>
          Effect.gen(function* () {
            const entry = known.get(place.id)
            return [place.id, entry?.place.directory === place.directory ? entry : yield* makeEntry(place)] as const
          })
        )
        yield* Ref.set(entries, new Map(next))
        if (known.size !== next.length || next.some(([id, entry]) => known.get(id) !== entry))
          yield* PubSub.publish(news, { _tag: "Runs" })
      })

      const follow = following({ catalog, journals, news })

      const poll = Effect.gen(function* () {
        for (const entry of (yield* Ref.get(entries)).values()) yield* follow(entry)
      })

      yield* search
      // The latest run is usually opened first.
      const [latest] = (yield* Ref.get(entries)).values()
      if (latest !== undefined) yield* follow(latest)
      yield* Effect.forkScoped(Effect.repeat(search, Schedule.spaced(options.search)))
      yield* Effect.forkScoped(Effect.repeat(poll, Schedule.spaced(options.poll)))

      const read = Effect.fn("Runs.read")(function* (id: string) {
        const entry = yield* entryOf(entries, id)
        if ((yield* Ref.get(entry.read)) === null) yield* follow(entry)
        const found = yield* Ref.get(entry.read)
        const view = yield* Ref.get(entry.view)
        if (found === null || view.problem !== null)
          return yield* new Unreadable({ problem: view.problem ?? `the run ${id} cannot be read` })
        return { place: entry.place, source: found.source, record: found.record, view }
      })

      return Runs.of({
        list: Effect.flatMap(Ref.get(entries), (known) =>
          Effect.forEach([...known.values()], ({ view }) => Ref.get(view))
        ),
        settings: settingsOf(entries),
        read,
        journal: ({ source }) => Effect.mapError(RcMap.get(journals, source), unreadable),
        changes: Stream.fromPubSub(news)
      })
    })
  )

type Entries = Ref.Ref<ReadonlyMap<string, Entry>>

const entryOf = Effect.fnUntraced(function* (entries: Entries, id: string) {
  return (yield* Ref.get(entries)).get(id) ?? (yield* new NotFound({ what: `run ${id}` }))
})

const settingsOf = (entries: Entries): Effect.Effect<SettingsView> =>
  Effect.map(
    Effect.flatMap(Ref.get(entries), (known) =>
      Effect.forEach([...known.values()], ({ place, read }) =>
        Effect.map(Ref.get(read), (found) => (found === null ? [] : [{ id: place.id, ...configured(found) }]))
      )
    ),
    (found) => runSettings(found.flat())
  )

const configured = ({ record: { config, state } }: Pick<ReadRun, "record">) => ({
  config,
  strategies: state.strategies
})

/** The open journals; they stay open for a while after their last use. */
type Journals = RcMap.RcMap<RunSource, Journal["Service"], JournalError>

/** Folds and publishes the new events of a run, one update at a time. A run that fails to load becomes unreadable. */
const following = ({
  catalog,
  journals,
  news
}: {
  readonly catalog: RunCatalog["Service"]
  readonly journals: Journals
  readonly news: PubSub.PubSub<Change>
}) => {
  const open = Effect.fnUntraced(function* (entry: Entry) {
    const opened = yield* Ref.get(entry.read)
    if (opened !== null) return opened
    const source = yield* catalog.open(entry.place)
    return { source, record: RunRecord.empty(source.config), version: null }
  })

  const refresh = Effect.fn("Runs.refresh")(function* (entry: Entry) {
    const { place } = entry
    const read = yield* open(entry)
    const written = yield* read.source.written
    const { version } = written
    const isFirst = read.record.sequence === 0
    const unchanged = !isFirst && version !== null && version === read.version
    // A journal that was opened earlier may not see later writes.
    if (!unchanged) yield* RcMap.invalidate(journals, read.source)
    const events = unchanged ? [] : yield* newEvents(journals, read)
    // Inconsistent events cannot be folded.
    const record = yield* Effect.try({
      try: () => (events.length === 0 ? read.record : RunRecord.observe(read.record, events)),
      catch: (cause) => new Unreadable({ problem: cause instanceof Error ? cause.message : String(cause) })
    })
    yield* Ref.set(entry.read, { source: read.source, record, version })
    const view = Run.run(place, record, written, yield* Clock.currentTimeMillis)
    const before = yield* Ref.getAndSet(entry.view, view)
    const isNews =
      events.length > 0 ||
      before.status !== view.status ||
      // A finished run still gets a baseline and a report.
      (view.status === "finished" && before.version !== version)
    if (isNews) yield* PubSub.publish(news, { _tag: "Run", run: view })
  })

  return (entry: Entry) =>
    refresh(entry).pipe(
      Effect.catch(({ message }) =>
        Effect.gen(function* () {
          const view = Run.unread(entry.place, message)
          const before = yield* Ref.getAndSet(entry.view, view)
          if (before.problem !== message) yield* PubSub.publish(news, { _tag: "Run", run: view })
        })
      ),
      Semaphore.withPermit(entry.turn)
    )
}

/** The events that are not in the record yet. */
const newEvents = (journals: Journals, { record, source }: Pick<ReadRun, "record" | "source">) =>
  Effect.flatMap(RcMap.get(journals, source), (journal) => EventLog.readFrom(journal, record.sequence)).pipe(
    Effect.scoped,
    // A journal that could not be opened is opened again the next time.
    Effect.tapError(() => RcMap.invalidate(journals, source)),
    // A new run has a directory before it has a journal.
    Effect.catchIf(
      ({ reason }) => record.sequence === 0 && reason === "missing",
      () => Effect.succeed([])
    )
  )

export const unreadable = ({ message }: JournalError): Unreadable => new Unreadable({ problem: message })

interface Entry {
  readonly place: RunPlace
  readonly turn: Semaphore.Semaphore
  readonly view: Ref.Ref<RunView>
  /** Null before the first read. */
  readonly read: Ref.Ref<{
    readonly source: RunSource
    readonly record: RunRecord.RunRecord
    readonly version: string | null
  } | null>
}

const makeEntry = Effect.fnUntraced(function* (place: RunPlace) {
  const entry: Entry = {
    place,
    turn: yield* Semaphore.make(1),
    view: yield* Ref.make(Run.unread(place, null)),
    read: yield* Ref.make<Entry["read"] extends Ref.Ref<infer A> ? A : never>(null)
  }
  return entry
})
