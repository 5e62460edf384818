import { Context, Layer } from "effect"
import * as SuccessiveHalving from "./SuccessiveHalving.ts"

/** The pruning rule in force. */
export class SuccessiveHalvingPolicy extends Context.Service<SuccessiveHalvingPolicy, SuccessiveHalving.Policy>()(
  "@inspo/successive-halving/SuccessiveHalvingPolicy"
) {
  static readonly layerPaper = (options: SuccessiveHalving.PaperOptions): Layer.Layer<SuccessiveHalvingPolicy> =>
    Layer.succeed(SuccessiveHalvingPolicy, SuccessiveHalving.paper(options))

  static readonly layerRobust = (options: SuccessiveHalving.RobustOptions): Layer.Layer<SuccessiveHalvingPolicy> =>
    Layer.succeed(SuccessiveHalvingPolicy, SuccessiveHalving.robust(options))

  static readonly layerCertain = (options: SuccessiveHalving.CertainOptions): Layer.Layer<SuccessiveHalvingPolicy> =>
    Layer.succeed(SuccessiveHalvingPolicy, SuccessiveHalving.certain(options))
}
