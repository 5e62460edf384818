/** The functions of `Assign`, and the service that assigns instructions to questions. */
import { Context, Layer, Schema } from "effect"
import { Attempt, type InvalidInput } from "@inspo/domain"
import { type Choices, make, type Interface } from "./Assign.ts"

export * from "./Assign.ts"

/** The strategy by which a run assigns its questions. */
export class Sampler extends Context.Service<Sampler, Interface>()("@inspo/sampler/Sampler") {}

/** Provides {@link make}. Fails with `InvalidInput` on options out of range. */
export const layer = (choices: Partial<Choices> = {}): Layer.Layer<Sampler, InvalidInput.InvalidInput> =>
  Layer.effect(
    Sampler,
    Attempt.attempt(() => make(choices))
  )

/** The schema of {@link Assign.Rule}. */
export const Rule = Schema.Literals(["softmax", "thompson"])
export type Rule = typeof Rule.Type
