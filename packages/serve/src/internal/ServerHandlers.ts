/** What is asked without a key. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../Api.ts"
import { Populations } from "../Populations.ts"
import * as Metrics from "./Metrics.ts"

export const layer = HttpApiBuilder.group(
  Api,
  "server",
  Effect.fnUntraced(function* (handlers) {
    const populations = yield* Populations
    return handlers.handleAll({
      healthy: () => Effect.succeed("ok\n"),
      // It listens only once all populations are taken up.
      ready: () => Effect.succeed("ready\n"),
      metrics: () => Effect.flatMap(populations.list, Metrics.format)
    })
  })
)
