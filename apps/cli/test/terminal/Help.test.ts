import { assert, describe, it } from "@effect/vitest"
import { Context, Option, Schema } from "effect"
import type { HelpDoc } from "effect/cli"
import { helpLines } from "../../src/terminal/Help.ts"

const Word = Schema.String.check(Schema.isPattern(/^[a-z]{1,14}$/))
const Text = Schema.Array(Word).check(Schema.isMinLength(1), Schema.isMaxLength(40))
const Doc = Schema.Struct({
  description: Text,
  flags: Schema.Array(Schema.Struct({ name: Word, type: Schema.Array(Word), description: Text })),
  verbs: Schema.Array(Schema.Struct({ name: Word, description: Text })),
  command: Text,
  isRoot: Schema.Boolean
})
const Columns = Schema.Int.check(Schema.isBetween({ minimum: 60, maximum: 120 }))

const docOf = ({ command, description, flags, isRoot, verbs }: typeof Doc.Type): HelpDoc.HelpDoc => {
  const [first, ...others] = verbs.map((one) => ({
    name: one.name,
    alias: undefined,
    shortDescription: undefined,
    description: one.description.join(" ")
  }))
  return {
    description: description.join(" "),
    usage: "inspo",
    commandPath: isRoot ? ["inspo"] : ["inspo", "verb"],
    annotations: Context.empty(),
    flags: flags.map((one) => ({
      name: one.name,
      aliases: [],
      type: one.type.join("|"),
      description: Option.some(one.description.join(" ")),
      required: false
    })),
    globalFlags: [
      { name: "everywhere", aliases: ["-e"], type: "boolean", description: Option.some("of all"), required: false }
    ],
    examples: [{ command: command.join(" ") }],
    ...(first === undefined ? {} : { subcommands: [{ group: "Look", commands: [first, ...others] }] })
  }
}

describe("a help page", () => {
  it.prop("fits the columns, loses no word, and keeps examples whole", [Doc, Columns], ([doc, columns]) => {
    const lines = helpLines(docOf(doc), { columns, canColor: false })
    const command = `  ${doc.command.join(" ")}`
    assert.include(lines, command)
    // The names of flags are not broken: they are to be copied.
    const names = new Set(doc.flags.map(({ name, type }) => `  --${name} ${type.join("|")}`.trimEnd()))
    for (const line of lines)
      if (line !== command && !names.has(line.trimEnd())) assert.isAtMost(line.length, columns, line)
    const words = lines.join(" ").split(/\s+/u)
    for (const word of [doc.description, ...doc.flags.map((one) => one.description)].flat()) assert.include(words, word)
    for (const { name } of doc.verbs) assert.include(words, name)
  })

  it.prop("shows the common flags in the help of the program only", [Doc, Columns], ([doc, columns]) => {
    const page = helpLines(docOf(doc), { columns, canColor: false }).join("\n")
    assert.strictEqual(page.includes("--everywhere, -e"), doc.isRoot)
    assert.strictEqual(page.includes("inspo --help"), !doc.isRoot)
  })
})
