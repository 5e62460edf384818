/** Settings as they go over the wire, and as the population has them. */
import { Settings } from "@inspo/cohorts"
import { Effect, Hash, Result } from "effect"
import { InvalidRequest } from "../wire/Errors.ts"
import type * as Wire from "../wire/Population.ts"

/** The settings of a new population; what is not given is the default of the profile. */
export const make = (
  name: string,
  { profile = "online", settings = {} }: Pick<Wire.NewPopulation, "profile" | "settings">
): Effect.Effect<Settings.Settings, InvalidRequest> =>
  Effect.fromResult(changed(defaults(profile, settings.randomSeed ?? Hash.string(name)), settings))

/** Candidates share the traffic: who asks for a cohort piece by piece could not ask them their parent's questions. */
const defaults = (profile: Wire.Profile, randomSeed: number): Settings.Settings => {
  const settings = (profile === "trainer" ? Settings.trainer : Settings.online)(randomSeed)
  return { ...settings, trial: { ...settings.trial, paired: false } }
}

/** The settings after a change of those that may change. */
export const change = (
  before: Settings.Settings,
  settings: Wire.SettingsChange
): Effect.Effect<Settings.Settings, InvalidRequest> => Effect.fromResult(changed(before, settings))

/** The settings on the wire. */
export const toWire = (settings: Settings.Settings): Wire.Settings => {
  const { horizon, limits: _, newcomerCap, sealAfter, sealUnits, seed, seedFloor, trial } = settings
  const { evolveEvery, evolveUntil, newcomers, parents, pruneEvery, rewardRange, size, temperature, window } = settings
  return {
    rewardRange,
    missingRewards:
      settings.missingRewards === "worst" ? "worst" : { value: onScale(settings, settings.missingRewards.value) },
    risk: settings.delta,
    randomSeed: seed,
    sealAfterLeases: sealUnits,
    sealAfterSeconds: seconds(sealAfter),
    horizonSeconds: horizon === "observed" ? horizon : seconds(horizon),
    newcomerShare: newcomerCap,
    seedShare: seedFloor,
    approval: settings.approval ? "by-hand" : "automatic",
    size,
    parents,
    temperature,
    window,
    pruneEvery,
    evolveEvery,
    evolveUntil,
    trialSamples: trial.samples,
    trialPaired: trial.paired,
    trialLookEvery: trial.lookEvery,
    trialRounds: trial.rounds,
    retentionDays: settings.retention === null ? null : settings.retention / day,
    stickyDays: settings.sticky === null ? null : settings.sticky / day,
    redact: settings.redact,
    budgetUsd: settings.budgetUsd,
    newcomers
  }
}

/** A reward in [0, 1] on the scale of the rewards. */
export const onScale = ({ rewardRange: [low, high] }: Pick<Settings.Settings, "rewardRange">, reward: number): number =>
  low + reward * (high - low)

const changed = (
  before: Settings.Settings,
  given: Wire.GivenSettings
): Result.Result<Settings.Settings, InvalidRequest> => {
  const wire = { ...toWire(before), ...given }
  const { rewardRange, missingRewards } = wire
  const [low, high] = rewardRange
  if (missingRewards !== "worst" && !(missingRewards.value >= low && missingRewards.value <= high))
    return invalid(
      "missingRewards.value",
      missingRewards.value,
      `a number from ${low} to ${high}`,
      "Name an outcome within rewardRange"
    )
  if (before.profile === "online") {
    if (wire.sealAfterLeases === null && wire.sealAfterSeconds === null)
      return invalid("sealAfterSeconds", null, "a bound by count or by time", "Set sealAfterLeases or sealAfterSeconds")
    if (wire.horizonSeconds === null)
      return invalid("horizonSeconds", null, "observed or a number of seconds", "Say how long rewards are waited for")
    if (wire.trialPaired)
      return invalid("trialPaired", true, "false where online", "Leave it out: candidates share the traffic")
  }
  return Result.succeed({
    ...before,
    rewardRange,
    // What is not given stays to the bit.
    missingRewards:
      given.missingRewards === undefined
        ? before.missingRewards
        : missingRewards === "worst"
          ? "worst"
          : { value: (missingRewards.value - low) / (high - low) },
    delta: wire.risk,
    seed: wire.randomSeed,
    sealUnits: wire.sealAfterLeases,
    sealAfter: milliseconds(wire.sealAfterSeconds),
    horizon: wire.horizonSeconds === "observed" ? wire.horizonSeconds : milliseconds(wire.horizonSeconds),
    newcomerCap: wire.newcomerShare,
    seedFloor: wire.seedShare,
    approval: wire.approval === "by-hand",
    size: wire.size,
    parents: wire.parents,
    temperature: wire.temperature,
    window: wire.window,
    pruneEvery: wire.pruneEvery,
    evolveEvery: wire.evolveEvery,
    evolveUntil: wire.evolveUntil,
    trial: {
      samples: wire.trialSamples,
      paired: wire.trialPaired,
      lookEvery: wire.trialLookEvery,
      rounds: wire.trialRounds
    },
    retention: wire.retentionDays === null ? null : wire.retentionDays * day,
    sticky: wire.stickyDays === null ? null : wire.stickyDays * day,
    redact: wire.redact,
    budgetUsd: wire.budgetUsd,
    newcomers: wire.newcomers
  })
}

const invalid = (
  field: string,
  value: unknown,
  expected: string,
  remedy: string
): Result.Result<never, InvalidRequest> =>
  Result.fail(new InvalidRequest({ field: `settings.${field}`, value: JSON.stringify(value), expected, remedy }))

const day = 86_400_000
/** Milliseconds as seconds, null as null. */
export const seconds = (milliseconds: number | null): number | null =>
  milliseconds === null ? null : milliseconds / 1000
const milliseconds = (seconds: number | null): number | null => (seconds === null ? null : seconds * 1000)
