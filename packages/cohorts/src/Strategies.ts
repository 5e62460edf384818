/** The strategies of a population: pure functions for each part. */
import { type Group, Rules, type Strategies as Deciding } from "@inspo/evolution"
import { InstructionValue, type MissingRewards } from "@inspo/population"
import { Verification } from "@inspo/verification"
import { type Settings, toUnit } from "./Settings.ts"

/** The strategies in force: those that evolution decides by, and how members are compared. */
export interface Strategies extends Deciding {
  readonly valuation: Pick<InstructionValue.Interface, "best" | "observe" | "values">
}

/** What gives the strategies of settings. */
export type Decides = (settings: Settings) => Strategies

/** Members are compared within questions, and pruned by the rule of the settings; candidates enter untried. */
export const ofSettings: Decides = (settings) => ({
  valuation: InstructionValue.comparing(averaging(settings)),
  ...Rules.removals[settings.removal ?? "evidence"]({ ...settings.population, ties: "evidence", risk: settings.risk }),
  verification: Verification.untried({ rounds: 1, fill: false })
})

/** What a population's window keeps of the rewards. */
const averaging = (settings: Settings): InstructionValue.Averaging => ({
  window: shownCohorts,
  span: "steps",
  average: "observed",
  missingRewards: missingRewardsOf(settings)
})

/** What a missing reward means, as a reward in [0, 1]. No evidence has any where they are missing at random. */
export const missingRewardsOf = (
  settings: Pick<Settings, "missingRewards" | "rewardRange">
): MissingRewards.MissingRewards =>
  typeof settings.missingRewards === "string" ? "worst" : { value: toUnit(settings, settings.missingRewards.value) }

/** What of the units of a cohort is evidence: without missing rewards where they are missing at random. */
export const evidenceOf = (
  { missingRewards }: Pick<Settings, "missingRewards">,
  units: ReadonlyArray<Group>
): ReadonlyArray<Group> => (missingRewards === "random" ? units.map((unit) => ({ ...unit, missing: 0 })) : units)

/** The cohorts whose mean reward the values that are shown have. */
const shownCohorts = 5
