/** A run and a population in the same words: the settings of one in the other, and what both decide. */
import { type PopulationEvent, Settings } from "@inspo/cohorts"
import type { Algorithm, RunEvent } from "@inspo/coevolution"
import { Struct } from "effect"
import { algorithm } from "../../../coevolution/test/support/ScriptedRun.ts"

/** The settings of a served population that decides as a run does: the seed has no more than its share. */
export const settingsOf = ({ population, randomSeed, rollout, schedule, selection }: Algorithm): Settings.Settings => {
  const trainer = Settings.trainer(randomSeed)
  const { instructionsPerQuestion } = rollout
  return {
    ...trainer,
    selection: { ...trainer.selection, risk: selection.risk },
    population: Struct.pick(population, Struct.keys(trainer.population)),
    sampler: {
      instructionsPerQuestion: instructionsPerQuestion === "samples" ? 1 : instructionsPerQuestion,
      newcomerShare: 1,
      seedShare: 0
    },
    schedule: Struct.pick(schedule, Struct.keys(trainer.schedule))
  }
}

/** What a run and a population decide alike, in the words of the population. */
export interface Decision {
  readonly kind: "CandidatesJudged" | "ParentsChosen" | "PopulationRefilled" | "Pruned"
  readonly made: unknown
}

/** The decision that an event of either is; null where it is none. */
export const decisionOf = (event: RunEvent | PopulationEvent): Decision | null => {
  switch (event._tag) {
    case "Pruned": {
      const { kept, pruned, step } = event
      return { kind: "Pruned", made: { kept, pruned, step } }
    }
    case "ParentsChosen": {
      const { parents, step } = event
      return { kind: "ParentsChosen", made: { parents, step } }
    }
    case "CandidatesJudged": {
      const { again, verdicts } = event
      return { kind: "CandidatesJudged", made: { again, verdicts } }
    }
    case "PopulationRefilled": {
      const { parents, replaced, shortfall } = event
      const accepted = event.accepted.map(({ instruction, mean, questions, verdict }) => ({
        instruction,
        mean,
        questions,
        verdict
      }))
      return { kind: "PopulationRefilled", made: { accepted, parents, replaced, shortfall } }
    }
    default:
      return null
  }
}

/** Members are compared within questions and candidates enter untried, as in a served population. */
const served: Algorithm = {
  ...algorithm,
  selection: {
    ...algorithm.selection,
    average: "questions",
    shares: "thompson",
    assignment: "stratified",
    removal: "evidence",
    risk: 0.9,
    rounds: 1
  },
  schedule: { ...algorithm.schedule, steps: 20, evolveUntil: 16 },
  proposer: { ...algorithm.proposer, candidates: 3 },
  verification: { samples: 0 },
  train: { ...algorithm.train, batchSize: 8 }
}

export const configs: Readonly<Record<string, Algorithm>> = {
  "a question under one instruction": { ...served, rollout: { ...served.rollout, instructionsPerQuestion: 1 } },
  "a question under two instructions": { ...served, rollout: { ...served.rollout, instructionsPerQuestion: 2 } },
  "a question under four instructions": {
    ...served,
    randomSeed: 5,
    rollout: { ...served.rollout, instructionsPerQuestion: 4 }
  }
}
