/** The populations of a server, by name: each takes commands in a scope of its own, and is closed with it. */
import { type EventOf, type Settings, Strategies } from "@inspo/cohorts"
import { type Content, contentOf } from "@inspo/domain/Instruction"
import { type Journal, type JournalError, Records } from "@inspo/journal"
import { Array as Arr, Context, Effect, Equal, Exit, Latch, Layer, Order, type Schema, Scope, Semaphore } from "effect"
import { Conflict, InvalidRequest, NotFound, TooManyRequests } from "./Errors.ts"
import * as Clock from "./internal/Clock.ts"
import * as Differences from "./internal/Differences.ts"
import * as LeaseIds from "./internal/LeaseIds.ts"
import * as Loading from "./internal/Loading.ts"
import * as Metrics from "./internal/Metrics.ts"
import { ofFailure, ofJournal, ofMaking, type Problem, type Unavailable } from "./internal/Refusals.ts"
import * as Configuring from "./internal/Configuring.ts"
import * as Limits from "./Limits.ts"
import * as Evolving from "./Evolving.ts"
import * as LivePopulation from "./LivePopulation.ts"
import type { NewPopulation, SettingsChange } from "./Population.ts"
import { PopulationStore } from "./PopulationStore.ts"
import * as Redactor from "./Redactor.ts"

/** Makes, finds and removes populations. */
export class Populations extends Context.Service<Populations, Populations.Interface>()("@inspo/serve/Populations") {}

/** A population in service. */
export interface Served {
  readonly name: string
  readonly live: LivePopulation.LivePopulation
  readonly journal: Journal.Interface
  readonly evolving: Evolving.Evolving
  /** What it was made of. */
  readonly created: EventOf<"Created">
  readonly counters: Metrics.Counters
  /** The ids of its leases on the wire. */
  readonly ids: LeaseIds.LeaseIds
  /** Held by whoever must know that nobody else rewinds or changes members. */
  readonly changing: Semaphore.Semaphore
}

export declare namespace Populations {
  export interface Interface {
    /** All of them, by name. */
    readonly list: Effect.Effect<ReadonlyArray<Served>>
    readonly get: (name: string) => Effect.Effect<Served, NotFound>
    /** Makes a population, or finds it made of the same: `isNew` says which. */
    readonly create: (
      name: string,
      made: NewPopulation
    ) => Effect.Effect<
      { readonly isNew: boolean; readonly served: Served },
      InvalidRequest | Conflict | TooManyRequests | Unavailable
    >
    /** Changes settings, from the next cohort on; those that are not named stay. */
    readonly change: (name: string, settings: SettingsChange) => Effect.Effect<Served, Problem>
    /** Closes a population and deletes all it learned. */
    readonly remove: (name: string) => Effect.Effect<void, NotFound | Unavailable>
  }
}

/** Who decides for the populations of a server. Replaying their logs knows those of the settings alone, which are the default. */
export const CurrentStrategies = Context.Reference<(settings: Settings.Settings) => Strategies.Strategies>(
  "@inspo/serve/Populations/CurrentStrategies",
  { defaultValue: () => Strategies.ofSettings }
)

