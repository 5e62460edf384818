/** What is asked without a key. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { PrometheusMetrics } from "effect/observability"
import { Api } from "../Api.ts"

export const layer = HttpApiBuilder.group(Api, "server", (handlers) =>
  handlers.handleAll({
    healthy: () => Effect.succeed("ok\n"),
    ready: () => Effect.succeed("ready\n"),
    metrics: () => PrometheusMetrics.format()
  })
)
