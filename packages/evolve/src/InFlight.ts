/** Calls that were started and did not end: what a process leaves behind that is killed. Pure. */
import { type Ask, type Event, type EventOf, keyOf, type Kind, type Started } from "./Event.ts"

/** The calls that are in flight after some events. */
export const open = (events: Iterable<Event>): ReadonlyArray<Started> => {
  const started = new Map<string, Started>()
  for (const event of events) {
    if (event._tag === "Started") started.set(nameOf(event.kind, event.key), event)
    if (event._tag === "Interrupted") started.clear()
    const ended = endOf(event)
    if (ended !== null) started.delete(nameOf(ended.kind, ended.key))
  }
  return [...started.values()]
}

/**
 * What is to be recorded of the calls that earlier processes left in flight; null if there are none. A call of unknown price counts as
 * the most expensive one of its kind so far.
 */
export const interrupted = (events: ReadonlyArray<Event>): EventOf<"Interrupted"> | null => {
  const calls = open(events).map(({ atMost, key, kind }) => ({ kind, key, usd: atMost ?? largest(events, kind) }))
  return calls.length === 0 ? null : { _tag: "Interrupted", calls }
}

/** Names a further score of an output. */
export const againKey = (ask: Ask): string => `again ${keyOf(ask)}`

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

const nameOf = (kind: Kind, key: string): string => `${kind} ${key}`
