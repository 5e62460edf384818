/** The API between the page and the server: one document per view, and a stream of changes. */
import { Schema } from "effect"
import { HttpApi, HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { ComparisonView } from "./view/ComparisonView.ts"
import { CostView } from "./view/CostView.ts"
import { LineageView } from "./view/LineageView.ts"
import { OverviewView } from "./view/OverviewView.ts"
import { PopulationView } from "./view/PopulationView.ts"
import { PromptComparison } from "./view/PromptComparison.ts"
import { RunId, RunView } from "./view/RunView.ts"
import { SearchDetail, SearchRow } from "./view/SearchRow.ts"
import { SeriesQuery, SeriesView } from "./view/SeriesView.ts"
import { SettingsView } from "./view/SettingsView.ts"
import { TrajectoryPage, TrajectoryQuery, TrajectoryView } from "./view/TrajectoryView.ts"

/** The instance manipulation of RFC 3229 that client and server use: the body is a JSON Patch (RFC 6902) of the version that the client has. */
export const manipulation = "json-patch"

/** A run with new events; or runs were added or removed; or a search has new events, was added or removed; or a beat that keeps the connection open. */
export const Change = Schema.Union([
  Schema.TaggedStruct("Run", { run: RunView }),
  Schema.TaggedStruct("Runs", {}),
  Schema.TaggedStruct("Searches", {}),
  Schema.TaggedStruct("Beat", {})
])
export type Change = typeof Change.Type

/** The run, or something in it, does not exist. */
export class NotFound extends Schema.TaggedError<NotFound>()(
  "NotFound",
  { what: Schema.String },
  { httpApiStatus: 404 }
) {
  override get message() {
    return `dashboard: there is no ${this.what}. Select one from the list`
  }
}

/** The run exists but cannot be read. */
export class Unreadable extends Schema.TaggedError<Unreadable>()(
  "Unreadable",
  { problem: Schema.String },
  { httpApiStatus: 500 }
) {
  override get message() {
    return this.problem
  }
}

const run = { run: RunId }
const error = [NotFound, Unreadable]

export class RunsGroup extends HttpApiGroup.make("runs", { topLevel: true })
  .add(
    HttpApiEndpoint.get("runs", "/runs", { success: Schema.Array(RunView) }),
    HttpApiEndpoint.get("settings", "/settings", { success: SettingsView }),
    HttpApiEndpoint.get("overview", "/runs/:run/overview", { params: run, success: OverviewView, error }),
    HttpApiEndpoint.get("population", "/runs/:run/population", { params: run, success: PopulationView, error }),
    HttpApiEndpoint.get("lineage", "/runs/:run/lineage", { params: run, success: LineageView, error }),
    HttpApiEndpoint.get("cost", "/runs/:run/cost", { params: run, success: CostView, error }),
    HttpApiEndpoint.get("trajectories", "/runs/:run/trajectories", {
      params: run,
      query: TrajectoryQuery.fields,
      success: TrajectoryPage,
      error
    }),
    HttpApiEndpoint.get("trajectory", "/runs/:run/trajectory", {
      params: run,
      query: { id: Schema.NonEmptyString },
      success: TrajectoryView,
      error
    }),
    HttpApiEndpoint.get("compare", "/compare", {
      /** Ids of runs, separated by commas. */
      query: { runs: Schema.String },
      success: ComparisonView,
      error
    }),
    HttpApiEndpoint.get("series", "/series", { query: SeriesQuery.fields, success: SeriesView, error }),
    HttpApiEndpoint.get("searches", "/searches", { success: Schema.Array(SearchRow) }),
    HttpApiEndpoint.get("search", "/searches/:search", { params: { search: RunId }, success: SearchDetail, error }),
    HttpApiEndpoint.get("comparison", "/comparisons/:search", {
      params: { search: RunId },
      success: PromptComparison,
      error
    }),
    HttpApiEndpoint.get("changes", "/changes", { success: HttpApiSchema.StreamSse({ data: Change }) })
  )
  .prefix("/api") {}

export class Api extends HttpApi.make("dashboard").add(RunsGroup) {}
