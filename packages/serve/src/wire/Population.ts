/** Populations: a named, evolving set of instructions with its settings. */
import * as Led from "@inspo/cohorts/Settings"
import { Schema, Struct } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { Instruction, Wording } from "./Instruction.ts"
import * as Limits from "./Limits.ts"
import { Estimate, Member } from "./Member.ts"
import { CohortName, InstructionId, PopulationName, RequestId } from "./Name.ts"
import { CohortState } from "./Reward.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const describe = (description: string) => ({ description })

/** The settings of a population, without its profile. */
export const Settings = Schema.Struct(Struct.omit(Led.Settings.fields, ["profile"])).annotate({
  identifier: "Settings"
})
export interface Settings extends Schema.Schema.Type<typeof Settings> {}

const optional = <F extends Schema.Struct.Fields>(fields: F) =>
  Schema.Struct(fields).mapFields(Struct.map(Schema.optionalKey))

/** Any of the settings that may change, in sections any of their settings. */
const changeable = {
  ...optional(Led.others).fields,
  population: Schema.optionalKey(
    optional(Led.sections.population.fields).annotate(describe("Some of PopulationSettings"))
  ),
  sampler: Schema.optionalKey(optional(Led.sections.sampler.fields).annotate(describe("Some of SamplerSettings"))),
  schedule: Schema.optionalKey(optional(Led.sections.schedule.fields).annotate(describe("Some of ScheduleSettings"))),
  verification: Schema.optionalKey(
    optional(Led.sections.verification.fields).annotate(describe("Some of VerificationSettings"))
  )
}

/** Settings that are named; the others are the defaults of the profile. */
export const GivenSettings = Schema.Struct({ ...optional(Led.fixed).fields, ...changeable }).annotate({
  identifier: "GivenSettings"
})
export interface GivenSettings extends Schema.Schema.Type<typeof GivenSettings> {}

/** What a population is made of. The same again is no change; something else under its name is a conflict. */
export const NewPopulation = Schema.Struct({
  seed: Wording,
  variants: Schema.optionalKey(
    Schema.Array(Wording)
      .check(Schema.isMaxLength(Limits.variants))
      .annotate(describe("Further instructions to begin with; they are no newcomers"))
  ),
  profile: Schema.optionalKey(Led.Profile),
  settings: Schema.optionalKey(GivenSettings)
}).annotate({ identifier: "NewPopulation" })
export interface NewPopulation extends Schema.Schema.Type<typeof NewPopulation> {}

/** Settings that change from the next cohort on; those that are not named stay. */
export const SettingsChange = Schema.Struct(changeable).annotate({ identifier: "SettingsChange" })
export interface SettingsChange extends Schema.Schema.Type<typeof SettingsChange> {}

const summary = {
  name: PopulationName,
  profile: Led.Profile,
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
