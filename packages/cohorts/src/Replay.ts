/** Repeats a population's decisions from its log alone. */
import { Schema, Struct } from "effect"
import { chooseParents, refill, UnexpectedEvent } from "@inspo/evolution"
import { apply, begin } from "./Apply.ts"
import { PopulationEvent } from "./Event.ts"
import { context, decide } from "./internal/Decisions.ts"
import type { State } from "./State.ts"
import { ofSettings, type Strategies } from "./Strategies.ts"

/** A decision that differs from the log: `index` counts the events of the log from 0. */
interface Difference {
  readonly index: number
  readonly event: PopulationEvent["_tag"]
  readonly logged: string
  readonly replayed: string
}

export interface Replayed {
  readonly events: number
  readonly decisions: number
  /** The first that differs; null if all are equal. */
  readonly difference: Difference | null
  readonly state: State
}

/**
 * Makes every decision of a log again and compares it with the one that was logged; stops at the first difference. What came
 * from outside, such as leases, rewards and proposals, is taken as logged. Throws {@link UnexpectedEvent} on a log that is
 * not of one piece.
 */
export const replay = (log: ReadonlyArray<PopulationEvent>): Replayed => {
  let state = first(log)
  let decisions = 0
  for (const [index, event] of log.entries()) {
    if (index === 0) continue
    const due = decision(ofSettings(state.settings), state, event)
    if (due !== undefined) {
      decisions++
      const [logged, replayed] = [event, due].map(text)
      if (logged !== replayed && logged !== undefined && replayed !== undefined)
        return { events: index, decisions, state, difference: { index, event: event._tag, logged, replayed } }
    }
    state = apply(state, event)
  }
  return { events: log.length, decisions, difference: null, state }
}

const first = ([created]: ReadonlyArray<PopulationEvent>): State => {
  if (created?._tag === "Created") return begin(created)
  throw new UnexpectedEvent({ event: created?._tag ?? "nothing", expected: "Created first" })
}

/** The decision of the strategies instead of this event; undefined if they do not decide it. */
const decision = (strategies: Strategies, state: State, event: PopulationEvent): PopulationEvent | null | undefined => {
  const { due, evolution } = state.learning
  if (due !== "Nothing" || event._tag === "VerificationBegun") return decide(strategies, state)
  if (event._tag === "ParentsChosen") return chooseParents(context(strategies, state), state.learning)
  if (event._tag === "PopulationRefilled" && evolution !== null)
    return { ...refill(context(strategies, state), state.learning), ...Struct.pick(event, ["noted"]) }
  return made.has(event._tag) ? decide(strategies, state) : undefined
}

/** Events that are decisions of the population itself. */
const made: ReadonlySet<PopulationEvent["_tag"]> = new Set([
  "Pruned",
  "CandidatesJudged",
  "PopulationRefilled",
  "Concluded"
])

const encode = Schema.encodeSync(PopulationEvent)

const text = (event: PopulationEvent | null): string =>
  event === null ? "nothing" : JSON.stringify(sorted(encode(event)))

/** The value with all keys in alphabetical order. */
const sorted = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(sorted)
    : typeof value === "object" && value !== null
      ? Object.fromEntries(
          Object.entries(value)
            .sort(([a], [b]) => (a < b ? -1 : 1))
            .map(([key, one]) => [key, sorted(one)])
        )
      : value