/** Takes up all populations of the store. A population whose making was cut short was never answered for, and is removed. */
export const layer: Layer.Layer<Populations, JournalError, PopulationStore> = Layer.effect(
  Populations,
  Effect.gen(function* () {
    const store = yield* PopulationStore
    const own = yield* Effect.scope
    const running = new Map<string, Running>()
    const changing = yield* Semaphore.make(1)

    const options = { redactor: yield* Redactor.make, decides: yield* CurrentStrategies }
    const { make, takeUp } = opening(store, own, running, yield* Evolving.CurrentProposer, options)

    const find = finding(running)
    yield* Effect.forEach(Arr.sort(yield* store.names, Order.String), takeUp, { concurrency: 8, discard: true })

    return {
      list: Effect.sync(() =>
        Arr.sort(
          Arr.map([...running.values()], ({ served }) => served),
          byName
        )
      ),
      get: (name) => Effect.map(find(name), ({ served }) => served),
      create: Effect.fn("Populations.create")(
        function* (name, made) {
          const contents = yield* contentsOf(made)
          const settings = yield* Configuring.make(name, made)
          const known = running.get(name)
          if (known !== undefined) {
            yield* sameAs(known.served, made, settings, contents)
            return { isNew: false, served: known.served }
          }
          if (running.size >= Limits.populations)
            return yield* new TooManyRequests({
              retryAfter: 3600,
              limit: `${Limits.populations} populations`,
              detail: `The server holds ${running.size} populations, as many as it may. Remove one.`
            })
          return { isNew: true, served: yield* make(name, settings, contents) }
        },
        Effect.uninterruptible,
        (effect) => changing.withPermit(effect)
      ),
      change: Effect.fn("Populations.change")(
        function* (name, given) {
          const { news, served } = yield* find(name)
          const { settings: before } = yield* served.live.state
          const settings = yield* Configuring.change(before, given)
          if (Equal.equals(settings, before)) return served
          yield* Effect.mapError(
            served.live.submit((now) => ({ _tag: "Configure", now, settings })),
            ofFailure
          )
          yield* news.open
          return served
        },
        (effect) => changing.withPermit(effect)
      ),
      remove: Effect.fn("Populations.remove")(
        function* (name) {
          const { scope } = yield* find(name)
          running.delete(name)
          yield* Scope.close(scope, Exit.void)
          yield* Effect.mapError(store.remove(name), ofJournal)
          yield* Effect.logInfo("population removed")
        },
        Effect.uninterruptible,
        inLogs,
        (effect) => changing.withPermit(effect)
      )
    }
  })
)

const finding =
  (running: ReadonlyMap<string, Running>) =>
  (name: string): Effect.Effect<Running, NotFound> => {
    const one = running.get(name)
    return one === undefined
      ? Effect.fail(
          new NotFound({
            what: "population",
            name,
            remedy: `Make it with PUT /v1/populations/${name}`,
            detail: `There is no population ${name}.`
          })
        )
      : Effect.succeed(one)
  }

/** Every line of the log names its population, also those of what goes on in the background. */
const inLogs = <A, E, R>(effect: Effect.Effect<A, E, R>, name: string): Effect.Effect<A, E, R> =>
  Effect.annotateLogs(effect, { population: name })

/** Takes populations up from their journals, or makes them, each in a scope of its own. */
const opening = (
  store: PopulationStore.Interface,
  own: Scope.Scope,
  running: Map<string, Running>,
  proposer: Evolving.ServerProposer | null,
  options: LivePopulation.Options
) => {
  const begin = Effect.fnUntraced(function* (name: string, journal: Journal.Interface, scope: Scope.Closeable) {
    const { at, created } = yield* originOf(journal)
    const live = yield* Scope.provide(LivePopulation.open(journal, options), scope)
    const news = yield* Latch.make()
    yield* Effect.forkIn(Clock.run(live, news), scope)
    const evolving = yield* Evolving.make(live, proposer)
    yield* Effect.forkIn(evolving.run, scope)
    const served: Served = {
      name,
      // Of another population, or one of the same name before it, an id begins otherwise.
      ids: yield* LeaseIds.make(journal, `${name}~${at.toString(36)}/`),
      live,
      journal,
      evolving,
      created,
      counters: Metrics.counters(name),
      changing: yield* Semaphore.make(1)
    }
    running.set(name, { served, scope, news })
    return served
  }, inLogs)

  const takeUp = Effect.fnUntraced(function* (name: string) {
    const scope = yield* Scope.fork(own)
    const journal = yield* Scope.provide(store.open(name), scope)
    if ((yield* journal.readFrom(0, 1)).length > 0) return yield* begin(name, journal, scope)
    yield* Scope.close(scope, Exit.void)
    yield* store.remove(name)
  })

  const make = Effect.fnUntraced(function* (
    name: string,
    settings: EventOf<"Created">["settings"],
    contents: Contents
  ) {
    const scope = yield* Scope.fork(own)
    return yield* Effect.gen(function* () {
      const journal = yield* Scope.provide(store.make(name), scope)
      yield* LivePopulation.begin(journal, settings, contents)
      return yield* begin(name, journal, scope)
    }).pipe(
      Effect.onError(() => Effect.andThen(Scope.close(scope, Exit.void), Effect.ignore(store.remove(name)))),
      Effect.mapError(ofMaking)
    )
  }, inLogs)

  return { make, takeUp }
}

