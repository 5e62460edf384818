import { Settings as Led } from "@inspo/cohorts"
import { Schema, Struct } from "effect"
import { HttpApiSchema } from "effect/http-api"
import { Instruction, Wording } from "./Instruction.ts"
import * as Limits from "./Limits.ts"
import { Difference, Member } from "./Member.ts"
import { CohortName, InstructionId, PopulationName, RequestId } from "./Name.ts"
import { CohortState } from "./Lease.ts"

const Count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const describe = (description: string) => ({ description })

/** The settings of a population, without its profile. */
export const Settings = Schema.Struct(Struct.omit(Led.Settings.fields, ["profile"])).annotate({
  identifier: "Settings"
})
export interface Settings extends Schema.Schema.Type<typeof Settings> {}

const optional = <F extends Schema.Struct.Fields>(fields: F) =>
  Schema.Struct(fields).mapFields(Struct.map(Schema.optionalKey))

const some = <F extends Schema.Struct.Fields>(section: string, fields: F) =>
  Schema.optionalKey(optional(fields).annotate(describe(`Some of ${section}`)))

/** Any of the settings that may change, in sections any of their settings. */
const changeable = {
  ...optional(Led.others).fields,
  population: some("PopulationSettings", Led.sections.population.fields),
  selection: some("SelectionSettings", Struct.pick(Led.sections.selection.fields, ["removal"])),
  sampler: some("SamplerSettings", Led.sections.sampler.fields),
  schedule: some("ScheduleSettings", Led.sections.schedule.fields),
  budget: Schema.optionalKey(Led.sections.budget)
}

/** Given settings; the others are the defaults of the profile. */
export const GivenSettings = Schema.Struct({
  ...optional(Led.fixed).fields,
  ...changeable,
  selection: some("SelectionSettings", Led.sections.selection.fields)
}).annotate({ identifier: "GivenSettings" })
export interface GivenSettings extends Schema.Schema.Type<typeof GivenSettings> {}

/** A population to create. An equal request changes nothing; a different one with the same name is a conflict. */
export const NewPopulation = Schema.Struct({
  seed: Wording,
  variants: Schema.optionalKey(
    Schema.Array(Wording)
      .check(Schema.isMaxLength(Limits.variants))
      .annotate(describe("Further initial instructions; they are not newcomers"))
  ),
  profile: Schema.optionalKey(Led.Profile),
  settings: Schema.optionalKey(GivenSettings)
}).annotate({ identifier: "NewPopulation" })
export interface NewPopulation extends Schema.Schema.Type<typeof NewPopulation> {}

/** Settings that change from the next cohort on; the others stay. */
export const SettingsChange = Schema.Struct(changeable).annotate({ identifier: "SettingsChange" })
export interface SettingsChange extends Schema.Schema.Type<typeof SettingsChange> {}

const summary = {
  name: PopulationName,
  profile: Led.Profile,
  state: Schema.Literals(["learning", "cannot-decide", "seed", "frozen", "degraded"]).annotate(
    describe(
      "`cannot-decide` if so many rewards are missing that different instructions cannot be distinguished; `next` names them. `seed` if all leases get the seed"
    )
  ),
  members: Count.annotate(describe("Living instructions")),
  incumbent: InstructionId
}

export const PopulationSummary = Schema.Struct(summary).annotate({ identifier: "PopulationSummary" })
export interface PopulationSummary extends Schema.Schema.Type<typeof PopulationSummary> {}

