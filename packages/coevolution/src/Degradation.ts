/** What went wrong in a run that went on all the same. */
import { Schema } from "effect"
import { initialSize, type Algorithm } from "./Algorithm.ts"
import type { Failed, RunEvent } from "./RunEvent.ts"

/**
 * That a part of a run failed `count` times, at `step` for the first time. `message` says what happened then, and how to
 * repair it where that is known. Parts of the loop are:
 *
 * - `proposer`: calls to the proposer that failed for good
 * - `candidates`: places that stay empty, or rounds without a candidate, since no text kept the rules
 * - `training`, `verification`, `validation`, `evaluation`: rollouts that a tool or the reward failed
 *
 * Who runs the loop may have parts of its own, such as a tracker.
 */
export const Degradation = Schema.Struct({
  part: Schema.String,
  step: Schema.Natural,
  count: Schema.Natural,
  message: Schema.String
})
export interface Degradation extends Schema.Schema.Type<typeof Degradation> {}

/** The facts with others: one for each part, with all that befell it. */
export const merge = (
  known: ReadonlyArray<Degradation>,
  others: ReadonlyArray<Degradation>
): ReadonlyArray<Degradation> =>
  [...Map.groupBy([...known, ...others], ({ part }) => part).values()].flatMap((own) =>
    own.slice(0, 1).map((first) => ({ ...first, count: own.reduce((total, { count }) => total + count, 0) }))
  )

/** A fact as one line, for people. */
export const tell = ({ count, message, part, step }: Degradation): string =>
  `${part}, ${count === 1 ? `at step ${step}` : `${count.toLocaleString("en-US")} times since step ${step}`}: ${message}`

/** What an event tells of; `step` is that of the run after it. */
export const ofEvent = (algorithm: Algorithm, event: RunEvent, step: number): ReadonlyArray<Degradation> => {
  switch (event._tag) {
    case "PopulationInitialised": {
      const empty = initialSize(algorithm) - event.instructions.length
      if (event.failure !== undefined) return [{ part: "proposer", step, count: 1, message: event.failure.message }]
      return empty <= 0
        ? []
        : [
            {
              part: "candidates",
              step,
              count: empty,
              message: `the first population holds ${event.instructions.length} of ${initialSize(algorithm)} instructions; no other text kept the rules`
            }
          ]
    }
    case "CandidatesProposed":
      if (event.failure !== undefined) return [{ part: "proposer", step, count: 1, message: event.failure.message }]
      return event.candidates.length > 0 || !event.rejected.some(({ reason }) => !repetitions.has(reason))
        ? []
        : [
            {
              part: "candidates",
              step,
              count: 1,
              message: `none of ${event.rejected.length} candidates kept the rules (${[...new Set(event.rejected.map(({ reason }) => reason))].join(", ")})`
            }
          ]
    case "RolloutsCollected":
      return failures("training", step, event)
    case "CandidatesVerified":
      return failures("verification", step, event)
    case "Validated":
      return failures("validation", step, event)
    case "Evaluated":
      return failures("evaluation", step, event)
    default:
      return []
  }
}

/** Reasons against candidates of a proposer that has nothing new to say, which is no fault. */
export const repetitions: ReadonlySet<string> = new Set(["parent-copy", "duplicate", "near-duplicate", "surplus"])

const failures = (
  part: string,
  step: number,
  { failed }: { readonly failed?: typeof Failed.Type }
): ReadonlyArray<Degradation> =>
  failed === undefined
    ? []
    : [
        {
          part,
          step,
          count: failed.trajectories.length,
          message: failed.reason ?? "a tool or the reward failed; traces.jsonl says why"
        }
      ]
