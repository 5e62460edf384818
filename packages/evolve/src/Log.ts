/** The log of a search or a comparison: its events, what they add up to, and the file that keeps them. */
import { Instruction, PlainText } from "@inspo/domain"
import type { JournalError, StoredEvent } from "@inspo/journal"
import * as FileJournal from "@inspo/journal/file"
import type { ModelAnswer } from "@inspo/reflection"
import { Effect, Schema, type Scope, Semaphore, Struct } from "effect"
import { againKey, Event, type EventOf, keyOf, type Kind, type Obtained, type Started } from "./Event.ts"
import * as Search from "./Search.ts"
import { Aim } from "./SearchView.ts"
import type { Setup } from "./Setup.ts"

/** The file of a search cannot be read, written, or continued with these options. */
export class FileFailed extends Schema.TaggedError<FileFailed>()("FileFailed", {
  file: Schema.String,
  problem: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return `${this.file}: ${this.problem}`
  }
}

/** What must be equal for a search to go on. `cases` are the different ones, as JSON. */
export const Head = Schema.Struct({
  prompt: Instruction.Content,
  cases: Schema.Array(Schema.Json),
  calls: Schema.Finite,
  usd: Schema.NullOr(Schema.Finite),
  minimalGain: Schema.Finite,
  aim: Schema.optionalKey(Aim),
  randomSeed: Schema.Finite,
  identity: Schema.Record(Schema.String, Schema.String)
})
export interface Head extends Schema.Schema.Type<typeof Head> {}

/** Where a log is kept, and what its first event says of where the answers come from. */
export interface Place {
  readonly file: string
  readonly identity: Readonly<Record<string, string>>
  readonly cases: ReadonlyArray<unknown>
}

/** The form of a file, and of its first event. */
export interface Form<A> {
  readonly format: { readonly name: string; readonly version: number; readonly of: string }
  readonly decodeHead: (payload: unknown) => Effect.Effect<A, Schema.SchemaError>
}

/** What a log is of: the form of its file, what must be equal for it to go on, and what its events add up to. */
export interface Subject<State, Fixed> extends Form<object> {
  /** With `identity` and `cases`, what the first event says. */
  readonly fixed: Fixed
  readonly begin: State
  readonly apply: (state: State, event: Event) => State
}

/** The form of the file of a search. */
export const form: Form<Head> = {
  format: { name: "inspo-evolve", version: 4, of: "a search" },
  decodeHead: Schema.decodeUnknownEffect(Head)
}

/** The log of a search. */
export const ofSearch = (setup: Setup) => ({
  ...form,
  fixed: Struct.pick(setup, ["prompt", "calls", "usd", "minimalGain", "randomSeed", "aim"]),
  begin: Search.begin(setup),
  apply: Search.apply
})

export interface Log<State> {
  readonly state: () => State
  readonly events: ReadonlyArray<Event>
  /** The outputs of the agent, by call. */
  readonly outputs: ReadonlyMap<string, Obtained>
  /** The answers of a language model, by request. */
  readonly written: ReadonlyMap<string, ModelAnswer>
  /** Records events together, in order, and counts them. Events of calls that run at the same time share one write to the disk. */
  readonly write: (...events: ReadonlyArray<Event>) => Effect.Effect<void, FileFailed>
}

/** A log, which goes on from a file if there is a place for one and counts first what was in flight. `onEvent` follows each event. */
export const open = Effect.fnUntraced(function* <State, Fixed>(
  subject: Subject<State, Fixed>,
  place: Place | null,
  onEvent: (state: State) => void
): Effect.fn.Return<Log<State>, FileFailed, Scope.Scope> {
  let state = subject.begin
  const events: Array<Event> = []
  const outputs = new Map<string, Obtained>()
  const written = new Map<string, ModelAnswer>()
  const count = (event: Event): void => {
    state = subject.apply(state, event)
    events.push(event)
    if (event._tag === "Obtained") outputs.set(keyOf(event), event)
    if (event._tag === "Written") written.set(event.key, event.answer)
  }
  const kept = place === null ? nothing : yield* keep(subject, place)
  yield* follow(place?.file ?? "", kept.events, 0, count)

  const turn = yield* Semaphore.make(1)
  let waiting: Array<Event> = []
  const flush = turn.withPermits(1)(
    Effect.suspend(() => {
      const batch = waiting
      waiting = []
      return batch.length === 0
        ? Effect.void
        : Effect.andThen(
            kept.append(batch),
            Effect.sync(() => {
              for (const event of batch) {
                count(event)
                onEvent(state)
              }
            })
          )
    })
  )
  const write: Log<State>["write"] = (...some) =>
    Effect.uninterruptible(
      Effect.suspend(() => {
        waiting.push(...some)
        return flush
      })
    )
  const lost = interrupted(events, kept.torn)
  if (lost !== null) yield* write(lost)
  return { state: () => state, events, outputs, written, write }
})

