/** The strategies of a population: pure functions for each part. */
import type * as Evolution from "@inspo/evolution"
import { InstructionValue } from "@inspo/population"
import type { MissingRewards } from "@inspo/population/MissingRewards"
import { EvidencePruning } from "@inspo/successive-halving"
import { Verification } from "@inspo/verification"
import { type Settings, toUnit } from "./Settings.ts"

/** The strategies in force: those that evolution decides by, and how members are compared. */
export interface Strategies extends Evolution.Strategies {
  readonly valuation: Pick<InstructionValue.Strategy, "best" | "values">
}

/** The strategies of settings: members are compared within questions and pruned by evidence; candidates enter untried. */
export const ofSettings = ({ population, risk }: Settings): Strategies => ({
  valuation: InstructionValue.compare,
  halving: EvidencePruning.make({ delta: risk, parents: population.parents }),
  verification: Verification.untried({ rounds: 1, fill: false })
})

/** What a population's window keeps of the rewards. */
export const averaging = (settings: Settings): InstructionValue.Averaging => ({
  window: shownCohorts,
  span: "steps",
  average: "observed",
  missingRewards: missingRewardsOf(settings)
})

/** What a missing reward means, as a reward in [0, 1]. */
export const missingRewardsOf = (settings: Pick<Settings, "missingRewards" | "rewardRange">): MissingRewards =>
  settings.missingRewards === "worst" ? "worst" : { value: toUnit(settings, settings.missingRewards.value) }

/** The cohorts whose mean reward the values that are shown have. */
const shownCohorts = 5
