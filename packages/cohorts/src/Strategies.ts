/** Who decides for a population: a value of pure functions for each part. */
import type { InstructionId } from "@inspo/domain/Instruction"
import * as Invariant from "@inspo/domain/Invariant"
import type * as Evolution from "@inspo/evolution"
import { InstructionWeight, type Population } from "@inspo/population"
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
  readonly weighting: Pick<InstructionWeight.Strategy, "best" | "weights">
  /** For a cohort that is assigned as a whole: each question's instruction, with the probability it was drawn with. */
  readonly assign: (whole: Sampler.Request) => ReadonlyArray<Assigned>
}

/** What settings say: stratified assignment, recent cohorts averaged, pruning at a risk for life, parents asked again. */
export const ofSettings = (settings: Settings): Strategies => {
  const { delta, newcomers, parents, temperature, trial } = settings
  const sampler = Sampler.make({ assignment: "stratified", newcomers, temperature })
  return {
    weighting: InstructionWeight.make({ ...averaging(settings), unseen: "mean", ties: "evidence", best: "evidence" }),
    halving: AnytimePruning.make({ delta, parents }),
    verification: Verification.rerunParent({ rounds: trial.rounds, fill: false }),
    assign: ({ newcomers: entered, questions, seed, step, weights }) =>
      withProbabilities(
        {
          weights,
          questions,
          guaranteed: guaranteedOf(newcomers, weights, entered),
          shares: sampler.probabilities(weights)
        },
        sampler.assign({ seed, step, weights, questions, newcomers: entered })
      )
  }
}

/** What a population's window keeps of the rewards. */
export const averaging = ({ average, silence, span, window }: Settings): InstructionWeight.Averaging => ({
  average,
  span,
  window,
  missingRewards: silence
})

/** An assignment of the stratified sampler with the propensities it had. */
export const withProbabilities = (
  request: Pick<Sampler.Request, "questions" | "weights"> & {
    readonly shares: ReadonlyArray<number>
    readonly guaranteed: ReadonlyArray<InstructionId>
  },
  assignment: ReadonlyArray<InstructionId>
): ReadonlyArray<Assigned> => {
  const { guaranteed, questions, shares, weights } = request
  const sources = Arr.groupBy(questions, ({ dataSource }) => dataSource)
  const marginals = Marginals.stratified({
    shares: Invariant.zip(weights, shares, "weights and shares").map(([{ id }, probability]) => ({
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
  newcomers: Settings["newcomers"],
  weights: ReadonlyArray<Population.Weight>,
  entered: ReadonlyArray<InstructionId>
): ReadonlyArray<InstructionId> => {
  if (newcomers === "drawn") return []
  return newcomers === "everyone" ? weights.map(({ id }) => id) : entered
}
