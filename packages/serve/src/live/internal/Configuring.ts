/** The settings of a new population, and those after a change. */
import { Settings } from "@inspo/cohorts"
import { Effect, Hash, Struct } from "effect"
import { InvalidRequest } from "../../wire/Errors.ts"
import type * as Wire from "../../wire/Population.ts"

/** The settings of a new population; what is not given is the default of the profile. */
export const make = (
  name: string,
  { profile = "online", settings = {} }: Pick<Wire.NewPopulation, "profile" | "settings">
): Effect.Effect<Settings.Settings, InvalidRequest> => {
  const defaults = (profile === "trainer" ? Settings.trainer : Settings.online)(Hash.string(name))
  return change(defaults, settings)
}

/** The settings after a change of those that are given. */
export const change = (
  before: Settings.Settings,
  { population, sampler, schedule, selection, ...others }: Wire.GivenSettings
): Effect.Effect<Settings.Settings, InvalidRequest> => {
  const after: Settings.Settings = {
    ...before,
    ...others,
    population: { ...before.population, ...population },
    sampler: { ...before.sampler, ...sampler },
    schedule: { ...before.schedule, ...schedule },
    selection: { ...before.selection, ...selection }
  }
  const broken = inconsistency(after)
  return broken === null ? Effect.succeed(after) : Effect.fail(broken)
}

/** The settings on the wire, where the profile is beside them. */
export const toWire = (settings: Settings.Settings): Wire.Settings => Struct.omit(settings, ["profile"])

const inconsistency = (settings: Settings.Settings): InvalidRequest | null => {
  const { missingRewards, profile, rewardRange } = settings
  const [low, high] = rewardRange
  if (!Number.isFinite(high - low))
    return invalid("rewardRange", rewardRange, "[lo, hi] with a finite difference", "Set bounds that rewards can reach")
  for (const [field, most] of Object.entries(longest)) {
    const value = Reflect.get(settings, field)
    if (typeof value === "number" && value > most)
      return invalid(field, value, `at most ${most}, 100 years`, "Set a shorter time, or null for no bound")
  }
  if (typeof missingRewards !== "string" && !(missingRewards.value >= low && missingRewards.value <= high))
    return invalid(
      "missingRewards.value",
      missingRewards.value,
      `a number from ${low} to ${high}`,
      "Set an outcome within rewardRange"
    )
  if (profile === "trainer") return null
  if (settings.sealAfterLeases === null && settings.sealAfterSeconds === null)
    return invalid("sealAfterSeconds", null, "a bound by count or by time", "Set sealAfterLeases or sealAfterSeconds")
  return settings.horizonSeconds === null
    ? invalid("horizonSeconds", null, "observed or a number of seconds", "Set how long rewards are waited for")
    : null
}

/** Times beyond these have no date. */
const longest = {
  sealAfterSeconds: 36_525 * 86_400,
  horizonSeconds: 36_525 * 86_400,
  retentionDays: 36_525,
  stickyDays: 36_525
} satisfies Partial<Record<keyof Settings.Settings, number>>

const invalid = (field: string, value: unknown, expected: string, remedy: string): InvalidRequest =>
  new InvalidRequest({ field: `settings.${field}`, value: JSON.stringify(value), expected, remedy })
