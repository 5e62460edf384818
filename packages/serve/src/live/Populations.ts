/** The populations of a server, by name: each handles commands in a scope of its own. */
import { type EventOf, State } from "@inspo/cohorts"
import { Instruction } from "@inspo/domain"
import { type Journal, type JournalError, Records } from "@inspo/journal"
import { Array as Arr, Context, Effect, Equal, Exit, Latch, Layer, Order, type Schema, Scope, Semaphore } from "effect"
import * as Loading from "../store/Loading.ts"
import { PopulationStore } from "../store/PopulationStore.ts"
import { Conflict, InvalidRequest, NotFound, TooManyRequests } from "../wire/Errors.ts"
import { ofCreation, ofFailure, ofJournal, type Problem, type Unavailable } from "../wire/internal/Refusals.ts"
import * as Limits from "../wire/Limits.ts"
import type { NewPopulation, SettingsChange } from "../wire/Population.ts"
import * as Evolving from "./Evolving.ts"
import * as Clock from "./internal/Clock.ts"
import * as Configuring from "./internal/Configuring.ts"
import * as LeaseIds from "./internal/LeaseIds.ts"
import * as Metrics from "./internal/Metrics.ts"
import * as LivePopulation from "./LivePopulation.ts"
import * as Redaction from "./Redaction.ts"
import * as Redactor from "./Redactor.ts"

/** Creates, finds and removes populations. */
export class Populations extends Context.Service<Populations, Populations.Interface>()(
  "@inspo/serve/live/Populations"
) {}

/** A population in service. */
export interface Served {
  readonly name: string
  readonly live: LivePopulation.LivePopulation
  readonly journal: Journal.Interface
  readonly evolving: Evolving.Evolving
  /** The first event of its log. */
  readonly created: EventOf<"Created">
  readonly counters: Metrics.Counters
  /** The ids of its leases on the wire. */
  readonly ids: LeaseIds.LeaseIds
  /** Held to rewind or to change members without another request doing so. */
  readonly changing: Semaphore.Semaphore
}

export declare namespace Populations {
  export interface Interface {
    /** All populations, by name. */
    readonly list: Effect.Effect<ReadonlyArray<Served>>
    readonly get: (name: string) => Exit.Exit<Served, NotFound>
    /** Creates a population. If it exists with equal settings and texts it is returned, and `isNew` is false. */
    readonly create: (
      name: string,
      made: NewPopulation
    ) => Effect.Effect<
      { readonly isNew: boolean; readonly served: Served },
      InvalidRequest | Conflict | TooManyRequests | Unavailable
    >
    /** Changes the given settings, from the next cohort on. */
    readonly change: (name: string, settings: SettingsChange) => Effect.Effect<Served, Problem>
    /** Closes a population and deletes its journal. */
    readonly remove: (name: string) => Effect.Effect<void, NotFound | Unavailable>
  }
}

/** Opens all populations of the store. One whose creation was interrupted, and so never answered, is removed. */
export const layer: Layer.Layer<Populations, JournalError, PopulationStore> = Layer.effect(
  Populations,
  Effect.gen(function* () {
    const counting = yield* Metrics.countingFaults
    const store = counting(yield* PopulationStore)
    const own = yield* Effect.scope
    const running = new Map<string, Running>()
    const changing = yield* Semaphore.make(1)

    const options = { redactor: yield* Redactor.make }
    const { make, resume } = opening(store, own, running, yield* Evolving.CurrentProposer, options)

    const find = finding(running)
    yield* Effect.forEach(Arr.sort(yield* store.names, Order.String), resume, { concurrency: 8, discard: true })

    return {
      list: Effect.sync(() =>
        Arr.sort(
          Arr.map([...running.values()], ({ served }) => served),
          byName
        )
      ),
      get: (name) => Exit.map(find(name), ({ served }) => served),
      create: Effect.fn("Populations.create")(
        function* (name, made) {
          const { contents, settings } = yield* checked(name, made)
          const known = running.get(name)
          if (known !== undefined) {
            yield* sameAs(known.served, made, settings, contents)
            return { isNew: false, served: known.served }
          }
          if (running.size >= Limits.populations)
            return yield* new TooManyRequests({
              retryAfter: 3600,
              limit: `${Limits.populations} populations`,
              remedy: "Remove a population",
              detail: `The server has ${running.size} populations, which is the maximum.`
            })
          return { isNew: true, served: yield* Effect.mapError(make(name, settings, contents), ofCreation) }
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
        named,
        (effect) => changing.withPermit(effect)
      )
    }
  })
)

/** The texts and settings of a new population. Refuses those that cannot be used. */
export const checked = Effect.fnUntraced(function* (name: string, made: NewPopulation) {
  const contents = yield* contentsOf(made)
  const settings = yield* Configuring.make(name, made)
  yield* Effect.mapError(Effect.fromResult(Redaction.make(settings.redact)), ofCreation)
  return { contents, settings }
})

const finding =
  (running: ReadonlyMap<string, Running>) =>
  (name: string): Exit.Exit<Running, NotFound> => {
    const one = running.get(name)
    return one === undefined
      ? Exit.fail(
          new NotFound({
            what: "population",
            name,
            remedy: `Create it with PUT /v1/populations/${name}`,
            detail: `There is no population ${name}.`
          })
        )
      : Exit.succeed(one)
  }

/** Log lines and spans name their population, also those of the background. */
const named = <A, E, R>(effect: Effect.Effect<A, E, R>, name: string): Effect.Effect<A, E, R> =>
  effect.pipe(Effect.annotateLogs({ population: name }), Effect.annotateSpans({ population: name }))

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
      // Unlike that of any other population, also of a removed one with the same name.
      ids: yield* LeaseIds.make(journal, `${name}~${at.toString(36)}/`),
      live,
      journal,
      evolving,
      created,
      counters: yield* Metrics.counters(name),
      changing: yield* Semaphore.make(1)
    }
    running.set(name, { served, scope, news })
    return served
  }, named)

  const resume = Effect.fnUntraced(function* (name: string) {
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
    }).pipe(Effect.onError(() => Effect.andThen(Scope.close(scope, Exit.void), Effect.ignore(store.remove(name)))))
  }, named)

  return { make, resume }
}

