/** What is asked without a key. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Api } from "../../wire/Api.ts"
import { NotActive } from "../../wire/Errors.ts"
import { Populations } from "../../live/Populations.ts"
import * as Metrics from "./Metrics.ts"

/** `isEnding`: requests are still answered, and none should come any more. */
export const layer = (isEnding: Effect.Effect<boolean>) =>
  HttpApiBuilder.group(
    Api,
    "server",
    Effect.fnUntraced(function* (handlers) {
      const populations = yield* Populations
      return handlers.handleAll({
        healthy: () => Effect.succeed("ok\n"),
        // It listens only once all populations are taken up.
        ready: () =>
          Effect.flatMap(isEnding, (ends) =>
            ends ? Effect.fail(new NotActive({ retryAfter: 1, detail: "The server ends." })) : Effect.succeed("ready\n")
          ),
        metrics: () => Effect.flatMap(populations.list, Metrics.format)
      })
    })
  )
