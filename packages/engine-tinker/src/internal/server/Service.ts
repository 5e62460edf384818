import type { Engine } from "@inspo/engine"
import { factsOf } from "@inspo/engine/Wire"
import { Context, type Duration, Effect, type Redacted } from "effect"
import type * as Wire from "../../Wire.ts"
import * as ModelEndpoints from "./endpoints/ModelEndpoints.ts"
import * as SamplingEndpoints from "./endpoints/SamplingEndpoints.ts"
import * as SessionEndpoints from "./endpoints/SessionEndpoints.ts"
import * as TrainingEndpoints from "./endpoints/TrainingEndpoints.ts"
import * as WeightEndpoints from "./endpoints/WeightEndpoints.ts"
import * as Parts from "./endpoints/Parts.ts"
import * as Listings from "./Listings.ts"

/** What the endpoints do, without HTTP. */
export const make = Effect.fnUntraced(function* (options: Parts.Options) {
  const parts = yield* Parts.make(options)
  const { checkpoints, engine, futures, limits, model, models } = parts
  return {
    bodyBytes: limits.bodyBytes,
    elements: 64 * limits.datums,
    mostDatums: limits.datums,
    capabilities: capabilities(model, engine.profile),
    retrieve: futures.retrieve,
    skip: models.skip,
    cancelFuture: ({ request_id }: typeof Wire.CancelFutureRequest.Type) => futures.cancel(request_id),
    ...(yield* SessionEndpoints.make(parts)),
    ...ModelEndpoints.make(parts),
    ...TrainingEndpoints.make(parts),
    ...WeightEndpoints.make(parts),
    ...SamplingEndpoints.make(parts),
    listings: Listings.make({ model, models: models.all, entries: checkpoints.all })
  }
})

const capabilities = (model: string, profile: Engine.Interface["profile"]): Wire.Capabilities => ({
  supported_models: [
    {
      model_name: model,
      max_context_length: profile.contextLength,
      trainable: true,
      sampleable: true,
      inspo: factsOf(profile)
    }
  ]
})

/** The Tinker protocol over an engine. */
export class TinkerServer extends Context.Service<TinkerServer, TinkerServer.Interface>()(
  "@inspo/engine-tinker/TinkerServer"
) {}

export declare namespace TinkerServer {
  export interface Interface extends Effect.Success<ReturnType<typeof make>> {
    readonly apiKey: Redacted.Redacted | null
    readonly longPoll: Duration.Input
  }
}
