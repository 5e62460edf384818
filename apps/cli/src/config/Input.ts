import { Ablations, type ConfigError, Method } from "@inspo/coevolution"
import { Presets, type RunConfig, withAlgorithm } from "@inspo/config"
import * as HuggingFaceTokenizer from "@inspo/engine/HuggingFaceTokenizer"
import { AgentName } from "@inspo/rollout"
import { DateTime, Effect, Option, Path, Record, Result, Schema } from "effect"
import { type UsageError, usageError } from "../Failure.ts"
import { type Override, parseFile, parseSet, resolve } from "./Resolve.ts"
import { withNamedFiles } from "./NamedFiles.ts"
import { nearest } from "./Suggestion.ts"
import { readNamed } from "./TextFile.ts"

/** The parts of a config on a command line; each overrides those before it. */
export interface Input {
  readonly preset: string
  readonly file: Option.Option<string>
  readonly set: ReadonlyArray<string>
  readonly seed: Option.Option<number>
  readonly baseline?: Option.Option<boolean>
  /** A name of an agent, or a program, an address or a function that plays the episodes. */
  readonly agent?: Option.Option<string>
  /** The training method, applied to the preset first. */
  readonly method?: Method.Method
  /** Parts of co-evolution to leave out, applied last. */
  readonly ablate?: ReadonlyArray<Ablations.Part>
}

/** The complete config of a command line, with paths of data and model made absolute. */
export const fromInput = Effect.fn("Config.fromInput")(function* (input: Input) {
  const preset = yield* presetByName(input.preset)
  const base = withAlgorithm(preset, Method.bend(preset, input.method ?? "inspo"))
  // Before the file: the value of `--set KEY VALUE` would be read as a file name.
  const sets = yield* orUsage(Result.all(input.set.map(parseSet)))
  const file = Option.isNone(input.file) ? [] : [yield* readFile(input.file.value)]
  const seed = Option.toArray(input.seed).map((randomSeed): Override => ({ randomSeed }))
  const overrides = yield* Effect.forEach(
    // The agent first, so that its parameters can be set.
    [...file, ...(yield* withAgent(input)), ...sets, ...seed, ...withBaseline(input)],
    withNamedFiles
  )
  const whole = yield* laid(base, overrides)
  const config = yield* orUsage(resolve(withAlgorithm(whole, Ablations.without(whole, input.ablate ?? [])), []))
  return { ...config, engine: { ...config.engine, date: yield* dateOf(config.engine) } } satisfies RunConfig
})

/** A config under overrides, with paths of data and model made absolute. */
export const laid = Effect.fnUntraced(function* (base: RunConfig, overrides: ReadonlyArray<Override>) {
  const config = yield* orUsage(resolve(base, overrides))
  const path = yield* Path.Path
  const absolute = (name: string | null) => (name === null ? null : path.resolve(name))
  const { model, tokenizer, url } = config.engine
  return {
    ...config,
    data: { ...config.data, questions: absolute(config.data.questions), corpus: absolute(config.data.corpus) },
    engine: { ...config.engine, model: url === null ? absolute(model) : model, tokenizer: absolute(tokenizer) }
  } satisfies RunConfig
})

/** The setting of `--baseline` and `--no-baseline`. */
export const withBaseline = ({ baseline = Option.none() }: Pick<Input, "baseline">): ReadonlyArray<Override> =>
  Option.toArray(baseline).map((value) => ({ evaluation: { baseline: value } }))

/** The setting of `--agent`. */
export const withAgent = Effect.fnUntraced(function* ({ agent = Option.none() }: Pick<Input, "agent">) {
  if (Option.isNone(agent)) return []
  const name = agent.value
  if (isAgentName(name)) return [{ rollout: { agent: name } }]
  const meant = /^[\w-]+$/u.test(name) ? nearest(name, AgentName.literals) : Option.none()
  if (Option.isSome(meant))
    return yield* usageError(`--agent is ${name}. Did you mean ${meant.value}? A program of this name is ./${name}.`)
  return [{ rollout: { agent: { name: "outside", program: name } } }]
})

const isAgentName = Schema.is(AgentName)

/** The date that prompts print: the configured one, or today if the chat template prints a date. */
const dateOf = Effect.fnUntraced(function* ({ date, tokenizer, url }: RunConfig["engine"]) {
  if (date !== null || tokenizer === null || url === null) return date
  // The engine reports a folder that cannot be read.
  const asks = yield* Effect.orElseSucceed(HuggingFaceTokenizer.printsDate(tokenizer), () => false)
  return asks ? DateTime.formatIsoDateUtc(yield* DateTime.now) : null
})

/** The result of a config function; its failure as a usage error. */
export const orUsage = <A>(result: Result.Result<A, ConfigError>): Effect.Effect<A, UsageError> =>
  Effect.mapError(Effect.fromResult(result), (cause) => usageError(cause.message, cause))

/** The config of a preset; the error for an unknown name suggests the closest one. */
export const presetByName = (name: string): Effect.Effect<RunConfig, UsageError> => {
  const names = Object.keys(Presets.byName)
  const hint = Option.match(nearest(name, names), { onNone: () => "", onSome: (meant) => ` Did you mean ${meant}?` })
  return Effect.mapError(Effect.fromOption(Record.get(Presets.byName, name)), () =>
    usageError(`--preset is ${name}, expected one of ${names.join(", ")}.${hint}`)
  )
}

const readFile = Effect.fnUntraced(function* (file: string) {
  const text = yield* readNamed(file, `The config file ${file}`, "Check the path, or omit it to use a preset.")
  return yield* orUsage(parseFile(file, text))
})
