import { Context, Layer } from "effect"
import * as InstructionWeight from "./InstructionWeight.ts"

/** The reading of Eq. 6 in force. */
export class InstructionWeightPolicy extends Context.Service<InstructionWeightPolicy, InstructionWeight.Policy>()(
  "@inspo/population/InstructionWeightPolicy"
) {
  static readonly layerPaper = (options: InstructionWeight.Options): Layer.Layer<InstructionWeightPolicy> =>
    Layer.succeed(InstructionWeightPolicy, InstructionWeight.paper(options))

  static readonly layerRobust = (options: InstructionWeight.Options): Layer.Layer<InstructionWeightPolicy> =>
    Layer.succeed(InstructionWeightPolicy, InstructionWeight.robust(options))
}
