/** Populations: a named, evolving set of instructions with its settings. */
import { Schema, Struct } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { Instruction, Wording } from "./Instruction.ts"
import * as Limits from "./Limits.ts"
import { Estimate, Member } from "./Member.ts"
import { CohortName, InstructionId, PopulationName, RequestId } from "./Name.ts"
import { CohortState } from "./Reward.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const Share = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))
const Positive = Schema.Int.check(Schema.isGreaterThanOrEqualTo(1))
const PositiveAmount = Schema.Finite.check(Schema.isGreaterThan(0))
const describe = (description: string) => ({ description })

export const Profile = Schema.Literals(["online", "trainer"]).annotate({
  identifier: "Profile",
  description:
    "`online`: an agent in use, cohorts by count or time. `trainer`: a training loop that names and closes its cohorts. `online` by default"
})
export type Profile = typeof Profile.Type

/** Settings that what was learned rests upon; they never change. */
const fixed = {
  rewardRange: Schema.Tuple([Schema.Finite, Schema.Finite])
    .check(Schema.makeFilter(([low, high]) => low < high, { expected: "[lo, hi] with lo below hi" }))
    .annotate(describe("What rewards lie in, mapped to [0, 1]; [0, 1] by default")),
  missingRewards: Schema.Union([Schema.Literal("worst"), Schema.Struct({ value: Schema.Finite })]).annotate(
    describe(
      "What no reward means: `worst` (default) allows no decision that missing rewards could overturn, and no share that grows by them, `value` is the outcome by definition, in the `rewardRange`"
    )
  ),
  risk: Schema.Finite.check(Schema.isGreaterThan(0), Schema.isLessThan(1)).annotate(
    describe("δ: how probable it may be that the population ever prunes one that is no worse; 0.05 by default")
  ),
  randomSeed: Schema.Int.annotate(
    describe("Of every random choice; by default made of the name, so that populations draw apart")
  )
}

/** Settings that may change, from the next cohort on. */
const free = {
  sealAfterLeases: Schema.NullOr(Positive).annotate(
    describe("Units of work after which an `online` cohort is sealed; 200 by default, null for no such bound")
  ),
  sealAfterSeconds: Schema.NullOr(PositiveAmount).annotate(
    describe("Seconds after which an `online` cohort is sealed; 3600 by default, null for no such bound")
  ),
  horizonSeconds: Schema.NullOr(Schema.Union([Schema.Literal("observed"), PositiveAmount])).annotate(
    describe(
      "How long after sealing rewards are waited for, in seconds. `observed`, the default where `online`: three times what the last reward took in any of the 20 cohorts before, at least an hour and at most a day; a day until five cohorts ended without a late reward. Null for a trainer, which closes its cohorts"
    )
  ),
  newcomerShare: Share.annotate(
    describe(
      "What all newcomers together get at most until one is shown to be above the seed's mean; 0.1 by default where `online`, else 1"
    )
  ),
  seedShare: Share.annotate(
    describe("What the seed gets at least, as a permanent control; 0.05 by default where `online`, else 0")
  ),
  approval: Schema.Literals(["by-hand", "automatic"]).annotate(
    describe("Whether a newcomer waits for an admin before it is tried; `by-hand` by default where `online`")
  ),
  size: Positive.annotate(describe("N_P: how many members there are at most after an evolution; 7 by default")),
  parents: Positive.annotate(describe("N_parent: whom candidates descend from; 1 by default")),
  temperature: PositiveAmount.annotate(describe("τ_s of Eq. 4: how even the shares are; 0.2 by default")),
  window: Positive.annotate(
    describe("n of Eq. 6: over how many cohorts rewards are averaged for the shares; 5 by default")
  ),
  pruneEvery: Count.annotate(describe("Cohorts between two prunings; 5 by default, 0 for never")),
  evolveEvery: Count.annotate(describe("Cohorts between two evolutions; 15 by default, 0 for never")),
  evolveUntil: Schema.NullOr(Count).annotate(
    describe("The last cohort after which one evolves; null (default) for no last")
  ),
  trialSamples: Count.annotate(
    describe("On how many questions (`trialPaired`) or units of work a candidate is tried; 200 by default")
  ),
  trialPaired: Schema.Boolean.annotate(
    describe(
      "Whether a candidate is asked the questions of its parent, which needs a trainer that asks for each cohort as a `fullBatch` and answers its `trials`; false by default: candidates share the leases with the members"
    )
  ),
  trialLookEvery: Schema.NullOr(Positive).annotate(
    describe("Questions between two looks at a trial; null (default) for one at its end")
  ),
  trialRounds: Positive.annotate(describe("Rounds of proposing in an evolution; 1 by default where `online`, else 5")),
  retentionDays: Schema.NullOr(PositiveAmount).annotate(
    describe("How long texts, and leases of closed cohorts, are kept, in days; 30 by default, null for ever")
  ),
  stickyDays: Schema.NullOr(PositiveAmount).annotate(
    describe(
      "How long from its first lease a sticky key keeps its instruction over closed cohorts, and is stored, in days; 30 by default, null for ever"
    )
  ),
  redact: Schema.Array(Schema.String)
    .check(Schema.isMaxLength(Limits.redactions))
    .annotate(
      describe(
        "Regular expressions, of RE2, of what is blackened in texts of users before they are stored; none by default"
      )
    ),
  budgetUsd: Schema.NullOr(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0))).annotate(
    describe("What evolution may spend over the population's life, in US dollars; null (default) for no bound")
  ),
  newcomers: Schema.Literals(["drawn", "guaranteed", "everyone"]).annotate(
    describe(
      "Whom a `fullBatch` cohort owes a lease: nobody, each newcomer, or everyone; `drawn` by default where `online`, else `guaranteed`"
    )
  )
}

