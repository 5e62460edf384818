/** Who decides for a population: a value of pure functions for each part. */
import type { InstructionId } from "@inspo/domain/Instruction"
import * as Invariant from "@inspo/domain/Invariant"
import type * as Evolution from "@inspo/evolution"
import { averagingOf } from "@inspo/evolution/Settings"
import { InstructionValue, type Population } from "@inspo/population"
import type { MissingRewards } from "@inspo/population/MissingRewards"
import { Marginals, Sampler } from "@inspo/sampler"
import { AnytimePruning } from "@inspo/successive-halving"
import { Verification } from "@inspo/verification"
import { Array as Arr } from "effect"
import type { Settings } from "./Settings.ts"

/** An instruction with the probability that a question of its stratum gets it; null where that is not known. */
export interface Assigned {
  readonly id: InstructionId
  readonly probability: number | null
}

/** The strategies in force: those that evolution decides by, and how a cohort is assigned. */
export interface Strategies extends Evolution.Strategies {
  readonly valuation: Pick<InstructionValue.Strategy, "best" | "values">
  /** For a cohort that is assigned as a whole: each question's instruction, with the probability it was drawn with. */
  readonly assign: (batch: Sampler.Request) => ReadonlyArray<Assigned>
}

/** What settings say: stratified assignment, recent cohorts averaged, pruning at a risk for life, parents asked again. */
export const ofSettings = (settings: Settings): Strategies => {
  const { population, risk, verification } = settings
  const { newcomers, temperature } = settings.sampler
  const sampler = Sampler.make({ assignment: "stratified", newcomers, temperature })
  return {
    valuation: InstructionValue.make({ ...averaging(settings), unseen: "mean", ties: "evidence", best: "evidence" }),
    halving: AnytimePruning.make({ delta: risk, parents: population.parents }),
    verification: Verification.rerunParent({ rounds: verification.rounds, fill: false }),
    assign: ({ newcomers: entered, questions, seed, step, values }) =>
      withProbabilities(
        {
          values,
          questions,
          guaranteed: guaranteedOf(newcomers, values, entered),
          shares: sampler.probabilities(values)
        },
        sampler.assign({ seed, step, values, questions, newcomers: entered })
      )
  }
}

/** What a population's window keeps of the rewards. */
export const averaging = (settings: Settings): InstructionValue.Averaging => ({
  ...averagingOf(settings.population),
  missingRewards: missingRewardsOf(settings)
})

/** What a missing reward means, as a reward in [0, 1]. */
export const missingRewardsOf = ({
  missingRewards,
  rewardRange: [low, high]
}: Pick<Settings, "missingRewards" | "rewardRange">): MissingRewards =>
  missingRewards === "worst" ? "worst" : { value: (missingRewards.value - low) / (high - low) }

/** An assignment of the stratified sampler with the propensities it had. */
export const withProbabilities = (
  request: Pick<Sampler.Request, "questions" | "values"> & {
    readonly shares: ReadonlyArray<number>
    readonly guaranteed: ReadonlyArray<InstructionId>
  },
  assignment: ReadonlyArray<InstructionId>
): ReadonlyArray<Assigned> => {
  const { guaranteed, questions, shares, values } = request
  const sources = Arr.groupBy(questions, ({ dataSource }) => dataSource)
  const marginals = Marginals.stratified({
    shares: Invariant.zip(values, shares, "values and shares").map(([{ id }, probability]) => ({
      id,
      probability
    })),
    strata: Object.fromEntries(Object.entries(sources).map(([name, some]) => [name, some.length])),
    guaranteed
  })
  return Invariant.zip(assignment, questions, "instructions and questions").map(([id, { dataSource }]) => ({
    id,
    probability: marginals?.[dataSource]?.find((share) => share.id === id)?.probability ?? null
  }))
}

const guaranteedOf = (
  newcomers: Settings["sampler"]["newcomers"],
  values: ReadonlyArray<Population.Value>,
  entered: ReadonlyArray<InstructionId>
): ReadonlyArray<InstructionId> => {
  if (newcomers === "drawn") return []
  return newcomers === "everyone" ? values.map(({ id }) => id) : entered
}
