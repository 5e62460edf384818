import type { RunEvent } from "@inspo/coevolution"
import { Presets, type RunConfig } from "@inspo/config"
import { syntheticLog } from "../../../../packages/analysis/test/support/SyntheticLog.ts"

/** A run of 20 steps with four prunings and an evolution every five. */
export const config: RunConfig = {
  ...Presets.paper,
  schedule: { ...Presets.paper.schedule, steps: 20, pruneEvery: 4, evolveEvery: 5, evolveUntil: 20 },
  selection: { ...Presets.paper.selection, rounds: 2 },
  verification: { samples: 8 },
  rollout: { ...Presets.paper.rollout, groupSize: 2 },
  train: { ...Presets.paper.train, batchSize: 9, miniBatch: { ...Presets.paper.train.miniBatch, size: 9 } },
  evaluation: { ...Presets.paper.evaluation, every: 5, questions: 4 }
}

export const events = syntheticLog(config, 30)

/** A run whose models wrote `text` wherever they could. */
export const saying = (text: string): ReadonlyArray<RunEvent> =>
  events.map((event) => {
    switch (event._tag) {
      case "CandidatesProposed":
        return {
          ...event,
          critique: text,
          candidates: event.candidates.map((candidate) => ({ text: `${candidate.text} ${text}`, rationale: text }))
        }
      case "PopulationRefilled":
        return {
          ...event,
          accepted: event.accepted.map((entry) => ({
            ...entry,
            instruction: { ...entry.instruction, text: `${entry.instruction.text} ${text}` }
          }))
        }
      default:
        return event
    }
  })