interface Running {
  readonly served: Served
  readonly scope: Scope.Closeable
  readonly news: Latch.Latch
}

type Contents = Arr.NonEmptyReadonlyArray<Content>

const byName = Order.mapInput(Order.String, ({ name }: Served) => name)

/** What a population was made of, and when. */
const originOf = Effect.fnUntraced(function* (journal: Journal.Interface): Effect.fn.Return<Origin, JournalError> {
  const [first] = yield* Loading.eventsFrom(journal, 0, 1)
  return first?.event._tag === "Created"
    ? { at: first.at, created: first.event }
    : yield* Records.corrupt(journal.meta, `the log begins with ${first?.event._tag ?? "nothing"}`, { sequence: 0 })
})

interface Origin {
  readonly at: number
  readonly created: EventOf<"Created">
}

/** The seed and its variants, all with the same names of texts. */
const contentsOf = ({ seed, variants = [] }: NewPopulation): Effect.Effect<Contents, InvalidRequest> => {
  const namesOf = (content: Content) =>
    typeof content === "string" ? "one text" : Object.keys(content).sort().join(", ")
  const texts = [seed, ...variants].map((content) => JSON.stringify(content))
  const repeated = texts.findIndex((text, at) => texts.indexOf(text) < at)
  if (repeated > 0) {
    const first = texts.indexOf(texts[repeated] ?? "")
    return Effect.fail(
      new InvalidRequest({
        field: `variants[${repeated - 1}]`,
        value: (texts[repeated] ?? "").slice(0, 100),
        expected: `another text than ${first === 0 ? "the seed" : `variants[${first - 1}]`} has`,
        remedy: "Leave one of them out: equal instructions would share the evidence"
      })
    )
  }
  const at = variants.findIndex((variant) => namesOf(variant) !== namesOf(seed))
  const odd = variants[at]
  return odd === undefined
    ? Effect.succeed([seed, ...variants])
    : Effect.fail(
        new InvalidRequest({
          field: `variants[${at}]`,
          value: namesOf(odd),
          expected: namesOf(seed),
          remedy: "Give every instruction of a population the texts that its seed has"
        })
      )
}

/** Refuses what differs from what a population was made of. */
const sameAs = (
  { created, name }: Served,
  { settings: given = {} }: NewPopulation,
  settings: EventOf<"Created">["settings"],
  contents: Contents
): Effect.Effect<void, Conflict> => {
  const [seed, ...variants] = created.members.map(contentOf)
  const { profile: made } = created.settings
  // What was chosen where nothing was named is whatever it was then.
  const { horizonSeconds, randomSeed } = created.settings
  const ask = {
    ...settings,
    ...(given.randomSeed === undefined ? { randomSeed } : {}),
    ...(given.horizonSeconds === undefined ? { horizonSeconds } : {})
  }
  const differences = Differences.between(
    { seed: seed ?? null, variants, profile: made, ...leaves("settings", Configuring.toWire(created.settings)) },
    {
      seed: contents[0],
      variants: contents.slice(1),
      profile: ask.profile,
      ...leaves("settings", Configuring.toWire(ask))
    }
  )
  return differences.length === 0
    ? Effect.void
    : Effect.fail(
        new Conflict({
          differences,
          remedy: "Choose another name, remove the population first, or change settings with PATCH",
          detail: `The population ${name} was made with another ${differences.map(({ field }) => field).join(", ")}.`
        })
      )
}

/** The values of settings by their dotted paths. */
const leaves = (path: string, value: Schema.Json): Readonly<Record<string, Schema.Json>> =>
  value === null || typeof value !== "object" || Array.isArray(value)
    ? { [path]: value }
    : Object.fromEntries(
        Object.entries(value).flatMap(([name, child]) => Object.entries(leaves(`${path}.${name}`, child)))
      )
