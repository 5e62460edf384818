/** The HTTP API of the instruction server, version 1. */
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Conflict, NotActiveNow, NotFound } from "./Errors.ts"
import { Events } from "./Event.ts"
import { LeaseRequests, Leases } from "./Lease.ts"
import * as Limits from "./Limits.ts"
import { Member, MemberAction } from "./Member.ts"
import { LeaseId, PopulationName } from "./Name.ts"
import {
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
import { RewardResults, Rewards } from "./Reward.ts"
import { AdminScope, Admission, LeaseScope } from "./Security.ts"

const params = { name: PopulationName }
const text = Schema.String.pipe(HttpApiSchema.asText())
/** A field that nobody knows is refused: otherwise it would be ignored. Answers hold those of their schemas. */
const strict = { onExcessProperty: "error", reportInput: true } as const
const says = (summary: string, description?: string) =>
  OpenApi.annotations({ summary, ...(description === undefined ? {} : { description }) })

/** What agents and trainers ask. */
const leases = HttpApiGroup.make("leases")
  .add(
    HttpApiEndpoint.post("lease", "/:name/leases", {
      params,
      payload: LeaseRequests,
      success: Leases,
      error: [NotFound, Conflict]
    }).annotateMerge(
      says(
        "Lease instructions",
        "Every request of one branch, cohort and key is answered with the one lease. A sealed or closed cohort gives out leases that exist and refuses new keys. A trainer names the cohort, `online` populations do it themselves."
      )
    ),
    HttpApiEndpoint.post("reward", "/:name/rewards", {
      params,
      payload: Rewards,
      success: RewardResults,
      error: [NotFound, Conflict]
    }).annotateMerge(
      says(
        "Tell rewards, close a cohort",
        "The first reward of a lease and sample counts; a repetition is a `duplicate`. A request whose form is wrong is refused whole; what the population cannot take, such as a reward outside its range, is `refused` by itself. Closing is answered at once with the state that the cohort then has; the cohorts of `online` populations are closed by the server alone."
      )
    ),
    HttpApiEndpoint.get("incumbent", "/:name/incumbent", { params, success: Incumbent, error: NotFound }).annotateMerge(
      says("The instruction to use outside learning, and why")
    ),
    HttpApiEndpoint.post("rewind", "/:name/rewind", {
      params,
      payload: Rewind,
      success: Rewound,
      error: [NotFound, Conflict]
    }).annotateMerge(
      says(
        "Go back to a cohort",
        "For a trainer that falls back to a checkpoint. The log branches; the old branch is kept, and its late rewards are `superseded`. Others than trainers are refused."
      )
    )
  )
  .prefix("/v1/populations")
  // Keys are looked at first: who has none sends no body that is kept.
  .middleware(Admission)
  .middleware(LeaseScope)
  .annotateMerge(OpenApi.annotations({ description: "What agents and trainers ask" }))

/** What an admin asks. */
const populations = HttpApiGroup.make("populations")
  .add(
    HttpApiEndpoint.get("list", "/", { success: Schema.Array(PopulationSummary) }).annotateMerge(
      says("All populations")
    ),
    HttpApiEndpoint.put("create", "/:name", {
      params,
      payload: NewPopulation,
      success: [Created, Unchanged],
      error: Conflict
    }).annotateMerge(
      says(
        "Make a population",
        "201 where it is made, 200 where it is the same already, 409 with the fields that differ."
      )
    ),
    HttpApiEndpoint.get("get", "/:name", { params, success: Population, error: NotFound }).annotateMerge(
      says("Everything that is known of a population")
    ),
    HttpApiEndpoint.patch("change", "/:name", {
      params,
      payload: SettingsChange,
      success: Population,
      error: [NotFound, Conflict]
    }).annotateMerge(says("Change settings, from the next cohort on")),
    HttpApiEndpoint.delete("remove", "/:name", { params, error: NotFound }).annotateMerge(
      says("Remove a population with all it learned")
    ),
    HttpApiEndpoint.get("events", "/:name/events", {
      params,
      query: {
        after: Schema.optionalKey(Schema.Int),
        limit: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Limits.eventsPerAnswer })))
      },
      success: Events,
      error: NotFound
    }).annotateMerge(says("What happened, in order")),
    HttpApiEndpoint.post("member", "/:name/members", {
      params,
      payload: MemberAction,
      success: Member,
      error: [NotFound, Conflict]
    }).annotateMerge(
      says(
        "Add, pin, approve, reject or retire an instruction",
        "A pinned one is the incumbent, whatever the evidence says, and is not pruned. A text that is a member already is not added again."
      )
    ),
    HttpApiEndpoint.delete("forget", "/:name/transcripts/:lease", {
      params: { ...params, lease: LeaseId },
      success: [HttpApiSchema.NoContent, HttpApiSchema.Accepted],
      error: NotFound
    }).annotateMerge(
      says(
        "Delete what users said in a lease: its transcripts and feedback",
        "204 once nothing of it is left; 202 while a reader of the journal keeps the server from removing it, which it goes on trying"
      )
    ),
    HttpApiEndpoint.post("evolve", "/:name/evolve", {
      params,
      success: Population,
      error: [NotFound, Conflict]
    }).annotateMerge(says("Look for new instructions now")),
    HttpApiEndpoint.post("freeze", "/:name/freeze", { params, success: Population, error: NotFound }).annotateMerge(
      says("Decide nothing: nobody is pruned, nothing evolves, and leases are drawn as before")
    ),
    HttpApiEndpoint.post("resume", "/:name/resume", { params, success: Population, error: NotFound }).annotateMerge(
      says("Learn again")
    )
  )
  .prefix("/v1/populations")
  .middleware(Admission)
  .middleware(AdminScope)
  .annotateMerge(OpenApi.annotations({ description: "What an admin asks" }))

/** What is asked without a key. */
const server = HttpApiGroup.make("server")
  .add(
    HttpApiEndpoint.get("healthy", "/healthz", { success: text }).annotateMerge(says("Whether the process lives")),
    HttpApiEndpoint.get("ready", "/readyz", { success: text, error: NotActiveNow }).annotateMerge(
      says("Whether requests are answered")
    ),
    HttpApiEndpoint.get("metrics", "/metrics", { success: text }).annotateMerge(says("Metrics for Prometheus"))
  )
  .annotateMerge(OpenApi.annotations({ description: "What is asked without a key" }))

/** The whole of it. */
export class Api extends HttpApi.make("inspo")
  .add(leases, populations, server)
  .annotate(HttpApi.ParseOptions, { reportInput: true })
  .annotate(HttpApi.PayloadParseOptions, strict)
  .annotate(HttpApi.QueryParseOptions, strict)
  .annotateMerge(
    OpenApi.annotations({
      title: "inspo instruction server",
      version: "1",
      description:
        "Leases evolving instructions to agents and training loops, and learns from their rewards. Every request may be repeated."
    })
  ) {}