interface Running {
  readonly served: Served
  readonly scope: Scope.Closeable
  readonly news: Latch.Latch
}

type Contents = Arr.NonEmptyReadonlyArray<Instruction.Content>

const byName = Order.mapInput(Order.String, ({ name }: Served) => name)

const originOf = Effect.fnUntraced(function* (journal: Journal.Interface) {
  const [first] = yield* Loading.eventsFrom(journal, 0, 1)
  return first?.event._tag === "Created"
    ? { at: first.at, created: first.event }
    : yield* Records.corrupt(journal.meta, `the log begins with ${first?.event._tag ?? "nothing"}, expected Created`, {
        sequence: 0
      })
})

const contentsOf = ({ seed, variants = [] }: NewPopulation): Effect.Effect<Contents, InvalidRequest> => {
  const refuse = (at: number, value: string, expected: string, remedy: string) =>
    Effect.fail(new InvalidRequest({ field: `variants[${at}]`, value, expected, remedy }))
  const texts = [seed, ...variants].map((content) => JSON.stringify(content))
  for (const [at, variant] of variants.entries()) {
    const text = texts[at + 1] ?? ""
    const first = texts.indexOf(text)
    if (first <= at)
      return refuse(
        at,
        text.slice(0, 100),
        `another text than ${first === 0 ? "the seed" : `variants[${first - 1}]`} has`,
        "Leave one of them out: equal instructions would share the evidence"
      )
    const [names, expected] = [State.namesOf(variant), State.namesOf(seed)]
    if (names !== expected)
      return refuse(at, names, expected, "Give all instructions of a population the texts of the seed")
  }
  return Effect.succeed([seed, ...variants])
}

/** Refuses a creation that differs from that of the existing population. */
const sameAs = (
  { created, name }: Served,
  { settings: given = {} }: NewPopulation,
  settings: EventOf<"Created">["settings"],
  contents: Contents
): Effect.Effect<void, Conflict> => {
  const [seed, ...variants] = created.members.map(Instruction.contentOf)
  // Defaults may have been others at its creation.
  const { horizonSeconds, profile, randomSeed } = created.settings
  const ask = {
    ...settings,
    ...(given.randomSeed === undefined ? { randomSeed } : {}),
    ...(given.horizonSeconds === undefined ? { horizonSeconds } : {})
  }
  const current: Record<string, Schema.Json> = {
    seed: seed ?? null,
    variants,
    profile,
    ...leaves("settings", Configuring.toWire(created.settings))
  }
  const differences = Object.entries<Schema.Json>({
    seed: contents[0],
    variants: contents.slice(1),
    profile: ask.profile,
    ...leaves("settings", Configuring.toWire(ask))
  }).flatMap(([field, given]) => {
    const before = current[field] ?? null
    return Equal.equals(before, given) ? [] : [{ field, current: before, given }]
  })
  return differences.length === 0
    ? Effect.void
    : Effect.fail(
        new Conflict({
          differences,
          remedy: "Choose another name, remove the population first, or change settings with PATCH",
          detail: `The population ${name} was created with another ${differences.map(({ field }) => field).join(", ")}.`
        })
      )
}

const leaves = (path: string, value: Schema.Json): Readonly<Record<string, Schema.Json>> =>
  value === null || typeof value !== "object" || Array.isArray(value)
    ? { [path]: value }
    : Object.fromEntries(
        Object.entries(value).flatMap(([name, child]) => Object.entries(leaves(`${path}.${name}`, child)))
      )

// Names for the types in declarations of programs: TypeScript names none that is only inferred.
export type { InvalidRequest } from "../wire/Errors.ts"
export type { Unavailable } from "../wire/internal/Refusals.ts"
export type { NewPopulation } from "../wire/Population.ts"
