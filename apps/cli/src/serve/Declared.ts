/** Populations that the command line and its config file declare. */
import { Problem as DomainProblem } from "@inspo/domain"
import { Settings } from "@inspo/cohorts"
import { Errors, Population, type Populations, type Served } from "@inspo/serve"
import { Malformed } from "@inspo/http/server"
import * as Server from "@inspo/serve/http/Server"
import { checked } from "@inspo/serve/live/Populations"
import { Effect, Equal, Option, Path, Schema, Struct } from "effect"
import { type CommandFailure, commandFailure, type UsageError, usageError } from "../Failure.ts"
import { nearest } from "../config/Suggestion.ts"
import { readNamed } from "../config/TextFile.ts"
import * as Yaml from "../config/Yaml.ts"
import * as Proposer from "./Proposer.ts"

export interface Declared {
  readonly name: string
  readonly made: Population.NewPopulation
}

export interface Declarations {
  readonly populations: ReadonlyArray<Declared>
  readonly proposer: Proposer.Config | null
  /** Keys by name, in addition to those of the environment. */
  readonly keys: Readonly<Record<string, Server.NamedKey>>
}

/** The others are names that the audit log has for keys of the environment, and for no key. */
const KeyName = Population.PopulationSummary.fields.name.check(Schema.isPattern(/^(?!(?:admin|lease|none)$)/u))

export const Config = Schema.Struct({
  populations: Schema.optionalKey(Schema.Record(Population.PopulationSummary.fields.name, Population.NewPopulation)),
  proposer: Schema.optionalKey(Proposer.Config),
  keys: Schema.optionalKey(Schema.Record(KeyName, Server.NamedKey))
})

/** The config file, then a population for each seed file. Refuses those that cannot be created. */
export const read = Effect.fn("Serve.declared")(function* (input: {
  readonly config: Option.Option<string>
  readonly seedFile: ReadonlyArray<string>
}) {
  const path = yield* Path.Path
  const configured: Declarations = Option.isNone(input.config)
    ? { populations: [], proposer: null, keys: {} }
    : yield* readConfig(input.config.value)
  const seeded = yield* Effect.forEach(
    input.seedFile,
    Effect.fnUntraced(function* (file) {
      const name = path.parse(file).name
      if (!isName(name))
        return yield* usageError(
          `--seed-file ${file} would create a population named ${name}, expected ${nameExpected}. Rename the file.`
        )
      const seed = (yield* readFile(file, "--seed-file")).trim()
      if (seed === "") return yield* usageError(`--seed-file ${file} is empty, expected an instruction.`)
      return { name, made: { seed } } satisfies Declared
    })
  )
  const populations = [...configured.populations, ...seeded]
  for (const { made, name } of populations)
    yield* Effect.mapError(checked(name, made), (problem) => unusable(name, problem))
  return { ...configured, populations }
})

/** Creates the missing ones, all or none. Existing ones get the settings that can change; other differences are logged. */
export const ensure = Effect.fnUntraced(function* (
  populations: Populations["Service"],
  declared: ReadonlyArray<Declared>
): Effect.fn.Return<void, CommandFailure | UsageError> {
  const made: Array<string> = []
  const ensureOne = Effect.fnUntraced(function* ({ made: asked, name }: Declared): Effect.fn.Return<void, Problem> {
    const { isNew } = yield* populations
      .create(name, asked)
      .pipe(Effect.catchTag("Conflict", ({ differences }) => Effect.as(keep(name, differences), { isNew: false })))
    if (isNew) return void made.push(name)
    const { settings = {} } = asked
    yield* leave(yield* populations.change(name, decodeFree(settings)), settings)
  })
  yield* Effect.forEach(declared, (one) => Effect.mapError(ensureOne(one), (problem) => unusable(one.name, problem)), {
    discard: true
  }).pipe(
    Effect.onError(() => Effect.forEach(made, (name) => Effect.ignore(populations.remove(name)), { discard: true }))
  )
})

const keep = (name: string, differences: Errors.Conflict["differences"]) => {
  const fixed = differences.filter(({ field }) => !isFree(field))
  return fixed.length === 0
    ? Effect.void
    : Effect.logWarning(
        `${name} keeps the settings that it was created with: ${fixed.map(differing).join("; ")}. ` +
          `Add another instruction with POST /v1/populations/${name}/members. To start again, choose another name, or remove ` +
          `the population with DELETE /v1/populations/${name}`
      )
}

