/** The functions of `Values`, and the service that computes the values of instructions. */
import { Context, Layer } from "effect"
import { Attempt, type InvalidInput } from "@inspo/domain"
import { type Choices, type Interface, make } from "./Values.ts"

export * from "./Values.ts"

/** The values of instructions, and the statistics that they are computed from. */
export class InstructionValue extends Context.Service<InstructionValue, Interface>()(
  "@inspo/population/InstructionValue"
) {}

/** Provides {@link make}. Fails with `InvalidInput` on options out of range. */
export const layer = (choices: Partial<Choices> = {}): Layer.Layer<InstructionValue, InvalidInput.InvalidInput> =>
  Layer.effect(
    InstructionValue,
    Attempt.attempt(() => make(choices))
  )
