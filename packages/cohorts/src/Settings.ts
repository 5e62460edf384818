/** What a population is led by. */
import { Schema } from "effect"
import { MissingRewards } from "@inspo/population/MissingRewards"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Positive = Schema.Int.check(Schema.isGreaterThan(0))
const Share = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

/** Some 200 MB of leases, and room for 100 training steps of 1,024 groups of 16. */
const openLeases = 200_000
const openSamples = 2_000_000
const month = 30 * 86_400_000

/**
 * The settings of a population. Times are in milliseconds, null for no limit; cohorts are counted from 1.
 *
 * - `rewardRange`: the lowest and the highest reward that a client may send; mapped to [0, 1]
 * - `delta`: the risk, over the whole life of a branch, that any instruction is pruned as worse without being so
 * - `size`, `parents`: N_P and N_parent; `temperature`: τ_s of Eq. 4; `window`: n of Eq. 6, in cohorts, read
 *   as `average` and `span` of `InstructionValue` say
 * - `seedFloor`, `newcomerCap`: the least share of the seed, and the largest of all newcomers together
 * - `sealUnits`, `sealAfter`: how many units, and how long, until an open cohort is sealed
 * - `horizon`: how long a sealed cohort waits for rewards; `observed`: by how long they took before
 * - `pruneEvery`, `evolveEvery`: every so many cohorts, 0 for never; `evolveUntil`: the last cohort after which one begins
 * - `trial`: on how many questions (`paired`) or units (else) a candidate is tried, how many of them pass between two looks,
 *   and the number of rounds of proposing
 * - `approval`: whether a candidate waits for a person before it is leased to anybody
 * - `newcomers`: whether a cohort that is assigned as a whole owes each newcomer, or everyone, a group
 * - `redact`: regular expressions of what is blackened in texts before they are stored
 * - `retention`: how long texts, and leases of closed cohorts, are kept; `sticky`: how long from its first lease a sticky key
 *   keeps its instruction over closed cohorts
 * - `budgetUsd`: what evolution may spend over the population's life, in US dollars
 * - `limits`: the most cohorts that are not closed, and the most leases and samples in them together; the most units of a
 *   cohort; the most characters of an instruction
 *
 * `redact`, `retention`, `sticky` and `budgetUsd` decide nothing here: the store and the proposer apply them.
 */
export const Settings = Schema.Struct({
  seed: Schema.Int,
  profile: Schema.Literals(["trainer", "online"]),
  rewardRange: Schema.Tuple([Schema.Finite, Schema.Finite]).check(
    Schema.makeFilter(([lowest, highest]) => lowest < highest || "the lowest reward below the highest")
  ),
  missingRewards: MissingRewards,
  delta: Schema.Finite.check(Schema.isGreaterThan(0), Schema.isLessThan(1)),
  size: Positive,
  parents: Positive,
  temperature: Schema.Finite.check(Schema.isGreaterThan(0)),
  window: Positive,
  average: Schema.Literals(["window", "observed"]),
  span: Schema.Literals(["draws", "steps"]),
  seedFloor: Share,
  newcomerCap: Share,
  sealUnits: Schema.NullOr(Positive),
  sealAfter: Schema.NullOr(Schema.Finite.check(Schema.isGreaterThan(0))),
  horizon: Schema.NullOr(
    Schema.Union([Schema.Literal("observed"), Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))])
  ),
  pruneEvery: Count,
  evolveEvery: Count,
  evolveUntil: Schema.NullOr(Count),
  trial: Schema.Struct({
    samples: Count,
    paired: Schema.Boolean,
    lookEvery: Schema.NullOr(Positive),
    rounds: Positive
  }),
  approval: Schema.Boolean,
  newcomers: Schema.Literals(["drawn", "guaranteed", "everyone"]),
  redact: Schema.Array(Schema.String),
  retention: Schema.NullOr(Schema.Finite.check(Schema.isGreaterThan(0))),
  sticky: Schema.NullOr(Schema.Finite.check(Schema.isGreaterThan(0))),
  budgetUsd: Schema.NullOr(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))),
  limits: Schema.Struct({
    openCohorts: Positive,
    openLeases: Positive,
    openSamples: Positive,
    unitsPerCohort: Positive,
    textLength: Positive
  })
})
export interface Settings extends Schema.Schema.Type<typeof Settings> {}

const common = {
  rewardRange: [0, 1],
  missingRewards: "worst",
  delta: 0.05,
  size: 7,
  parents: 1,
  temperature: 0.2,
  window: 5,
  average: "observed",
  span: "steps",
  pruneEvery: 5,
  evolveEvery: 15,
  evolveUntil: null,
  redact: [],
  retention: month,
  sticky: month,
  budgetUsd: null,
  limits: {
    openCohorts: 1000,
    openLeases,
    openSamples,
    unitsPerCohort: 100_000,
    textLength: 100_000
  }
} as const

/** A trainer names and closes its cohorts; they are assigned as those of a run. */
export const trainer = (seed: number): Settings => ({
  ...common,
  seed,
  profile: "trainer",
  seedFloor: 0,
  newcomerCap: 1,
  sealUnits: null,
  sealAfter: null,
  horizon: null,
  trial: { samples: 200, paired: true, lookEvery: null, rounds: 5 },
  approval: false,
  newcomers: "guaranteed"
})

/** Requests are drawn one by one; the server opens a cohort, and seals it by count or time. */
export const online = (seed: number): Settings => ({
  ...common,
  seed,
  profile: "online",
  seedFloor: 0.05,
  newcomerCap: 0.1,
  sealUnits: 200,
  sealAfter: 3_600_000,
  horizon: "observed",
  trial: { samples: 200, paired: false, lookEvery: null, rounds: 1 },
  approval: true,
  newcomers: "drawn"
})
