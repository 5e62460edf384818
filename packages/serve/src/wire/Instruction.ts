/** Instructions on the wire: one text, or several named ones that are leased together. */
import { Schema } from "effect"
import * as Limits from "./Limits.ts"
import { InstructionId } from "./Name.ts"

const Text = Schema.NonEmptyString.check(Schema.isMaxLength(Limits.textLength))
const Texts = Schema.Record(Schema.String, Text).check(
  Schema.isMinProperties(1),
  Schema.isMaxProperties(Limits.textsPerInstruction)
)

/** What an instruction says. All instructions of a population have the same names of texts, or none. */
export const Wording = Schema.Union([Text, Texts]).annotate({
  identifier: "Wording",
  description: "One text, or several by name, such as a system prompt and the descriptions of tools"
})
export type Wording = typeof Wording.Type

/** An instruction as it is handed out. */
export const Instruction = Schema.Union([
  Schema.Struct({ id: InstructionId, text: Text }),
  Schema.Struct({ id: InstructionId, texts: Texts })
]).annotate({ identifier: "Instruction" })
export type Instruction = typeof Instruction.Type
