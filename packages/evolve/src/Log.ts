/** The events of a search, and what they add up to. */
import type { ModelAnswer } from "@inspo/reflection"
import { Effect, Semaphore } from "effect"
import { type Event, keyOf, type Obtained } from "./Event.ts"
import type { EventFile } from "./EventFile.ts"
import type { FileFailed } from "./Failure.ts"
import * as InFlight from "./InFlight.ts"
import * as Search from "./Search.ts"
import type { Setup } from "./Setup.ts"

export interface Log {
  readonly state: () => Search.State
  readonly events: ReadonlyArray<Event>
  /** The outputs of the agent, by call. */
  readonly outputs: ReadonlyMap<string, Obtained>
  /** The answers of a language model, by request. */
  readonly written: ReadonlyMap<string, ModelAnswer>
  /** Records events together, in order, and counts them. Events of calls that run at the same time share one write to the disk. */
  readonly write: (...events: ReadonlyArray<Event>) => Effect.Effect<void, FileFailed>
}

/** The log that continues a file: what earlier processes left in flight is counted first. `onEvent` is called after each new event. */
export const open = Effect.fnUntraced(function* (
  setup: Setup,
  file: EventFile,
  onEvent: (state: Search.State) => void
): Effect.fn.Return<Log, FileFailed> {
  let state = Search.begin(setup)
  const events: Array<Event> = []
  const outputs = new Map<string, Obtained>()
  const written = new Map<string, ModelAnswer>()
  const count = (event: Event): void => {
    events.push(event)
    state = Search.apply(state, event)
    if (event._tag === "Obtained") outputs.set(keyOf(event), event)
    if (event._tag === "Written") written.set(event.key, event.answer)
  }
  for (const event of file.events) count(event)

  const turn = yield* Semaphore.make(1)
  let waiting: Array<Event> = []
  let failure: FileFailed | null = null
  const flush = turn.withPermits(1)(
    Effect.suspend(() => {
      // A file that could not be written may end within a line: nothing may follow.
      if (failure !== null) return Effect.fail(failure)
      const batch = waiting
      waiting = []
      if (batch.length === 0) return Effect.void
      return file.append(batch).pipe(
        Effect.tapError((error) => Effect.sync(() => (failure = error))),
        Effect.andThen(
          Effect.sync(() => {
            for (const event of batch) {
              count(event)
              onEvent(state)
            }
          })
        )
      )
    })
  )
  const write: Log["write"] = (...some) =>
    Effect.uninterruptible(
      Effect.suspend(() => {
        waiting.push(...some)
        return flush
      })
    )
  const lost = InFlight.interrupted(events)
  if (lost !== null) yield* write(lost)
  return { state: () => state, events, outputs, written, write }
})
