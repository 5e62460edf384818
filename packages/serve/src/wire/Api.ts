/** The HTTP API of the instruction server, version 1. */
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Conflict, NotActiveNow, NotFound } from "./Errors.ts"
import { LeaseRequests, Leases, RewardResults, Rewards } from "./Lease.ts"
import * as Limits from "./Limits.ts"
import { Member, MemberAction } from "./Member.ts"
import { LeaseId, PopulationName } from "./Name.ts"
import {
  Events,
  Incumbent,
  NewPopulation,
  Population,
  Created,
  PopulationSummary,
  Rewind,
  Rewound,
  Unchanged,
  SettingsChange
} from "./Population.ts"
import { AdminScope, Admission, LeaseScope } from "./Security.ts"
import { flags, telemetry } from "./Standards.ts"

const params = { name: PopulationName }
const text = Schema.String.pipe(HttpApiSchema.asText())
/** An unknown field is refused rather than ignored. */
const strict = { onExcessProperty: "error", reportInput: true } as const
const describe = (summary: string, description?: string) =>
  OpenApi.annotations({ summary, ...(description === undefined ? {} : { description }) })

const leases = HttpApiGroup.make("leases")
  .add(
    HttpApiEndpoint.post("lease", "/:name/leases", {
      params,
      payload: LeaseRequests,
      success: Leases,
      error: [NotFound, Conflict]
    }).annotateMerge(
      describe(
        "Lease instructions",
        "Every request with the same branch, cohort and key returns the same lease. A sealed or closed cohort returns leases that exist and refuses new keys. A trainer names the cohort; `online` populations open cohorts themselves."
      )
    ),
    HttpApiEndpoint.post("reward", "/:name/rewards", {
      params,
      payload: Rewards,
      success: RewardResults,
      error: [NotFound, Conflict]
    }).annotateMerge(
      describe(
        "Report rewards, close a cohort",
        "The first reward of a lease and sample counts; a repetition is a `duplicate`. A malformed request is refused as a whole; a reward that the population refuses, such as one outside its range, is `refused` by itself. Closing returns at once, with the state of the cohort. The cohorts of `online` populations are closed by the server alone."
      )
    ),
    HttpApiEndpoint.get("incumbent", "/:name/incumbent", { params, success: Incumbent, error: NotFound }).annotateMerge(
      describe("Get the instruction to use outside learning, and why")
    ),
    HttpApiEndpoint.post("rewind", "/:name/rewind", {
      params,
      payload: Rewind,
      success: Rewound,
      error: [NotFound, Conflict]
    }).annotateMerge(
      describe(
        "Rewind to a cohort",
        "For a trainer that returns to a checkpoint. The log branches; the old branch is stored, and its late rewards are `superseded`. Refused for populations without the profile `trainer`."
      )
    )
  )
  .prefix("/v1/populations")
  // Keys are checked first, so that the body of a request without one is not read.
  .middleware(Admission)
  .middleware(LeaseScope)
  .annotateMerge(OpenApi.annotations({ description: "For agents and trainers" }))

