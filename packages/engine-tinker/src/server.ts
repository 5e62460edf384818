import { Effect, Layer } from "effect"
import { HttpRouter } from "effect/http"
import type { Engine, EngineError } from "@inspo/engine"
import type { TinkerServerOptions } from "./internal/server/endpoints/Parts.ts"
import { limits } from "./internal/server/Limits.ts"
import * as Routes from "./internal/server/Routes.ts"
import * as Routing from "./internal/server/Routing.ts"
import * as Service from "./internal/server/Service.ts"
import { TinkerServer } from "./internal/server/Service.ts"

export type { TinkerServerOptions } from "./internal/server/endpoints/Parts.ts"
export { type Limits, limits } from "./internal/server/Limits.ts"
export { TinkerServer } from "./internal/server/Service.ts"

/**
 * Serves an engine to any number of clients and models. Models that take turns swap their weights through the engine's
 * checkpoints; one alone costs nothing. What clients saved outlives the server if the catalog does; live models do not.
 *
 * `lora_config` is accepted and its rank reported, and all parameters are trained. Ephemeral sampler weights last until
 * their model is trained, and of a session's samplers the latest 1,000 are known. Work ends with the session that asked for
 * it, or when `cancel_future` says so, as soon as the engine is done with what it is at. What cannot be honoured is refused
 * with a status of 400 that names field and value: fields that are not known here, `topk_prompt_logprobs`, an empty `stop`,
 * losses other than `Wire.LossName`, targets that count and are not the next token. What goes beyond {@link limits} is refused
 * with 400, 413 or, where it helps to wait, 429.
 */
export const layer = (options: TinkerServerOptions): Layer.Layer<TinkerServer, EngineError, Engine> =>
  Layer.effect(
    TinkerServer,
    Effect.map(
      Service.make({
        model: options.model,
        catalog: options.catalog,
        tokenizer: options.tokenizer ?? options.model,
        limits: { ...limits, ...options.limits },
        gapPatience: options.gapPatience ?? "5 seconds",
        retained: options.retained ?? 20_000,
        sessionTimeout: options.sessionTimeout ?? "5 minutes"
      }),
      (service) => ({ ...service, apiKey: options.apiKey ?? null, longPoll: options.longPoll ?? "20 seconds" })
    )
  )

/** The routes of the protocol, under `/api/v1`, which every router can take in. */
export const routes: Layer.Layer<never, never, HttpRouter.HttpRouter | TinkerServer> = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const server = yield* TinkerServer
    yield* Routes.add(Routing.make(router.prefixed("/api/v1"), server), server)
  })
)
