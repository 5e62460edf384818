/** A search as its file shows it: a fold of the events, with what each round showed. */
import { Effect } from "effect"
import type { Event } from "./Event.ts"
import * as EventFile from "./EventFile.ts"
import { describe, FileFailed } from "./Failure.ts"
import * as Search from "./Search.ts"
import * as Setup from "./Setup.ts"
import type { Round, Snapshot } from "./Snapshot.ts"
import * as Summary from "./Summary.ts"

/** What the file of a search holds: its head, the state after its events, and what each round showed. */
export interface Course {
  readonly head: EventFile.Head
  readonly state: Search.State
  readonly events: ReadonlyArray<Event>
  /** The rounds of search that are complete. */
  readonly rounds: ReadonlyArray<Round>
}

/** A search before its first event. Throws `InvalidInput` if its head cannot be that of a search. */
export const begin = (head: EventFile.Head): Course => ({
  head,
  state: Search.begin(Setup.make({ ...head, cases: head.cases.length })),
  events: [],
  rounds: []
})

/** The search after more events. Throws if they do not follow from those before. */
export const observe = (course: Course, events: ReadonlyArray<Event>): Course => {
  let { state } = course
  const rounds: Array<Round> = []
  for (const [index, event] of events.entries()) {
    const { round } = state
    try {
      state = Search.apply(state, event)
      if (round?.kind === "search" && state.round === null) rounds.push(Summary.roundOf(state))
    } catch (cause) {
      throw new Error(
        `line ${course.events.length + index + 2} does not follow from those before: ${describe(cause)}`,
        {
          cause
        }
      )
    }
  }
  return { ...course, state, events: [...course.events, ...events], rounds: [...course.rounds, ...rounds] }
}

/** What there is to show of the search. */
export const snapshot = ({ events, head, rounds, state }: Course): Snapshot => {
  const summary = Summary.of(state, events)
  return {
    ...summary,
    failing: summary.failing.map((one) => ({ ...one, case: head.cases[one.place] ?? null })),
    rounds,
    randomSeed: head.randomSeed,
    identity: head.identity
  }
}

/** A file that was read, and what there is to show of it. */
export interface Followed {
  readonly course: Course
  readonly snapshot: Snapshot
}

/**
 * Reads the file of a search, which another process may write meanwhile; `before` is what was read of it earlier, and spares the work
 * of reading that again.
 *
 * @example
 * ```ts
 * import * as Course from "@inspo/evolve/Course"
 * import { Effect } from "effect"
 *
 * declare const file: string // such as runs/evolve-prompt/events.jsonl
 *
 * const { snapshot } = await Effect.runPromise(Course.read(file))
 * snapshot.verdict // null while the search goes on
 * ```
 */
export const read = Effect.fn("Course.read")(function* (
  file: string,
  before: Course | null = null
): Effect.fn.Return<Followed, FileFailed> {
  const known = before?.events.length ?? 0
  const { events, head } = yield* EventFile.read(file, known)
  // A file of that name that is another one now is read from its beginning.
  if (before !== null && JSON.stringify(head) !== JSON.stringify(before.head)) return yield* read(file)
  return yield* Effect.try({
    try: () => {
      const course = observe(before ?? begin(head), events)
      return { course, snapshot: snapshot(course) }
    },
    catch: (cause) => new FileFailed({ file, problem: describe(cause), cause })
  })
})
