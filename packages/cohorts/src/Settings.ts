/** What a population is led by: the settings that runs share, and its own. */
import { Rules, Settings as Shared } from "@inspo/evolution"
import { Schema, Struct } from "effect"
import { Guardrail } from "./Guardrails.ts"

const { fields: shared } = Shared
const Positive = Schema.Int.check(Schema.isGreaterThan(0))
const PositiveAmount = Schema.Finite.check(Schema.isGreaterThan(0))
const Share = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

export const Profile = Schema.Literals(["online", "trainer"]).annotate({
  identifier: "Profile",
  description:
    "`online`: an agent in use, cohorts by count or time. `trainer`: a training loop that names and closes its cohorts. `online` by default"
})
export type Profile = typeof Profile.Type

/** Settings that what was learned rests upon; they never change. */
export const fixed = {
  rewardRange: Schema.Tuple([Schema.Finite, Schema.Finite])
    .check(Schema.makeFilter(([low, high]) => low < high, { expected: "[lo, hi] with lo below hi" }))
    .annotate({
      description: "The lowest and the highest reward that may be reported, mapped to [0, 1]; [0, 1] by default"
    }),
  missingRewards: Schema.Union([
    Schema.Literals(["worst", "random"]),
    Schema.Struct({ value: Schema.Finite })
  ]).annotate({
    description:
      "What a missing reward means: `worst` (default) lets nothing be decided that missing rewards could overturn, and no share grow by them; `random` leaves them out, which assumes that whether a reward is missing does not depend on what it would be; `value` is its outcome by definition, in the `rewardRange`"
  }),
  randomSeed: shared.randomSeed
}

/** The sections of the settings; those of runs have the same names. */
export const sections = {
  population: shared.population.annotate({
    identifier: "PopulationSettings",
    description: "The members: size 7 and parents 1 by default"
  }),
  selection: Schema.Struct(Struct.pick(Rules.Rules.fields, ["removal", "risk"])).annotate({
    identifier: "SelectionSettings",
    description: "The rule of removal, `evidence` by default, and its risk, 0.05 by default, which never changes"
  }),
  sampler: Schema.Struct({
    instructionsPerQuestion: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 1000 })).annotate({
      description:
        "Instructions that a question of a `fullBatch` cohort is asked under: as many questions as leases, less those that are asked several times; 4 by default for a trainer, else 1"
    }),
    newcomerShare: Schema.Union([Share, Schema.NonEmptyArray(Share)]).annotate({
      description:
        "What all newcomers together get at most until one is above the seed, with its 95 % interval; 0.1 by default where `online`, else 1. A list such as [0.01, 0.05, 0.25] is a ramp: its next share holds after each closed cohort, from the entry of the newest newcomer on"
    }),
    seedShare: Share.annotate({
      description:
        "What the seed gets at least until another member is known to be better than it; then it gets at least a quarter of that, as a control. 0.2 by default"
    })
  }).annotate({
    identifier: "SamplerSettings",
    description:
      "Which member a lease gets: each in proportion to its probability of being the best, with a floor of about 2 %"
  }),
  schedule: shared.schedule.annotate({
    identifier: "ScheduleSettings",
    description: "When to prune and to evolve: pruneEvery 5, evolveEvery 15 and evolveUntil null by default"
  }),
  budget: Schema.Struct({
    usd: Schema.NullOr(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))).annotate({ description: "US dollars" })
  }).annotate({
    identifier: "BudgetSettings",
    description: "What evolution may spend over the population's life; null (default) for no bound"
  })
}