export const Settings = Schema.Struct({ ...fixed, ...free }).annotate({ identifier: "Settings" })
export interface Settings extends Schema.Schema.Type<typeof Settings> {}

const optional = <F extends Schema.Struct.Fields>(fields: F) =>
  Schema.Struct(fields).mapFields(Struct.map(Schema.optionalKey))

/** Settings that are named; the others are the defaults of the profile. */
export const GivenSettings = optional({ ...fixed, ...free }).annotate({ identifier: "GivenSettings" })
export interface GivenSettings extends Schema.Schema.Type<typeof GivenSettings> {}

/** What a population is made of. The same again is no change; something else under its name is a conflict. */
export const NewPopulation = Schema.Struct({
  seed: Wording,
  variants: Schema.optionalKey(
    Schema.Array(Wording)
      .check(Schema.isMaxLength(Limits.variants))
      .annotate(describe("Further instructions to begin with; they are no newcomers"))
  ),
  profile: Schema.optionalKey(Profile),
  settings: Schema.optionalKey(GivenSettings)
}).annotate({ identifier: "NewPopulation" })
export interface NewPopulation extends Schema.Schema.Type<typeof NewPopulation> {}

/** Settings that change from the next cohort on; those that are not named stay. */
export const SettingsChange = optional(free).annotate({ identifier: "SettingsChange" })
export interface SettingsChange extends Schema.Schema.Type<typeof SettingsChange> {}

const summary = {
  name: PopulationName,
  profile: Profile,
  state: Schema.Literals(["learning", "cannot-decide", "frozen", "degraded"]).annotate(
    describe(
      "`cannot-decide` where so many rewards are missing that instructions which differ cannot be told apart; `next` names them"
    )
  ),
  members: Count.annotate(describe("Instructions that are alive")),
  incumbent: InstructionId
}

export const PopulationSummary = Schema.Struct(summary).annotate({ identifier: "PopulationSummary" })
export interface PopulationSummary extends Schema.Schema.Type<typeof PopulationSummary> {}

/** Everything that is known of a population. */
export const Population = Schema.Struct({
  ...summary,
  settings: Settings,
  members: Schema.Array(Member).annotate(
    describe("Those alive, and candidates that wait or are tried; who left is told by the events")
  ),
  generation: Count.annotate(describe("How often it evolved")),
  branch: Count.annotate(describe("How often it was rewound")),
  cohorts: Schema.Array(CohortState).annotate(describe("Those that are not closed, the oldest first")),
  leases: Schema.Struct({ given: Count, open: Count, overdue: Count, lost: Count }).annotate(
    describe(
      "Of training. `open` ones are not fully reported, `overdue` ones of them though their cohort is sealed; `lost` ones were not when it was closed. Of closed cohorts a conversation counts once"
    )
  ),
  horizonSeconds: Schema.NullOr(Schema.Finite).annotate(
    describe("How long a sealed cohort waits for rewards as things stand, in seconds; null for no bound")
  ),
  toSeed: Schema.NullOr(Estimate).annotate(
    describe("By how much the incumbent is better than the seed; null where it is the seed, or where one of them left")
  ),
  spentUsd: Schema.NullOr(Schema.Finite).annotate(
    describe("What its evolution has cost; null where it paid for tokens of a model whose price is not known")
  ),
  budgetUsd: Schema.NullOr(Schema.Finite).annotate(
    describe(
      "What its evolution may spend: its own setting or that of the server's proposer for each population, the lower of both"
    )
  ),
  next: Schema.String.annotate(describe("What the next decision waits for")),
  degraded: Schema.Array(Schema.Struct({ since: Schema.String, reason: Schema.String, remedy: Schema.String }))
}).annotate({ identifier: "Population" })
export interface Population extends Schema.Schema.Type<typeof Population> {}

/** The population is new. */
export const Created = Schema.Struct({ outcome: Schema.Literal("created"), population: Population })
  .annotate({ identifier: "Created" })
  .pipe(HttpApiSchema.status(201))

/** It was there, and is the same. */
export const Unchanged = Schema.Struct({ outcome: Schema.Literal("same"), population: Population }).annotate({
  identifier: "Unchanged"
})

/** The instruction to use outside learning. */
export const Incumbent = Schema.Struct({
  instruction: Instruction,
  reason: Schema.Literals(["seed", "evidence", "pinned"]).annotate(
    describe("`seed` where nothing separates the instructions, `evidence` where something does, `pinned` by an admin")
  ),
  why: Schema.String.annotate(describe("The same in words, with the figures"))
}).annotate({ identifier: "Incumbent" })
export interface Incumbent extends Schema.Schema.Type<typeof Incumbent> {}

/** Back to the state before a cohort; repeated with one `requestId`, as by many ranks, it happens once. */
export const Rewind = Schema.Struct({
  to: CohortName.annotate(describe("The cohort that is the last to count")),
  requestId: RequestId
}).annotate({ identifier: "Rewind" })
export interface Rewind extends Schema.Schema.Type<typeof Rewind> {}

/** `rewound` is false where the request was known. */
export const Rewound = Schema.Struct({ branch: Count, rewound: Schema.Boolean }).annotate({ identifier: "Rewound" })
export interface Rewound extends Schema.Schema.Type<typeof Rewound> {}