const populations = HttpApiGroup.make("populations")
  .add(
    HttpApiEndpoint.get("list", "/", { success: Schema.Array(PopulationSummary) }).annotateMerge(
      describe("List all populations")
    ),
    HttpApiEndpoint.put("create", "/:name", {
      params,
      payload: NewPopulation,
      success: [Created, Unchanged],
      error: Conflict
    }).annotateMerge(
      describe(
        "Create a population",
        "201 if it is created, 200 if it exists with equal texts and settings, 409 with the fields that differ."
      )
    ),
    HttpApiEndpoint.get("get", "/:name", { params, success: Population, error: NotFound }).annotateMerge(
      describe("Get a population with its members, cohorts and status")
    ),
    HttpApiEndpoint.patch("change", "/:name", {
      params,
      payload: SettingsChange,
      success: Population,
      error: [NotFound, Conflict]
    }).annotateMerge(describe("Change settings, from the next cohort on")),
    HttpApiEndpoint.delete("remove", "/:name", { params, error: NotFound }).annotateMerge(
      describe("Remove a population with everything it learned")
    ),
    HttpApiEndpoint.get("events", "/:name/events", {
      params,
      query: {
        after: Schema.optionalKey(Schema.Int),
        view: Schema.optionalKey(
          Schema.Literals(["all", "summary"]).annotate({
            description:
              "In a `summary` a closed cohort has `tallies` in place of its units: by instruction the units with a reward, " +
              "and the sum of their mean rewards"
          })
        ),
        limit: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Limits.eventsPerAnswer })))
      },
      success: Events,
      error: NotFound
    }).annotateMerge(describe("List the events of a population, in order")),
    HttpApiEndpoint.post("member", "/:name/members", {
      params,
      payload: MemberAction,
      success: Member,
      error: [NotFound, Conflict]
    }).annotateMerge(
      describe(
        "Add, pin, approve, reject or retire an instruction",
        "A pinned instruction is the incumbent regardless of the evidence, and is not pruned. A text that is a member already is not added again."
      )
    ),
    HttpApiEndpoint.delete("forget", "/:name/transcripts/:lease", {
      params: { ...params, lease: LeaseId },
      success: [HttpApiSchema.NoContent, HttpApiSchema.Accepted],
      error: NotFound
    }).annotateMerge(
      describe(
        "Delete the transcripts and feedback of a lease",
        "204 if nothing of it is left; 202 while a reader of the journal prevents the removal, which the server retries"
      )
    ),
    HttpApiEndpoint.post("evolve", "/:name/evolve", {
      params,
      success: Population,
      error: [NotFound, Conflict]
    }).annotateMerge(describe("Start an evolution now")),
    HttpApiEndpoint.post("freeze", "/:name/freeze", { params, success: Population, error: NotFound }).annotateMerge(
      describe("Stop decisions: no instruction is pruned, none evolves, and leases are drawn as before")
    ),
    HttpApiEndpoint.post("useSeed", "/:name/seed", {
      params,
      success: Population,
      error: [NotFound, Conflict]
    }).annotateMerge(
      describe(
        "Switch all leases of an online population to the seed, at once and until it is resumed",
        "The seed is also the incumbent. Nothing is decided, and no lease of this time is evidence. A lease that was given before gets the seed when it is requested again, and is abandoned."
      )
    ),
    HttpApiEndpoint.post("useSeeds", "/seed", { success: Schema.Array(Population) }).annotateMerge(
      describe("Switch all online populations to their seeds")
    ),
    HttpApiEndpoint.post("resume", "/:name/resume", { params, success: Population, error: NotFound }).annotateMerge(
      describe("Resume decisions, and leases of all members")
    )
  )
  .prefix("/v1/populations")
  .middleware(Admission)
  .middleware(AdminScope)
  .annotateMerge(OpenApi.annotations({ description: "For admins" }))

/** The routes about the server, without a key except for the metrics, which name populations. */
const server = HttpApiGroup.make("server")
  .add(
    HttpApiEndpoint.get("healthy", "/healthz", { success: text }).annotateMerge(
      describe("Check whether the process is running")
    ),
    HttpApiEndpoint.get("ready", "/readyz", { success: text, error: NotActiveNow }).annotateMerge(
      describe("Check whether requests are answered")
    ),
    HttpApiEndpoint.get("metrics", "/metrics", { success: text })
      .middleware(LeaseScope)
      .annotateMerge(describe("Get metrics for Prometheus"))
  )
  .annotateMerge(OpenApi.annotations({ description: "For monitoring" }))

/** All routes. */
export class Api extends HttpApi.make("inspo")
  .add(leases, populations, flags, telemetry, server)
  .annotate(HttpApi.ParseOptions, { reportInput: true })
  .annotate(HttpApi.PayloadParseOptions, strict)
  .annotate(HttpApi.QueryParseOptions, strict)
  .annotateMerge(
    OpenApi.annotations({
      title: "inspo instruction server",
      version: "1",
      description:
        "Leases evolving instructions to agents and training loops, and learns from their rewards. Every request may be retried."
    })
  ) {}
