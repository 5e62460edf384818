import { Schema } from "effect"
import * as Checked from "./Checked.ts"

/** Identifies one instruction within a run, such as `i0` for the seed. */
export const InstructionId = Schema.NonEmptyString.pipe(Schema.brand("InstructionId"))
export type InstructionId = typeof InstructionId.Type

/** Where an instruction came from: the user's seed, a variant of it at the start, or a proposer during the run. */
export const InstructionOrigin = Schema.Literals(["seed", "variant", "proposed"])
export type InstructionOrigin = typeof InstructionOrigin.Type

/** Several named texts that are one instruction, such as a system prompt and the description of a tool. */
export const Parts = Schema.Record(Schema.String, Schema.NonEmptyString)
export type Parts = typeof Parts.Type

/** The content of an instruction: one text, or several named texts that are used together. */
export const Content = Schema.Union([Schema.NonEmptyString, Parts])
export type Content = typeof Content.Type

/**
 * The text that an agent follows: one individual of the population.
 *
 * `parts` are present if it consists of several texts; `text` is then their JSON. `generation` is 0 for the initial
 * population and the parent's plus one for a proposed instruction; `bornAt` is the step (0 = before training) after which it
 * joined.
 */
export const Instruction = Schema.Struct({
  id: InstructionId,
  text: Schema.NonEmptyString,
  parts: Schema.optionalKey(Parts),
  generation: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0)),
  parent: Schema.NullOr(InstructionId),
  origin: InstructionOrigin,
  bornAt: Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
})
export interface Instruction extends Schema.Schema.Type<typeof Instruction> {}

/** Of an instruction of one's own: its id, its parent if it is a revision of one, and the step after which it joins, by default 0. */
export interface Options {
  readonly id: string
  readonly parent?: Instruction
  readonly bornAt?: number
}

/**
 * An instruction. Throws `InvalidInput` on an empty id or text, and on a `bornAt` that is not a whole number of at least 0.
 *
 * @example
 * ```ts
 * import { Instruction } from "@inspo/domain"
 *
 * const seed = Instruction.make("Answer in one word.", { id: "i0" })
 * Instruction.make("Look it up, then answer in one word.", { id: "i1", parent: seed, bornAt: 3 }).generation // 1
 * ```
 */
export const make = (content: Content, { bornAt = 0, id, parent }: Options): Instruction =>
  checked({
    ...ofContent(content),
    id,
    generation: parent === undefined ? 0 : parent.generation + 1,
    parent: parent?.id ?? null,
    origin: parent === undefined ? "seed" : "proposed",
    bornAt
  })

const checked = Checked.by("Instruction.make", Instruction)

/** A proposed instruction text that has not been verified yet, with its proposer's reason. */
export const Candidate = Schema.Struct({
  text: Schema.NonEmptyString,
  parts: Schema.optionalKey(Parts),
  rationale: Schema.String
})
export interface Candidate extends Schema.Schema.Type<typeof Candidate> {}

/** The content of an instruction or a candidate. */
export const contentOf = ({ parts, text }: Pick<Instruction, "text" | "parts">): Content => parts ?? text

/** The fields of an instruction or a candidate with this content. */
export const ofContent = (content: Content): Pick<Instruction, "text" | "parts"> =>
  typeof content === "string" ? { text: content } : { text: JSON.stringify(content), parts: content }