/** What a file holds. An event that is being written is left out. */
export interface Contents<A = Head> {
  readonly head: A
  readonly events: ReadonlyArray<Event>
  /** Reads the events behind so many, and nothing of those before them. Fails if another file has the name now. */
  readonly behind: (events: number) => Effect.Effect<ReadonlyArray<Event>, FileFailed>
}

/** Reads a file, also while a process writes it. Fails if it is missing, empty, damaged, or of something else. */
export const read = Effect.fn("Log.read")(function* <A extends object>(
  file: string,
  { decodeHead, format }: Form<A>
): Effect.fn.Return<Contents<A>, FileFailed> {
  // A reader holds nothing open.
  const journal = yield* Effect.scoped(FileJournal.open({ file, mode: "read-only", format })).pipe(
    Effect.mapError(fileFailed)
  )
  const [first, ...stored] = yield* Effect.mapError(journal.read, fileFailed)
  if (first === undefined)
    return yield* new FileFailed({ file, problem: `is empty; no ${format.of.replace(/^a /u, "")} has begun` })
  return {
    head: yield* headOf(file, format.of, decodeHead(first.payload)),
    events: yield* eventsOf(file, stored),
    behind: (events) =>
      Effect.flatMap(Effect.mapError(journal.readFrom(events + 1), fileFailed), (later) => eventsOf(file, later))
  }
})

/** Applies events of a file, those before excluded; fails where one does not follow from those before. */
export const follow = (
  file: string,
  events: ReadonlyArray<Event>,
  before: number,
  count: (event: Event) => void
): Effect.Effect<void, FileFailed> =>
  Effect.suspend(() => {
    for (const [index, event] of events.entries())
      try {
        count(event)
      } catch (cause) {
        const problem = `event ${before + index + 1} does not follow from those before: ${describe(cause)}`
        return Effect.fail(new FileFailed({ file, problem, cause }))
      }
    return Effect.void
  })

/** The calls that are in flight after some events: they were started and did not end. */
export const inFlight = (events: Iterable<Event>): ReadonlyArray<Started> => {
  const started = new Map<string, Started>()
  for (const event of events) {
    if (event._tag === "Started") started.set(nameOf(event), event)
    if (event._tag === "Interrupted") started.clear()
    const ended = endOf(event)
    if (ended !== null) started.delete(nameOf(ended))
  }
  return [...started.values()]
}

interface Kept {
  /** The events of earlier processes, and the bytes of one that a crash cut off. */
  readonly events: ReadonlyArray<Event>
  readonly torn: number
  readonly append: (events: ReadonlyArray<Event>) => Effect.Effect<void, FileFailed>
}

const nothing: Kept = { events: [], torn: 0, append: () => Effect.void }

/** Goes on with the file of the same subject, or begins one. */
const keep = Effect.fnUntraced(function* <State, Fixed>(
  { decodeHead, fixed, format }: Subject<State, Fixed>,
  { cases, file, identity }: Place
): Effect.fn.Return<Kept, FileFailed, Scope.Scope> {
  const head = { ...fixed, cases: decodeCases(JSON.stringify(cases)), identity }
  const journal = yield* FileJournal.open({ file, mode: "continue", format }).pipe(Effect.mapError(fileFailed))
  const append = (events: ReadonlyArray<{ readonly type: string; readonly payload: unknown }>) =>
    Effect.mapError(journal.append(events.map((event) => ({ ...event, step: 0 }))), fileFailed)
  const [first, ...stored] = yield* Effect.mapError(journal.read, fileFailed)
  const own = yield* headOf(file, format.of, decodeHead(first?.payload ?? head))
  if (first === undefined) yield* append([{ type: "Begun", payload: head }])
  else yield* assertSame(file, format.of, own, head)
  return {
    events: yield* eventsOf(file, stored),
    torn: journal.torn,
    // What cannot be read again would lose all that was paid for.
    append: (events) =>
      Effect.andThen(
        Effect.forEach(events, (event) => eventOf(file, event._tag, event), { discard: true }),
        append(events.map((event) => ({ type: event._tag, payload: event })))
      )
  }
})

