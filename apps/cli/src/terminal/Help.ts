import { styleText } from "node:util"
import { Option } from "effect"
import type { HelpDoc } from "effect/cli"
import type { Style } from "./Reporter.ts"
import { Text } from "@inspo/report"

/**
 * The help of a verb as lines of at most `columns` characters, except its examples, which are to be copied. The flags of
 * every verb are in the help of the program, to which the others refer.
 */
export const helpLines = (doc: HelpDoc.HelpDoc, { canColor, columns }: Style): ReadonlyArray<string> => {
  const { args = [], examples = [], flags, globalFlags = [], subcommands = [] } = doc
  const widestVerb = Math.max(0, ...subcommands.flatMap(({ commands }) => commands.map(({ name }) => name.length)))
  const isRoot = (doc.commandPath?.length ?? 1) <= 1
  const section = (title: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
    lines.length === 0 ? [] : ["", canColor ? styleText("bold", title, { validateStream: false }) : title, ...lines]
  return [
    ...description(doc.description, columns),
    "",
    `Usage: ${doc.usage}`,
    ...subcommands.flatMap(({ commands, group }) =>
      section(
        group ?? "Verbs",
        Text.rows(
          commands.map((one) => [one.name.padEnd(widestVerb), one.shortDescription ?? one.description]),
          columns
        )
      )
    ),
    ...section(
      "Arguments",
      Text.rows(
        args.map((one) => [
          `${one.name}${one.variadic ? "…" : ""}`,
          `${described(one)}${one.required ? "" : " (optional)"}`
        ]),
        columns
      )
    ),
    ...section("Flags", Text.rows(flags.map(flagRow), columns)),
    ...(isRoot ? section("Flags of every verb", Text.rows(globalFlags.map(flagRow), columns)) : []),
    ...section(
      "Examples",
      examples.flatMap(({ command, description }) => [`  # ${description ?? ""}`, `  ${command}`])
    ),
    "",
    ...(isRoot
      ? ["inspo VERB --help shows the arguments and flags of a verb."]
      : ["inspo --help lists all verbs and their common flags."])
  ]
}

/** A description as paragraphs; what is indented in it keeps its lines. */
const description = (text: string, columns: number): ReadonlyArray<string> =>
  [...text.matchAll(/^ .*$|^$|^\S.*(?:\n\S.*)*$/gmu)].flatMap(([block]) =>
    /^\S/u.test(block) ? Text.wrap(block, columns) : [block]
  )

const described = ({ description }: { readonly description: Option.Option<string> }): string =>
  Option.getOrElse(description, () => "")

const flagRow = (flag: HelpDoc.FlagDoc): readonly [string, string] => [
  `${[`--${flag.name}`, ...flag.aliases].join(", ")}${flag.type === "boolean" ? "" : ` ${flag.type}`}`,
  described(flag)
]
