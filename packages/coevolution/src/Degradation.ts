/** Failures that a run continued after. */
import type { Group } from "@inspo/domain"
import { Schema } from "effect"
import { initialSize, type Algorithm } from "./Algorithm.ts"
import { askedGroups, type Failed, type RunEvent } from "./RunEvent.ts"

/**
 * A part of a run failed `count` times, first at `step`. `message` describes the first failure and, if known, how to fix it.
 * Parts of the loop are:
 *
 * - `proposer`: calls to the proposer that failed after all retries
 * - `candidates`: empty places or rounds without a candidate, because no text followed the rules
 * - `judge`: questions to a judge of groups or turns whose replies could not be read
 * - `training`, `verification`, `validation`, `evaluation`: rollouts that failed because of a tool or the reward
 * - `prompts`: rollouts in which the policy wrote nothing
 *
 * The program around the loop may add parts, such as a tracker.
 */
export const Degradation = Schema.Struct({
  part: Schema.String,
  step: Schema.Natural,
  count: Schema.Natural,
  message: Schema.String
})
export interface Degradation extends Schema.Schema.Type<typeof Degradation> {}

/** Adds facts to others: one for each part, with the total count. */
export const merge = (
  known: ReadonlyArray<Degradation>,
  others: ReadonlyArray<Degradation>
): ReadonlyArray<Degradation> =>
  [...Map.groupBy([...known, ...others], ({ part }) => part).values()].flatMap((own) =>
    own.slice(0, 1).map((first) => ({ ...first, count: own.reduce((total, { count }) => total + count, 0) }))
  )

/** A fact as one line of text. */
export const describe = ({ count, message, part, step }: Degradation): string =>
  `${part}, ${count === 1 ? `at step ${step}` : `${count.toLocaleString("en-US")} times since step ${step}`}: ${message}`

/** The failures that an event reports; `step` is that of the run after it. */
export const ofEvent = (algorithm: Algorithm, event: RunEvent, step: number): ReadonlyArray<Degradation> => {
  switch (event._tag) {
    case "PopulationInitialised": {
      const empty = initialSize(algorithm) - event.instructions.length
      if (event.failure !== undefined) return fact("proposer", step, 1, event.failure.message)
      return fact(
        "candidates",
        step,
        empty,
        `the first population holds ${event.instructions.length} of ${initialSize(algorithm)} instructions; no other text followed the rules`
      )
    }
    case "CandidatesProposed":
      if (event.failure !== undefined) return fact("proposer", step, 1, event.failure.message)
      if (event.candidates.length > 0 || event.rejected.every(({ reason }) => repetitions.has(reason))) return []
      return fact(
        "candidates",
        step,
        1,
        `none of ${event.rejected.length} candidates followed the rules (${[...new Set(event.rejected.map(({ reason }) => reason))].join(", ")})`
      )
    case "TrainingPlanned": {
      const { asked = 0, unread = 0 } = event.findings ?? {}
      return fact("judge", step, unread, `${unread} of ${asked} questions brought no verdict`)
    }
    case "RolloutsCollected":
      return [...failures("training", step, event), ...unwritten(algorithm, step, askedGroups(event))]
    case "CandidatesVerified":
      return failures("verification", step, event)
    case "Validated":
      return [...failures("validation", step, event), ...unwritten(algorithm, step, event.groups)]
    case "Evaluated":
      return [...failures("evaluation", step, event), ...unwritten(algorithm, step, event.groups)]
    default:
      return []
  }
}

/** Reasons for rejecting candidates that repeat earlier texts, which is not a failure. */
export const repetitions: ReadonlySet<string> = new Set(["parent-copy", "duplicate", "near-duplicate", "surplus"])

const failures = (
  part: string,
  step: number,
  { failed }: { readonly failed?: typeof Failed.Type }
): ReadonlyArray<Degradation> =>
  fact(part, step, failed?.trajectories.length ?? 0, failed?.reason ?? "a tool or the reward failed; see traces.jsonl")

const unwritten = (
  { rollout: { maxPromptTokens } }: Algorithm,
  step: number,
  groups: ReadonlyArray<Group.Group>
): ReadonlyArray<Degradation> =>
  fact(
    "prompts",
    step,
    groups.flatMap(({ responseTokens }) => responseTokens).filter((tokens) => tokens === 0).length,
    `the policy wrote nothing: a prompt, with what the agent adds, is longer than rollout.maxPromptTokens, ${maxPromptTokens}, or the model returned no text`
  )

const fact = (part: string, step: number, count: number, message: string): ReadonlyArray<Degradation> =>
  count <= 0 ? [] : [{ part, step, count, message }]