const fileFailed = ({ cause, detail, file }: JournalError): FileFailed =>
  new FileFailed({ file, problem: describe(detail), ...(cause === undefined ? {} : { cause }) })

const headOf = <A>(
  file: string,
  of: string,
  head: Effect.Effect<A, Schema.SchemaError>
): Effect.Effect<A, FileFailed> =>
  Effect.mapError(
    head,
    ({ message }) =>
      new FileFailed({ file, problem: `its first event is that of no ${of.slice(2)}: ${describe(message)}` })
  )

const eventsOf = (file: string, stored: ReadonlyArray<StoredEvent>) =>
  Effect.forEach(stored, ({ payload, sequence }) => eventOf(file, sequence, payload))

const eventOf = (file: string, name: number | string, payload: unknown) =>
  Effect.mapError(
    decodeEvent(payload),
    ({ message }) => new FileFailed({ file, problem: `event ${name} is none of a search: ${describe(message)}` })
  )

const decodeCases = Schema.decodeSync(Schema.fromJsonString(Head.fields.cases))
const decodeEvent = Schema.decodeUnknownEffect(Event)

const assertSame = (file: string, of: string, found: object, head: object): Effect.Effect<void, FileFailed> => {
  const parts = (one: object): object => ({ ...one, identity: undefined })
  const identity = (one: object): object => Object(Reflect.get(one, "identity"))
  const differing = [parts, identity].flatMap((part) =>
    Object.keys({ ...part(found), ...part(head) }).filter(
      (name) => JSON.stringify(Reflect.get(part(found), name)) !== JSON.stringify(Reflect.get(part(head), name))
    )
  )
  const problem = `belongs to ${of} with other ${differing.join(", ")}; use the same, or name another file`
  return differing.length === 0 ? Effect.void : Effect.fail(new FileFailed({ file, problem }))
}

/**
 * What is to be recorded of the calls that earlier processes left in flight; null if there is nothing. A call of unknown price counts as
 * the most expensive one of its kind so far.
 */
const interrupted = (events: ReadonlyArray<Event>, torn: number): EventOf<"Interrupted"> | null => {
  const calls = inFlight(events).map(({ atMost, key, kind }) => ({ kind, key, usd: atMost ?? largest(events, kind) }))
  return calls.length === 0 && torn === 0 ? null : { _tag: "Interrupted", calls, ...(torn === 0 ? {} : { torn }) }
}

interface Ended {
  readonly kind: Kind
  readonly key: string
  readonly usd: number
}

/** The call that an event ends, with what it cost; null if it ends none. */
const endOf = (event: Event): Ended | null => {
  switch (event._tag) {
    case "Obtained":
    case "Missed":
      return { kind: "agent", key: keyOf(event), usd: event.usd }
    case "Answered":
      return { kind: "score", key: keyOf(event), usd: event.usd }
    case "Rescored":
      return { kind: "score", key: againKey(event), usd: event.usd }
    case "Written":
      return { kind: "proposer", key: event.key, usd: event.answer.spent.usd ?? 0 }
    case "Failed":
      return event
    default:
      return null
  }
}

const largest = (events: Iterable<Event>, kind: Kind): number => {
  let found = 0
  for (const event of events) {
    const ended = endOf(event)
    if (ended?.kind === kind) found = Math.max(found, ended.usd)
  }
  return found
}

const nameOf = ({ key, kind }: Pick<Ended, "kind" | "key">): string => `${kind} ${key}`

/** What a cause says, without characters that a terminal would obey: it may quote what a model wrote. */
export const describe = (cause: unknown): string =>
  PlainText.escape(cause instanceof Error ? cause.message : String(cause))
