/** Populations that the command line and its config file name. */
import { Population, type Populations } from "@inspo/serve"
import { Effect, Option, Path, Schema } from "effect"
import { parse } from "yaml"
import { CommandFailure, UsageError } from "../Failure.ts"
import { readText } from "../config/TextFile.ts"
import * as Optimizer from "./Optimizer.ts"

/** A population to make, by its name. */
export interface Declared {
  readonly name: string
  readonly made: Population.NewPopulation
}

/** What the server is told before it starts. */
export interface Declarations {
  readonly populations: ReadonlyArray<Declared>
  readonly optimizer: Optimizer.Config | null
}

const Config = Schema.Struct({
  populations: Schema.optionalKey(Schema.Record(Population.PopulationSummary.fields.name, Population.NewPopulation)),
  optimizer: Schema.optionalKey(Optimizer.Config)
})

/** What the config file says, then a population for each seed file. */
export const read = Effect.fn("Serve.declared")(function* (input: {
  readonly config: Option.Option<string>
  readonly seedFile: ReadonlyArray<string>
}) {
  const path = yield* Path.Path
  const configured: Declarations = Option.isNone(input.config)
    ? { populations: [], optimizer: null }
    : yield* readConfig(input.config.value)
  const seeded = yield* Effect.forEach(
    input.seedFile,
    Effect.fnUntraced(function* (file) {
      const name = path.parse(file).name
      if (!isName(name))
        return yield* new UsageError({
          problem: `--seed-file ${file} would make a population called ${name}, expected letters, digits, ., _ and -, beginning with a letter or digit. Rename the file.`
        })
      const seed = (yield* readFile(file, "--seed-file")).trim()
      if (seed === "")
        return yield* new UsageError({ problem: `--seed-file ${file} is empty, expected an instruction.` })
      return { name, made: { seed } } satisfies Declared
    })
  )
  return { ...configured, populations: [...configured.populations, ...seeded] }
})

/** Makes those that are not there. Settings that may change are as they are declared now. */
export const ensure = (populations: Populations["Service"], declared: ReadonlyArray<Declared>) =>
  Effect.forEach(
    declared,
    ({ made, name }) =>
      populations.create(name, made).pipe(
        Effect.catchTag("Conflict", (conflict) =>
          conflict.differences.every(({ field }) => isFree(field))
            ? populations.change(name, decodeFree(made.settings ?? {}))
            : Effect.fail(conflict)
        ),
        Effect.mapError(
          (problem) =>
            new CommandFailure({ problem: `The population ${name} cannot be had: ${saidBy(problem)}`, cause: problem })
        )
      ),
    { discard: true }
  )

const readConfig = Effect.fnUntraced(function* (file: string) {
  const text = yield* readFile(file, "The config file")
  const parsed = yield* Effect.try({
    try: (): unknown => parse(text),
    catch: (cause) => new UsageError({ problem: `${file} is no YAML: ${String(cause)}`, cause })
  })
  const { optimizer = null, populations = {} } = yield* Effect.mapError(
    decodeConfig(parsed),
    (cause) => new UsageError({ problem: `${file}: ${explain(cause)}.`, cause })
  )
  return { optimizer, populations: Object.entries(populations).map(([name, made]): Declared => ({ name, made })) }
})

const readFile = (file: string, what: string) =>
  Effect.catchTag(readText(file), "PlatformError", (cause) =>
    Effect.fail(
      new UsageError({ problem: `${what} ${file} cannot be read (${cause.reason._tag}). Check the path.`, cause })
    )
  )

const decodeConfig = Schema.decodeUnknownEffect(Config, { onExcessProperty: "error", errors: "first" })
const decodeFree = Schema.decodeUnknownSync(Population.SettingsChange)
const isName = (name: string): boolean => Schema.is(Population.PopulationSummary.fields.name)(name)

/** Whether a field that differs is a setting that may change. */
const isFree = (field: string): boolean =>
  field.startsWith("settings.") && Object.hasOwn(Population.SettingsChange.fields, field.slice("settings.".length))

const explain = ({ message }: Schema.SchemaError): string => message.replaceAll(/\s+/gu, " ")

const saidBy = (problem: { readonly detail?: string; readonly title: string }): string =>
  problem.detail ?? problem.title