/** A population with its members, cohorts and status. */
export const Population = Schema.Struct({
  ...summary,
  settings: Settings,
  members: Schema.Array(Member).annotate(
    describe("Living instructions, and candidates that wait for approval; the events list removed ones")
  ),
  generation: Count.annotate(describe("Evolutions so far")),
  branch: Count.annotate(describe("Rewinds so far")),
  cohorts: Schema.Array(CohortState).annotate(describe("Cohorts that are not closed, the oldest first")),
  leases: Schema.Struct({ given: Count, open: Count, overdue: Count, lost: Count }).annotate(
    describe(
      "Leases of training. `open` ones are not fully reported, `overdue` ones are open in a sealed cohort, `lost` ones were open when it was closed. In closed cohorts a conversation counts once"
    )
  ),
  horizonSeconds: Schema.NullOr(Schema.Finite).annotate(
    describe("How long a sealed cohort currently waits for rewards, in seconds; null for no limit")
  ),
  toSeed: Schema.NullOr(Difference).annotate(
    describe("By how much the incumbent is better than the seed; null if it is the seed, or if one of them was removed")
  ),
  ahead: Schema.NullOr(
    Schema.Struct({
      id: InstructionId,
      rewardsNeeded: Schema.NullOr(Count).annotate(
        describe("About how many more rewards; null where missing rewards forbid a decision, or nothing differs yet")
      )
    })
  ).annotate(
    describe(
      "The member that is probably the best, but not known to be better than the seed, and what it takes to know it; null if it is known, or the seed itself is the best"
    )
  ),
  acrossCohorts: Count.annotate(
    describe(
      "Closed cohorts whose work was compared with that of the cohorts before, as they had one instruction only. This assumes that the policy hardly changes in between"
    )
  ),
  repeatedQuestions: Schema.Boolean.annotate(
    describe(
      "Whether questions were asked again in later cohorts. They are not independent draws, so the `risk` is not guaranteed then"
    )
  ),
  sampleRatioEvidence: Schema.Finite.annotate(
    describe("Evidence that shares of instructions differ from their probabilities; from 100 on `next` warns")
  ),
  spentUsd: Schema.NullOr(Schema.Finite).annotate(
    describe("The cost of its evolution; null if it paid for tokens of a model with an unknown price")
  ),
  budgetUsd: Schema.NullOr(Schema.Finite).annotate(
    describe(
      "The most that its evolution may spend: its own setting or that of the server's proposer for each population, the lower of both"
    )
  ),
  next: Schema.String.annotate(describe("What the next decision waits for")),
  degraded: Schema.Array(Schema.Struct({ since: Schema.String, reason: Schema.String, remedy: Schema.String }))
}).annotate({ identifier: "Population" })
export interface Population extends Schema.Schema.Type<typeof Population> {}

/** The population was created. */
export const Created = Schema.Struct({ outcome: Schema.Literal("created"), population: Population })
  .annotate({ identifier: "Created" })
  .pipe(HttpApiSchema.status(201))

/** The population existed, with equal texts and settings. */
export const Unchanged = Schema.Struct({ outcome: Schema.Literal("same"), population: Population }).annotate({
  identifier: "Unchanged"
})

/** The instruction to use outside learning. */
export const Incumbent = Schema.Struct({
  instruction: Instruction,
  reason: Schema.Literals(["seed", "evidence", "pinned"]).annotate(
    describe("`seed` if nothing distinguishes the instructions, `evidence` if something does, `pinned` by an admin")
  ),
  why: Schema.String.annotate(describe("The reason as text, with the figures"))
}).annotate({ identifier: "Incumbent" })
export interface Incumbent extends Schema.Schema.Type<typeof Incumbent> {}

/** A rewind to the end of a cohort. Repeated with one `requestId`, as by many ranks, it happens once. */
export const Rewind = Schema.Struct({
  to: CohortName.annotate(describe("The last cohort that counts")),
  requestId: RequestId
}).annotate({ identifier: "Rewind" })
export interface Rewind extends Schema.Schema.Type<typeof Rewind> {}

/** `rewound` is false if the request was handled before. */
export const Rewound = Schema.Struct({ branch: Count, rewound: Schema.Boolean }).annotate({ identifier: "Rewound" })
export interface Rewound extends Schema.Schema.Type<typeof Rewound> {}

/** An event of a population. */
export const Event = Schema.Struct({
  sequence: Schema.Int,
  at: Schema.String.annotate({ description: "ISO 8601, in UTC" }),
  type: Schema.String,
  data: Schema.Json
}).annotate({ identifier: "Event" })
export interface Event extends Schema.Schema.Type<typeof Event> {}

/** Events in order; `after` of the next request is `last`, which a summary may leave out. */
export const Events = Schema.Struct({
  events: Schema.Array(Event).check(Schema.isMaxLength(Limits.eventsPerAnswer)),
  last: Schema.Int
}).annotate({ identifier: "Events" })
export interface Events extends Schema.Schema.Type<typeof Events> {}
