/** The pages of docs/reference, generated from the code. */
import { readFile } from "node:fs/promises"
import { RunEvents } from "@inspo/coevolution"
import { local, Presets, RunConfig } from "@inspo/config"
import { catalogue, type Definition, Point } from "@inspo/tracking"
import { Effect, Option, Schema } from "effect"
import type { HelpDoc } from "effect/cli"
import { configKeys, nodeOf, takes } from "../../apps/cli/src/config/ConfigKeys.ts"
import { leafPaths, valueAt } from "../../apps/cli/src/config/Resolve.ts"
import { helpDocs } from "../../apps/cli/test/support/HelpDocs.ts"
import { apiPage, openApi } from "./apiPage.ts"
import { lawsPage } from "./laws.ts"
import { code, page, table } from "./markdown.ts"
import { methodsPage } from "./methods.ts"

/** The text of every page by its file name. */
export const pages = Effect.gen(function* () {
  const events = yield* Effect.promise(() =>
    readFile(new URL("../../packages/coevolution/src/RunEvent.ts", import.meta.url), "utf8")
  )
  return {
    "cli.md": cliPage(yield* helpDocs),
    "config.md": configPage(),
    "events.md": eventsPage(events),
    "instruction-server.md": apiPage(),
    "laws.md": lawsPage(),
    "methods.md": methodsPage(),
    "metrics.md": metricsPage(),
    "openapi.json": `${JSON.stringify(openApi, null, 2)}\n`
  }
})

const configPage = (): string =>
  page(
    "Settings",
    `All ${configKeys.filter(({ isSection }) => !isSection).length} keys of a config, each with its value in three presets; \`=\` is that of \`quick\`. ` +
      "Set one with `--set KEY=VALUE`, or write them in a YAML file: `inspo init` writes one with all of them, " +
      "`inspo init --short` one with those that are usually changed first. Files and flags override the preset. " +
      "Those with † are the deployment: they do not affect results and may change on " +
      "`inspo resume DIR --set KEY=VALUE`; fingerprints of the run check what they refer to. The others are the algorithm. A row, as in _row 7_, is one of [the paper's open points](../algorithm.md); Eq. are the paper's equations.",
    ...configKeys
      .filter(({ isSection, path }) => isSection && !path.includes("."))
      .flatMap((section) => [`## ${section.path}`, `${section.meaning}.`, keysTable(`${section.path}.`)]),
    "## Further keys",
    keysTable("")
  )

/** The keys below a prefix; for the root, the keys without a section. */
const keysTable = (prefix: string): string =>
  table(
    ["key", "meaning", "takes", "quick", "paper", "robust"],
    configKeys
      .filter(({ isSection, path }) => !isSection && (prefix === "" ? !path.includes(".") : path.startsWith(prefix)))
      .map(({ meaning, path, takes: values }) => {
        const [quick, paper, robust] = [Presets.quick, Presets.paper, Presets.robust].map((preset) =>
          // Encoded, since choices that have a name are written by it; what is left out has its value in memory.
          written(valueAt(Schema.encodeSync(RunConfig)(preset), path) ?? valueAt(preset, path))
        )
        const mark = isDeployment(path) ? " †" : ""
        return [`\`${path}\`${mark}`, meaning, values, quick ?? "", same(paper, quick), same(robust, quick)]
      })
  )

/** Whether a key, with all parts of a value of several, is one of the deployment. */
const isDeployment = (path: string): boolean => {
  const value = valueAt(local, path)
  return value !== undefined && leafPaths(value).length === leafPaths(valueAt(Presets.quick, path)).length
}

const written = (value: unknown): string => {
  const text = JSON.stringify(value)
  return code(text.length <= longest ? text : `${text.slice(0, longest - 1)}…`)
}

const longest = 40

const same = (value: string | undefined, quick: string | undefined): string => (value === quick ? "=" : (value ?? ""))

