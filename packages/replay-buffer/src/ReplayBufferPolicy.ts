import { Context, Layer } from "effect"
import * as ReplayBuffer from "./ReplayBuffer.ts"

/** The way of remembering in force. */
export class ReplayBufferPolicy extends Context.Service<ReplayBufferPolicy, ReplayBuffer.Policy>()(
  "@inspo/replay-buffer/ReplayBufferPolicy"
) {
  static readonly layerPaper = (options: ReplayBuffer.PaperOptions): Layer.Layer<ReplayBufferPolicy> =>
    Layer.succeed(ReplayBufferPolicy, ReplayBuffer.paper(options))

  static readonly layerRobust = (options: ReplayBuffer.RobustOptions): Layer.Layer<ReplayBufferPolicy> =>
    Layer.succeed(ReplayBufferPolicy, ReplayBuffer.robust(options))
}
