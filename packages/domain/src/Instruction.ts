import { Schema } from "effect"

/** Identifies one instruction within a run, such as `i0` for the seed. */
export const InstructionId = Schema.NonEmptyString.pipe(Schema.brand("InstructionId"))
export type InstructionId = typeof InstructionId.Type

/** Where an instruction came from: the user's seed, a variant of it at the start, or a proposer during the run. */
export const InstructionOrigin = Schema.Literals(["seed", "variant", "proposed"])
export type InstructionOrigin = typeof InstructionOrigin.Type

/**
 * The text that tells the policy how to act: one individual of the population.
 *
 * `generation` is 0 for the initial population and the parent's plus one for a proposed instruction;
 * `bornAt` is the step (0 = before training) after which it entered.
 */
export const Instruction = Schema.Struct({
  id: InstructionId,
  text: Schema.NonEmptyString,
  generation: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  parent: Schema.NullOr(InstructionId),
  origin: InstructionOrigin,
  bornAt: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
})
export interface Instruction extends Schema.Schema.Type<typeof Instruction> {}

/** A proposed instruction text that has not been verified yet, with the reason its proposer gives. */
export const Candidate = Schema.Struct({
  text: Schema.NonEmptyString,
  rationale: Schema.String
})
export interface Candidate extends Schema.Schema.Type<typeof Candidate> {}
