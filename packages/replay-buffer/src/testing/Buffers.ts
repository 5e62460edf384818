/** Buffers as a run fills them: the experiences of one step after the other. */
import { Experience } from "@inspo/domain"
import { Arbitrary, Order, Schema } from "effect"
import type { Contents } from "../ReplayBuffer.ts"

const Step = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 8 }))

const Drawn = Schema.Array(Schema.Struct({ ...Experience.Experience.fields, step: Step })).check(Schema.isMaxLength(12))

/** Buffers of up to twelve experiences of the steps 1 to 8, the oldest step first. */
export const arbitrary: Arbitrary.Arbitrary<Contents> = Arbitrary.map(Arbitrary.schema(Drawn), (experiences) => ({
  experiences: experiences
    // Plus 0, since -0 becomes 0 in JSON.
    .map((one) => ({ ...one, reward: one.reward + 0 }))
    .toSorted(Order.mapInput(Order.Number, ({ step }) => step))
}))