/** Settings that the declaration does not name, such as no longer, stay in force. */
const leave = Effect.fnUntraced(function* ({ live, name }: Served, asked: Population.GivenSettings) {
  const { settings } = yield* live.state
  const defaults = Settings[settings.profile](0)
  const left = freeFields.flatMap((field) => {
    const [declared, now, usual] = [asked, settings, defaults].map((one) => Malformed.valueAt(one, field.split(".")))
    return declared !== undefined || Equal.equals(now, usual) ? [] : `${field} is ${shown(now)}, not ${shown(usual)}`
  })
  if (left.length > 0)
    yield* Effect.logWarning(
      `${name} keeps settings that its declaration does not name: ${left.join("; ")}. To change one, declare its new value`
    )
})

const differing = ({ current, field, given }: Errors.Conflict["differences"][number]): string =>
  `${field} is ${shown(current)}, declared as ${shown(given)}`

const unusable = (name: string, problem: Problem): CommandFailure | UsageError =>
  problem instanceof Errors.InvalidRequest
    ? usageError(`The population ${name}: ${DomainProblem.words(problem)}.`, problem)
    : commandFailure(`The population ${name} cannot be created or changed: ${problem.detail ?? problem.title}`, problem)

type Problem = Effect.Error<ReturnType<Populations["Service"]["create"]> | ReturnType<Populations["Service"]["change"]>>

const readConfig = Effect.fnUntraced(function* (file: string) {
  const text = yield* readFile(file, "The config file")
  const parsed = yield* Effect.try({
    try: (): unknown => Yaml.parse(text),
    catch: (cause) => usageError(`${file} is not YAML: ${firstLine(cause)}`, cause)
  })
  const {
    keys = {},
    proposer = null,
    populations = {}
  } = yield* Effect.mapError(decodeConfig(parsed), (cause) => usageError(`${file}: ${explain(cause, parsed)}`, cause))
  return { keys, proposer, populations: Object.entries(populations).map(([name, made]): Declared => ({ name, made })) }
})

const firstLine = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).split("\n", 1)[0]?.replace(/:$/u, ".") ?? ""

const readFile = (file: string, what: string) => readNamed(file, `${what} ${file}`)

const decodeConfig = Schema.decodeUnknownEffect(Config, { onExcessProperty: "error", errors: "first" })
const decodeFree = Schema.decodeUnknownSync(Population.SettingsChange)
const isName = (name: string): boolean => Schema.is(Population.PopulationSummary.fields.name)(name)

/** Whether a field that differs is a setting that can change: of sections all but the risk. */
const isFree = (field: string): boolean =>
  field.startsWith("settings.") &&
  field !== "settings.selection.risk" &&
  Object.hasOwn(Population.SettingsChange.fields, field.split(".")[1] ?? "")

const explain = ({ issue }: Schema.SchemaError, file: unknown): string => {
  const { expected, path } = Malformed.deepest(issue)
  const field = path.length === 0 ? "the file" : Malformed.fieldOf(path)
  const key = String(path.at(-1) ?? "")
  if (path.length === 2 && path[0] === "populations" && !isName(key))
    return `populations names ${shown(key)}, expected ${nameExpected}. Rename it.`
  if (path.length === 2 && path[0] === "keys" && !Schema.is(KeyName)(key))
    return `keys names ${shown(key)}, expected ${nameExpected}, and another name than admin, lease and none. Rename it.`
  const isKnown = [key, path.slice(-2).join(".")].some((name) => knownFields.includes(name))
  const meant = isKnown ? Option.none() : nearest(key, knownFields)
  const remedy = Option.match(meant, {
    onNone: () => "Correct it in the file; docs/reference/instruction-server.md lists the fields.",
    onSome: (name) => `Did you mean ${name}?`
  })
  // Someone may have written the key in place of its hash.
  const value = path[0] === "keys" ? "malformed" : shown(Malformed.valueAt(file, path))
  return DomainProblem.words({ field, value, expected, remedy })
}

const nameExpected = "letters, digits, ., _ and -, beginning with a letter or digit"

const sectionFields = Object.entries(Settings.sections).flatMap(([section, { fields }]) =>
  Object.keys(fields).map((name) => `${section}.${name}`)
)

/** The settings that can change, those of a section with its name. */
const freeFields = [...Struct.keys(Settings.others), ...sectionFields].filter((name) => isFree(`settings.${name}`))

/** The names of all fields of the file; those of a section with its name. */
const knownFields: ReadonlyArray<string> = [
  ...Struct.keys(Config.fields),
  ...Struct.keys(Population.NewPopulation.fields),
  ...Struct.keys(Population.GivenSettings.fields),
  ...sectionFields,
  ...Proposer.fields
]

const shown = (value: unknown): string => Malformed.shown(value, "missing")
