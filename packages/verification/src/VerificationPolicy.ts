import { Context, Layer } from "effect"
import * as Verification from "./Verification.ts"

/** The verification rule in force. */
export class VerificationPolicy extends Context.Service<VerificationPolicy, Verification.Policy>()(
  "@inspo/verification/VerificationPolicy"
) {
  static readonly layerPaper = (options: Verification.Options): Layer.Layer<VerificationPolicy> =>
    Layer.succeed(VerificationPolicy, Verification.paper(options))

  static readonly layerRobust = (options: Verification.Options): Layer.Layer<VerificationPolicy> =>
    Layer.succeed(VerificationPolicy, Verification.robust(options))
}
