/** The functions of `Values`, and the service that computes the values of instructions. */
import { Context, Layer } from "effect"
import { type Choices, make, type Valuation } from "./Values.ts"

export * from "./Values.ts"

/** The values of instructions, and the statistics that they are computed from. */
export class InstructionValue extends Context.Service<InstructionValue, Valuation>()(
  "@inspo/population/InstructionValue"
) {}

/** Provides {@link make}. */
export const layer = (choices: Partial<Choices> = {}): Layer.Layer<InstructionValue> =>
  Layer.succeed(InstructionValue, make(choices))
