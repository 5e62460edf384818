/** A run and a population in the same words: the settings and strategies of one in the other, and what both decide. */
import { type PopulationEvent, Settings, Strategies } from "@inspo/cohorts"
import type { Algorithm, RunEvent } from "@inspo/coevolution"
import type { DecisionContext } from "@inspo/coevolution/Next"
import { Struct } from "effect"
import { reusing } from "../../../coevolution/test/support/ScriptedRun.ts"

/** The settings of a served population that is to decide as a run does. */
export const settingsOf = ({
  population,
  randomSeed,
  sampler,
  schedule,
  verification
}: Algorithm): Settings.Settings => {
  const trainer = Settings.trainer(randomSeed)
  return {
    ...trainer,
    population: Struct.pick(population, Struct.keys(trainer.population)),
    sampler: { ...trainer.sampler, temperature: sampler.temperature, newcomers: sampler.newcomers },
    schedule: Struct.pick(schedule, Struct.keys(trainer.schedule)),
    verification: {
      ...Struct.pick(verification, ["samples", "rounds"]),
      lookEvery: verification.stop === null ? null : verification.lookEvery,
      paired: true
    }
  }
}

/** The strategies of the run, in its place. */
export const strategiesOf = ({ algorithm, strategies }: DecisionContext): Strategies.Strategies => ({
  valuation: strategies.valuation,
  halving: strategies.halving,
  verification: strategies.verification,
  assign: ({ newcomers, questions, seed, step, values }) => {
    const guaranteed = algorithm.sampler.newcomers === "everyone" ? values.map(({ id }) => id) : newcomers
    const request = { values, questions, guaranteed, shares: strategies.sampler.probabilities(values) }
    return Strategies.withProbabilities(
      request,
      strategies.sampler.assign({ seed, step, values, questions, newcomers })
    )
  }
})

/** What a run and a population decide alike, in the words of the population. */
export interface Decision {
  readonly kind:
    | "CandidatesJudged"
    | "CandidatesVerified"
    | "ParentsChosen"
    | "PopulationRefilled"
    | "Pruned"
    | "VerificationContinued"
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
    case "CandidatesVerified": {
      const { candidates, parent, questions } = event
      return { kind: "CandidatesVerified", made: { candidates, parent, questions } }
    }
    case "VerificationContinued":
      return { kind: "VerificationContinued", made: event.remaining }
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

const longer: Algorithm = { ...reusing, schedule: { ...reusing.schedule, steps: 20, evolveUntil: 16 } }

/** Each with candidates that are tried in the groups of ordinary steps, as those of a served population are. */
export const configs: Readonly<Record<string, Algorithm>> = {
  "the bottom half is dropped where it was seen": longer,
  "whoever is worse is dropped, everyone is owed a group": {
    ...longer,
    sampler: { ...longer.sampler, newcomers: "everyone" },
    halving: { ...longer.halving, rule: "confident" }
  },
  "the letter of the paper": {
    ...longer,
    randomSeed: 5,
    population: {
      ...longer.population,
      average: "draws",
      ties: "order"
    },
    sampler: { ...longer.sampler, assignment: "independent", newcomers: "drawn" },
    halving: { ...longer.halving, rule: "bottom-half" }
  }
}
