/** The functions of `Members` and `Values`, the schemas of `Contents`, and the service that values instructions. */
import { Context, Layer } from "effect"
import { Attempt, type InvalidInput } from "@inspo/domain"
import * as Values from "./Values.ts"

export * from "./Contents.ts"
export * from "./Members.ts"
export * from "./Values.ts"

/** The values of instructions, and the statistics that they are computed from. */
export class Population extends Context.Service<Population, Values.Interface>()("@inspo/population/Population") {}

/** Provides {@link Values.make}. Fails with `InvalidInput` on options out of range. */
export const layer = (choices: Partial<Values.Choices> = {}): Layer.Layer<Population, InvalidInput.InvalidInput> =>
  Layer.effect(
    Population,
    Attempt.attempt(() => Values.make(choices))
  )
