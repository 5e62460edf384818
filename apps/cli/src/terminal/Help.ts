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
  const list = (title: string, rows: Parameters<typeof Text.rows>[0]) => section(title, Text.rows(rows, columns))
  return [
    ...description(doc.description, columns),
    "",
    `Usage: ${doc.usage}`,
    ...subcommands.flatMap(({ commands, group }) =>
      list(
        group ?? "Verbs",
        commands.map((one) => [one.name.padEnd(widestVerb), one.shortDescription ?? one.description])
      )
    ),
    ...list("Arguments", args.map(argumentRow)),
    ...list("Flags", flags.map(flagRow)),
    ...(isRoot ? list("Flags of every verb", globalFlags.map(flagRow)) : []),
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

const argumentRow = (one: HelpDoc.ArgDoc): readonly [string, string] => [
  `${one.name}${one.variadic ? "…" : ""}`,
  `${described(one)}${one.required ? "" : " (optional)"}`
]

const flagRow = (flag: HelpDoc.FlagDoc): readonly [string, string] => [
  `${[`--${flag.name}`, ...flag.aliases].join(", ")}${flag.type === "boolean" ? "" : ` ${flag.type}`}`,
  described(flag)
]
