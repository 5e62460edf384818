/** The routes of other standards: feature flags by OpenFeature, and telemetry by OpenTelemetry. Their bodies are those of the standards. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { Admission, LeaseScope } from "./Security.ts"

const describe = (summary: string, description: string) => OpenApi.annotations({ summary, description })

/** The OpenFeature Remote Evaluation Protocol, version 0.1.0. */
export const flags = HttpApiGroup.make("flags")
  .add(
    HttpApiEndpoint.post("evaluate", "/:key", { params: { key: Schema.String }, success: Schema.Json }).annotateMerge(
      describe(
        "Evaluate a flag",
        "A population is a flag. `targetingKey` is the sticky key, `variant` the instruction, `value` its text or texts. `metadata` has `inspo.lease`, `inspo.cohort` and `inspo.propensity`."
      )
    ),
    HttpApiEndpoint.post("evaluateAll", "/", { success: Schema.Json }).annotateMerge(
      describe(
        "Evaluate all flags",
        "Leases an instruction of each `online` population. 304 if the answer still has the tag in `If-None-Match`."
      )
    )
  )
  .prefix("/ofrep/v1/evaluate/flags")
  .middleware(Admission)
  .middleware(LeaseScope)
  .annotateMerge(OpenApi.annotations({ description: "For applications with OpenFeature" }))

const bytes = Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/x-protobuf" }))

/** OTLP over HTTP, version 1. */
export const telemetry = HttpApiGroup.make("telemetry")
  .add(
    HttpApiEndpoint.post("traces", "/traces", { success: [Schema.Json, bytes] }).annotateMerge(
      describe(
        "Receive spans",
        "An event `gen_ai.evaluation.result` is a reward for the lease in the attribute `inspo.lease` of its span, of an ancestor, or of one of their events. JSON or protobuf, also with gzip."
      )
    ),
    HttpApiEndpoint.post("logs", "/logs", { success: [Schema.Json, bytes] }).annotateMerge(
      describe(
        "Receive log records",
        "A record `gen_ai.evaluation.result` is a reward for the lease in its attribute `inspo.lease`, or of its span, if that was received before."
      )
    ),
    // An exporter of all signals sends them to one address. No metric is a reward.
    HttpApiEndpoint.post("metrics", "/metrics", { success: [Schema.Json, bytes] }).annotate(OpenApi.Exclude, true)
  )
  .prefix("/v1")
  .middleware(Admission)
  .middleware(LeaseScope)
  .annotateMerge(OpenApi.annotations({ description: "For evaluators with OpenTelemetry" }))
