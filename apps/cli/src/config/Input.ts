import { Ablations, type ConfigError, Method } from "@inspo/coevolution"
import { Presets, type RunConfig, withAlgorithm } from "@inspo/config"
import * as HuggingFaceTokenizer from "@inspo/engine/HuggingFaceTokenizer"
import { DateTime, Effect, Option, Path, Record, Result } from "effect"
import { UsageError } from "../Failure.ts"
import { type Override, parseFile, parseSet, resolve } from "./Resolve.ts"
import { withNamedFiles } from "./NamedFiles.ts"
import { nearest } from "./Suggestion.ts"
import { readText } from "./TextFile.ts"

/** How a command line asks for a config: each part is laid over those before it. */
export interface Input {
  readonly preset: string
  readonly file: Option.Option<string>
  readonly set: ReadonlyArray<string>
  readonly seed: Option.Option<number>
  readonly baseline?: Option.Option<boolean>
  /** What training method the preset is bent to before anything else. */
  readonly method?: Method.Method
  /** Parts of co-evolution that are left out of what all the others ask for. */
  readonly ablate?: ReadonlyArray<Ablations.Part>
}

/** The complete config of a command line, with paths of data and model made absolute. */
export const fromInput = Effect.fn("Config.fromInput")(function* (input: Input) {
  const preset = yield* presetByName(input.preset)
  const base = withAlgorithm(preset, Method.bend(preset, input.method ?? "inspo"))
  // Before the file: in `--set KEY VALUE` the value would be taken for one.
  const sets = yield* orUsage(Result.all(input.set.map(parseSet)))
  const file = Option.isNone(input.file) ? [] : [yield* readFile(input.file.value)]
  const seed: ReadonlyArray<Override> = Option.match(input.seed, {
    onNone: () => [],
    onSome: (value) => [{ randomSeed: value }]
  })
  const overrides = yield* Effect.forEach([...file, ...sets, ...seed, ...withBaseline(input)], withNamedFiles)
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
    engine: {
      ...config.engine,
      model: url === null ? absolute(model) : model,
      tokenizer: absolute(tokenizer)
    }
  } satisfies RunConfig
})

/** What `--baseline` and `--no-baseline` set. */
export const withBaseline = ({ baseline = Option.none() }: Pick<Input, "baseline">): ReadonlyArray<Override> =>
  Option.match(baseline, { onNone: () => [], onSome: (value) => [{ evaluation: { baseline: value } }] })

/** The day that prompts print: the one that is set, or today's where the chat template asks for it. */
const dateOf = Effect.fnUntraced(function* ({ date, tokenizer, url }: RunConfig["engine"]) {
  if (date !== null || tokenizer === null || url === null) return date
  // A folder that cannot be read is told by the engine that needs it.
  const asks = yield* Effect.orElseSucceed(HuggingFaceTokenizer.printsDate(tokenizer), () => false)
  return asks ? DateTime.formatIsoDateUtc(yield* DateTime.now) : null
})

/** The result of a config function; its fault as a usage error. */
export const orUsage = <A>(result: Result.Result<A, ConfigError>): Effect.Effect<A, UsageError> =>
  Effect.mapError(Effect.fromResult(result), (cause) => new UsageError({ problem: cause.message, cause }))

/** The config of a preset; an unknown name is told with the one that was probably meant. */
export const presetByName = (name: string): Effect.Effect<RunConfig, UsageError> => {
  const names = Object.keys(Presets.byName)
  const hint = Option.match(nearest(name, names), { onNone: () => "", onSome: (meant) => ` Did you mean ${meant}?` })
  return Effect.mapError(
    Effect.fromOption(Record.get(Presets.byName, name)),
    () => new UsageError({ problem: `--preset is ${name}, expected one of ${names.join(", ")}.${hint}` })
  )
}

const readFile = Effect.fnUntraced(function* (file: string) {
  const text = yield* Effect.catchTag(readText(file), "PlatformError", (cause) =>
    Effect.fail(
      new UsageError({
        problem: `The config file ${file} cannot be read (${cause.reason._tag}). Check the path, or leave it out to use a preset.`,
        cause
      })
    )
  )
  return yield* orUsage(parseFile(file, text))
})
