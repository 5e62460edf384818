/** The functions of `Values`, and the service that computes the values of instructions. */
import { Context, Layer } from "effect"
import { attempt } from "@inspo/domain/Attempt"
import type { InvalidInput } from "@inspo/domain/InvalidInput"
import { type Choices, type Interface, make } from "./Values.ts"

export * from "./Values.ts"

/** The values of instructions, and the statistics that they are computed from. */
export class InstructionValue extends Context.Service<InstructionValue, Interface>()(
  "@inspo/population/InstructionValue"
) {}

/** Provides {@link make}. Fails with `InvalidInput` on options out of range. */
export const layer = (choices: Partial<Choices> = {}): Layer.Layer<InstructionValue, InvalidInput> =>
  Layer.effect(
    InstructionValue,
    attempt(() => make(choices))
  )
