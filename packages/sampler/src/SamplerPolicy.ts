import { Context, Layer } from "effect"
import * as Sampler from "./Sampler.ts"

/** The way of drawing instructions in force. */
export class SamplerPolicy extends Context.Service<SamplerPolicy, Sampler.Policy>()("@inspo/sampler/SamplerPolicy") {
  static readonly layerPaper: Layer.Layer<SamplerPolicy> = Layer.succeed(SamplerPolicy, Sampler.paper)

  static readonly layerRobust: Layer.Layer<SamplerPolicy> = Layer.succeed(SamplerPolicy, Sampler.robust)
}
