/** Laws of events. */
import { Law } from "@inspo/domain/testing"
import { Arbitrary, Effect, Scheduler, Schema } from "effect"
import type { Journal } from "../../Journal.ts"
import { Event, refused, throughJson, type Use } from "./Cases.ts"

export const eventLaws = <E, R>(use: Use<E, R>, options: Law.Options | undefined): ReadonlyArray<Law.Law<R>> => [
  Law.forAll(
    "events are read as they were appended, however they were batched",
    Arbitrary.schema(Schema.Array(Schema.Array(Event))),
    options,
    (batches) =>
      use((journal) =>
        Effect.gen(function* () {
          for (const batch of batches) yield* journal.append(batch)
          const expected = batches.flat().map((event, sequence) => throughJson({ sequence, ...event }))
          Law.same(yield* journal.read, expected, "the events")
        })
      )
  ),

  Law.forAll(
    "events can be followed from any of them on",
    Arbitrary.schema(Schema.Tuple([Schema.Array(Event), Schema.Array(Event)])),
    options,
    ([before, after]) => use((journal) => followed(journal, before, after))
  ),

  Law.once("events keep U+0000, lone surrogates and the key __proto__", () =>
    use((journal) =>
      Effect.gen(function* () {
        const text = `{"__proto__":{"nul":"a\\u0000b"},"lone":"\\ud800","pair":"😀"}`
        yield* journal.append([{ type: "Odd", step: 0, payload: JSON.parse(text) }])
        const [event] = yield* journal.read
        Law.same(JSON.stringify(event?.payload), text, "the payload")
      })
    )
  ),

  Law.once("a batch with a payload that JSON cannot hold is refused, all of it", () =>
    Effect.forEach(notJson(), (payload) =>
      use((journal) =>
        Effect.gen(function* () {
          const good = { type: "Good", step: 0, payload: 1 }
          const { message, reason } = yield* refused(journal.append([good, { type: "Bad", step: 7, payload }]))
          Law.same(reason, "invalid", "the reason")
          Law.expect(message.includes("the payload of Bad at step 7"), `the message is ${message}`)
          Law.same(yield* journal.read, [], "the events")
        })
      )
    )
  ),

  Law.once("a type that a database cannot hold, or a step that is not a safe integer, is refused", () =>
    Effect.forEach(wrong, (event) =>
      use((journal) =>
        Effect.gen(function* () {
          const { reason } = yield* refused(journal.append([{ type: "a", step: 0, payload: null, ...event }]))
          Law.same(reason, "invalid", "the reason")
        })
      )
    )
  ),

  Law.once("batches of events that are appended at once stay together", () =>
    use(appendedAtOnce).pipe(Effect.provideService(Scheduler.MaxOpsBeforeYield, 5))
  )
]

type Events = ReadonlyArray<typeof Event.Type>

const followed = Effect.fnUntraced(function* (journal: Journal.Interface, before: Events, after: Events) {
  yield* journal.append(before)
  for (const sequence of [before.length, before.length + 1])
    Law.same(yield* journal.readFrom(sequence), [], `the events from ${sequence} on`)
  yield* journal.append(after)
  const all = yield* journal.read
  for (const sequence of [0, 1, before.length, all.length]) {
    Law.same(yield* journal.readFrom(sequence), all.slice(sequence), `the events from ${sequence} on`)
    for (const limit of [1, 2, all.length])
      Law.same(
        yield* journal.readFrom(sequence, limit),
        all.slice(sequence, sequence + limit),
        `${limit} events from ${sequence} on`
      )
  }
  Law.same(yield* journal.readIntact, { events: all, damage: null }, "the intact events")
})

const appendedAtOnce = Effect.fnUntraced(function* (journal: Journal.Interface) {
  const count = 20
  yield* Effect.forEach(
    Array.from({ length: count }, (_, step) => step),
    (step) => journal.append([0, 1].map((payload) => ({ type: "Pair", step, payload }))),
    { concurrency: "unbounded" }
  )
  const events = yield* journal.read
  Law.same(
    events.map(({ sequence }) => sequence),
    Array.from({ length: 2 * count }, (_, sequence) => sequence),
    "the sequence numbers"
  )
  for (const event of events.filter(({ payload }) => payload === 0))
    Law.same(events[event.sequence + 1], { ...event, sequence: event.sequence + 1, payload: 1 }, "the next event")
})

const notJson = (): ReadonlyArray<unknown> => {
  const cycle: Record<string, unknown> = {}
  cycle["self"] = cycle
  let deep: unknown = 0
  for (let depth = 0; depth < 1e5; depth++) deep = [deep]
  return [undefined, Number.NaN, Infinity, 1n, new Date(0), new Map(), { a: undefined }, [() => 1], cycle, deep]
}

const wrong = [
  { type: "" },
  { type: "a\0b" },
  { type: "\ud800" },
  { step: Number.NaN },
  { step: 0.5 },
  { step: 2 ** 60 }
]
