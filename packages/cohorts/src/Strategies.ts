/** The strategies of a population: those that its settings name, or that the context provides in their place. */
import { type Group, Rules, Strategies as Evolution } from "@inspo/evolution"
import type { Population } from "@inspo/population"
import { Effect } from "effect"
import { type Settings, toUnit } from "./Settings.ts"

/** The strategies in force: those that evolution decides by, and how members are compared. */
export type Strategies = Evolution.Strategies

/** What gives the strategies of settings. */
export type Decides = (settings: Settings) => Strategies

/** Members are compared within questions, and pruned by the rule of the settings; candidates enter untried. */
export const ofSettings: Decides = (settings) =>
  Rules.strategies(
    { ...Rules.sets.evidence, ...settings.selection },
    {
      ...Rules.sets.evidence,
      ...settings.selection,
      ...settings.population,
      missingRewards: missingRewardsOf(settings),
      asks: false
    }
  )

/**
 * {@link ofSettings} with the services of the context, such as `Removal.Removal`, in place of the strategies of the same names. The log of a
 * population does not name them: it needs the same ones each time it is read.
 */
export const fromContext: Effect.Effect<Decides> = Effect.map(
  Evolution.fromContext,
  (replace) => (settings) => replace(ofSettings(settings))
)

/** What a missing reward means, as a reward in [0, 1]. No evidence has any where they are missing at random. */
export const missingRewardsOf = (
  settings: Pick<Settings, "missingRewards" | "rewardRange">
): Population.MissingRewards =>
  typeof settings.missingRewards === "string" ? "worst" : { value: toUnit(settings, settings.missingRewards.value) }

/** What of the units of a cohort is evidence: without missing rewards where they are missing at random. */
export const evidenceOf = (
  { missingRewards }: Pick<Settings, "missingRewards">,
  units: ReadonlyArray<Group>
): ReadonlyArray<Group> => (missingRewards === "random" ? units.map((unit) => ({ ...unit, missing: 0 })) : units)
