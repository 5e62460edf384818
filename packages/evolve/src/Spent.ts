/** What was spent: calls of the agent and US dollars. */
import type { Event, EventOf } from "./Event.ts"

export interface Spent {
  /** Calls of the agent so far: those that ended, and those that were in flight when a process ended. */
  readonly made: number
  /** What everything cost so far, in US dollars. */
  readonly usd: number
  /** Calls of every kind that were in flight when a process ended, and what they count as in US dollars. */
  readonly lost: { readonly calls: number; readonly usd: number }
}

export const nothing: Spent = { made: 0, usd: 0, lost: { calls: 0, usd: 0 } }

/** The same after an event. */
export const after = (spent: Spent, event: Event): Spent => {
  switch (event._tag) {
    case "Obtained":
    case "Missed":
      return { ...spent, made: spent.made + (isCached(event) ? 0 : 1), usd: spent.usd + event.usd }
    case "Answered":
    case "Rescored":
    case "Failed":
      return { ...spent, usd: spent.usd + event.usd }
    case "Written":
      return { ...spent, usd: spent.usd + (event.answer.spent.usd ?? 0) }
    case "Interrupted":
      return interrupted(spent, event)
    default:
      return spent
  }
}

const isCached = (event: EventOf<"Obtained" | "Missed">): boolean =>
  event._tag === "Obtained" && event.isCached === true

const interrupted = ({ lost, made, usd }: Spent, { calls }: EventOf<"Interrupted">): Spent => {
  const more = calls.reduce((sum, call) => sum + call.usd, 0)
  // A score that costs nothing is made again without a loss.
  const counted = calls.filter((call) => call.kind !== "score" || call.usd > 0)
  return {
    made: made + calls.filter(({ kind }) => kind === "agent").length,
    usd: usd + more,
    lost: { calls: lost.calls + counted.length, usd: lost.usd + more }
  }
}