const cliPage = (docs: Effect.Success<typeof helpDocs>): string => {
  const [program] = docs
  return page(
    "Command line",
    `${program?.doc.description ?? ""}. \`--json\` prints one JSON document on standard output; everything else goes to ` +
      "standard error. Exit codes: 0 done, 1 failed, 2 bad usage or config, 130 interrupted " +
      "with the state saved. A command without state to save ends with the signal, which shells show as " +
      "130 (Ctrl-C) or 143 (SIGTERM). " +
      "`NO_COLOR` turns colours off.",
    table(
      ["to", "verbs"],
      (program?.doc.subcommands ?? []).map(({ commands, group }) => [
        (group ?? "").toLowerCase(),
        commands.map(({ name }) => `[\`${name}\`](#inspo-${name})`).join(", ")
      ])
    ),
    "Flags of every command:",
    flagTable(program?.doc.globalFlags ?? []),
    "Completions for your shell, once per terminal or in its start-up file:",
    ["```sh", "source <(inspo --completions bash)   # zsh, fish and powershell too", "```"].join("\n"),
    ...docs
      .filter(({ path }) => path.length > 0)
      .flatMap(({ doc, path }) => [
        `## inspo ${path.join(" ")}`,
        paragraphs(doc.description),
        ...(doc.subcommands === undefined ? [["```", doc.usage, "```"].join("\n")] : []),
        ...argumentTable(doc.args ?? []),
        ...(doc.flags.length === 0 ? [] : [flagTable(doc.flags)]),
        ...examples(doc.examples ?? [])
      ])
  )
}

/** A description; its indented lines are kept in a block. */
const paragraphs = (text: string): string =>
  text.includes("\n  ") ? ["```text", text, "```"].join("\n") : `${text.replace(/\.$/u, "")}.`

const argumentTable = (all: ReadonlyArray<HelpDoc.ArgDoc>): ReadonlyArray<string> =>
  all.length === 0
    ? []
    : [
        table(
          ["argument", "meaning"],
          all.map(({ description, name, required, variadic }) => [
            `\`${name}${variadic ? "…" : ""}\`${required ? "" : " (optional)"}`,
            Option.getOrElse(description, () => "")
          ])
        )
      ]

const flagTable = (all: ReadonlyArray<HelpDoc.FlagDoc>): string =>
  table(
    ["flag", "takes", "meaning"],
    all.map(({ aliases, description, name, required, type }) => [
      [`--${name}`, ...aliases].map((flag) => `\`${flag}\``).join(" "),
      `${type === "boolean" ? "" : code(type)}${required && !isRepeated(description) ? " (required)" : ""}`,
      Option.getOrElse(description, () => "")
    ])
  )

/** The help marks repeatable flags as required, too. */
const isRepeated = (description: HelpDoc.FlagDoc["description"]): boolean =>
  Option.exists(description, (text) => /may be repeated|more than once/u.test(text))

const examples = (all: ReadonlyArray<HelpDoc.ExampleDoc>): ReadonlyArray<string> =>
  all.length === 0
    ? []
    : [
        [
          "```sh",
          ...all.flatMap(({ command, description }) => [
            ...(description === undefined ? [] : [`# ${description}`]),
            command
          ]),
          "```"
        ].join("\n")
      ]

/** Events by the docstrings of their Schemas and the fields that those have. */
const eventsPage = (source: string): string => {
  const docs = new Map(
    [...source.matchAll(/\/\*\*((?:(?!\*\/).)*)\*\/\nexport const (\w+) = Schema\.TaggedStruct/gsu)].map(
      ([, doc = "", name = ""]) =>
        [
          name,
          doc
            .replaceAll(/^\s*\*? ?/gmu, "")
            .replaceAll("\n", " ")
            .trim()
        ] as const
    )
  )
  return page(
    "Events",
    "The events of a run in its journal. The state of a run is a fold of its events. Each event is committed before the next " +
      "command is chosen. `metrics.jsonl`, `candidates.json` and `traces.jsonl` are computed from them.",
    ...RunEvents.RunEvent.members.flatMap((member) => {
      const { properties = {}, required = [] } = nodeOf(member)
      const name = member.fields._tag.schema.literal
      return [
        `## ${name}`,
        `${docs.get(name) ?? ""} Version ${RunEvents.versions[name]}.`,
        table(
          ["field", "value"],
          Object.entries(properties)
            .filter(([field]) => field !== "_tag")
            .map(([field, node]) => [
              `\`${field}\`${required.includes(field) ? "" : " (may be absent)"}`,
              field === "algorithm" ? "[the settings](config.md) without †" : takes(node)
            ])
        )
      ]
    })
  )
}

const metricsPage = (): string =>
  page(
    "Metrics",
    "The metrics that trackers receive, and when; see [trackers](../trackers.md). `{instruction}` is the id of an instruction, " +
      "`{source}` the name of a data source. " +
      "`metrics.jsonl` contains the rows of trained steps with the same names.",
    table(
      ["metric", "meaning", "unit", "after"],
      Point.names.map((name) => {
        const { event, label, meaning, unit } = definitionOf(name)
        return [
          `\`${name}${label === null ? "" : `/{${label}}`}\``,
          meaning,
          unit,
          event ?? "StepTrained, of the ledger"
        ]
      })
    )
  )

const definitionOf = (name: (typeof Point.names)[number]): Definition => catalogue[name]