/** Further settings that may change, from the next cohort on. */
export const others = {
  sealAfterLeases: Schema.NullOr(Positive).annotate({
    description: "Units of work after which an `online` cohort is sealed; 200 by default, null for no such bound"
  }),
  sealAfterSeconds: Schema.NullOr(PositiveAmount).annotate({
    description: "Seconds after which an `online` cohort is sealed; 3600 by default, null for no such bound"
  }),
  horizonSeconds: Schema.NullOr(Schema.Union([Schema.Literal("observed"), PositiveAmount])).annotate({
    description:
      "How long after sealing rewards are waited for, in seconds. `observed`, the default where `online`: three times what the last reward took in any of the 20 cohorts before, at least an hour and at most a day; a day until five cohorts ended without a late reward. Null for a trainer, which closes its cohorts"
  }),
  approval: Schema.Literals(["by-hand", "automatic"]).annotate({
    description: "Whether a newcomer waits for an admin before it is verified; `by-hand` by default where `online`"
  }),
  retentionDays: Schema.NullOr(PositiveAmount).annotate({
    description: "How long texts, and leases of closed cohorts, are kept, in days; 30 by default, null for ever"
  }),
  stickyDays: Schema.NullOr(PositiveAmount).annotate({
    description:
      "How long from its first lease a sticky key keeps its instruction over closed cohorts, and is stored, in days; 30 by default, null for ever"
  }),
  guardrails: Schema.Array(Guardrail).check(Schema.isMaxLength(16)).annotate({
    description:
      "What numbers that come with rewards may be at most, such as `usd=0.05`, `latency.p95=2s` or a number of `metrics`; none by default. A member that is shown to break one is paused: it gets no leases until it, or the guardrail, is removed. The seed is never paused"
  }),
  redact: Schema.Array(Schema.String).check(Schema.isMaxLength(64)).annotate({
    description:
      "Regular expressions, of RE2, of what is masked in texts of users before they are stored; none by default"
  })
}

/** `redact`, `retentionDays`, `stickyDays` and `budget` decide nothing here: the store and the proposer apply them. */
export const Settings = Schema.Struct({ profile: Profile, ...fixed, ...sections, ...others })
export interface Settings extends Schema.Schema.Type<typeof Settings> {}

const common = {
  rewardRange: [0, 1],
  missingRewards: "worst",
  population: { size: 7, parents: 1 },
  selection: { removal: "evidence", risk: 0.05 },
  schedule: { pruneEvery: 5, evolveEvery: 15, evolveUntil: null },
  retentionDays: 30,
  stickyDays: 30,
  guardrails: [],
  redact: [],
  budget: { usd: null }
} as const

/** A trainer names and closes its cohorts; they are assigned as those of a run. */
export const trainer = (randomSeed: number): Settings => ({
  ...common,
  randomSeed,
  profile: "trainer",
  sampler: { instructionsPerQuestion: 4, newcomerShare: 1, seedShare: 0.2 },
  sealAfterLeases: null,
  sealAfterSeconds: null,
  horizonSeconds: null,
  approval: "automatic"
})

/** Requests are drawn one by one; the server opens a cohort, and seals it by count or time. */
export const online = (randomSeed: number): Settings => ({
  ...common,
  randomSeed,
  profile: "online",
  sampler: { instructionsPerQuestion: 1, newcomerShare: 0.1, seedShare: 0.2 },
  sealAfterLeases: 200,
  sealAfterSeconds: 3600,
  horizonSeconds: "observed",
  approval: "by-hand"
})

/** A time of the settings in milliseconds; null for no limit. */
export const milliseconds = (seconds: number | null): number | null => (seconds === null ? null : seconds * 1000)
/** The same of a time in days. */
export const daysInMilliseconds = (days: number | null): number | null => (days === null ? null : days * 86_400_000)

type Scale = Pick<Settings, "rewardRange">

/** A reported reward, of `rewardRange`, in [0, 1]. */
export const toUnit = ({ rewardRange: [low, high] }: Scale, reward: number): number => (reward - low) / (high - low)
/** The reverse: a reward in [0, 1] on the scale of those that are reported. */
export const onScale = ({ rewardRange: [low, high] }: Scale, reward: number): number => low + reward * (high - low)
