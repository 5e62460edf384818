import { RunConfig, inconsistency, merge, withAlgorithm } from "@inspo/config"
import { Ablations, ConfigError, Presets } from "@inspo/coevolution"
import { Choice } from "@inspo/domain"
import { Option, Predicate, Result } from "effect"
import { decode, show } from "./Decode.ts"
import { nearest } from "./Suggestion.ts"
import * as Yaml from "./Yaml.ts"

/** A part of a config: any of its keys, nested as in {@link RunConfig}, with unchecked values. */
export interface Override {
  readonly [key: string]: unknown
}

/**
 * Merges overrides into a complete config, in order, and checks the result. Overrides that make a chat model the policy leave
 * training out of the config below them.
 *
 * Fails with the first error: an unknown key, an invalid value, or an invalid combination of settings.
 */
export const resolve = (base: RunConfig, overrides: ReadonlyArray<Override>): Result.Result<RunConfig, ConfigError> => {
  let merged: unknown = frozenUnder(base, overrides)
  for (const override of overrides) {
    const under = renamed(merged, override)
    const [unknown] = unknownKeys(under, override, [])
    if (unknown !== undefined)
      return Result.fail(unknownParameter(under, unknown) ?? unknownKey(unknown, leafPaths(under)))
    merged = merge(under, spelled(override))
  }
  return decode(merged, (field) => `Fix it in the config file or with --set ${field}=VALUE.`).pipe(
    Result.flatMap((config) => {
      const fault = inconsistency(config)
      return fault === null ? Result.succeed(config) : Result.fail(fault)
    })
  )
}

/** The config below an override, in which what the override names as a whole has taken the places of what was there. */
const renamed = (under: unknown, override: Override): unknown => {
  const named = choices.reduce<unknown>((whole, [path, methods]) => {
    const value = nameAlone(valueAt(override, path))
    if (!isRecord(value) || typeof value.name !== "string") return whole
    const isKnown = methods.some(({ name }) => name === value.name)
    return replaced(whole, path, isKnown ? Choice.completed(methods, { name: value.name }) : value)
  }, under)
  return mappings.reduce<unknown>((whole, path) => {
    const value = valueAt(override, path)
    return isRecord(value) && isRecord(valueAt(whole, path)) ? replaced(whole, path, value) : whole
  }, named)
}

/** Choices by their name, spelled out, so that later overrides change one by one. */
const spelled = (override: Override): unknown => {
  const named = choices.reduce<unknown>((whole, [path]) => {
    const value = valueAt(override, path)
    return typeof value === "string" ? replaced(whole, path, nameAlone(value)) : whole
  }, override)
  const rules = valueAt(override, "selection")
  return typeof rules === "string" && Object.hasOwn(Presets.selections, rules)
    ? merge(named, { selection: Presets.selections[rules] })
    : named
}

const nameAlone = (value: unknown): unknown => (typeof value === "string" ? { name: value } : value)

const replaced = (whole: unknown, path: string, value: unknown): unknown =>
  [null, value].reduce<unknown>((under, over) => merge(under, nest(path.split("."), over)), whole)

/** Reads `a.b=c`: the value is a YAML scalar or flow collection; an empty value is the empty text. */
export const parseSet = (text: string): Result.Result<Override, ConfigError> => {
  const split = text.indexOf("=")
  const path = text.slice(0, Math.max(0, split)).trim()
  const keys = path.split(".")
  if (split < 0 || keys.some((key) => key === ""))
    return Result.fail(
      new ConfigError({
        field: "--set",
        value: JSON.stringify(text),
        expected: "KEY=VALUE in one word, with a dotted key",
        remedy: "Write it as in --set schedule.steps=50."
      })
    )
  const written = text.slice(split + 1)
  return Result.try({
    try: (): unknown => {
      // YAML would leave out the rest as a comment.
      if (/^\s*(?!["'[{|>\s])(?:.*\s)?#/su.test(written)) throw new Error("a comment")
      return written.trim() === "" ? "" : Yaml.parse(written)
    },
    catch: () =>
      new ConfigError({
        field: path,
        value: JSON.stringify(written),
        expected: "a YAML value",
        remedy: `Quote text with special characters: --set '${path}="…"'.`
      })
  }).pipe(Result.map((value) => nest(keys, value)))
}

/** Reads the text of a config file: a YAML mapping, or empty. */
export const parseFile = (file: string, text: string): Result.Result<Override, ConfigError> => {
  const fault = (value: string, remedy: string) =>
    new ConfigError({ field: file, value, expected: "a YAML mapping such as `schedule: { steps: 50 }`", remedy })
  return Result.try({
    try: (): unknown => Yaml.parse(text) ?? {},
    catch: (cause) => fault("not YAML", firstLine(cause))
  }).pipe(
    Result.flatMap((value) =>
      isRecord(value) ? Result.succeed(value) : Result.fail(fault(show(value), "Write keys and values, one per line."))
    )
  )
}

export const leafPaths = (tree: unknown, path: ReadonlyArray<string> = []): ReadonlyArray<string> =>
  isRecord(tree) ? Object.entries(tree).flatMap(([key, value]) => leafPaths(value, [...path, key])) : [path.join(".")]

export const valueAt = (tree: unknown, name: string): unknown =>
  name.split(".").reduce((node, key) => (Predicate.hasProperty(node, key) ? node[key] : undefined), tree)

const frozenUnder = (base: RunConfig, overrides: ReadonlyArray<Override>): RunConfig => {
  const model = overrides.map((override) => valueAt(override, "policy.model")).findLast(Predicate.isNotUndefined)
  return base.policy.model !== null || Predicate.isNullish(model)
    ? base
    : withAlgorithm(base, Ablations.without(base, ["training"]))
}

const isRecord = (value: unknown): value is Override =>
  Predicate.isObjectKeyword(value) && !Array.isArray(value) && typeof value !== "function"

const nest = (keys: ReadonlyArray<string>, value: unknown): Override =>
  Object.fromEntries([[keys[0] ?? "", keys.length <= 1 ? value : nest(keys.slice(1), value)]])

const unknownKeys = (base: unknown, override: unknown, path: ReadonlyArray<string>): ReadonlyArray<string> =>
  isRecord(base) && isRecord(override)
    ? Object.entries(override).flatMap(([key, value]) =>
        Object.hasOwn(base, key)
          ? unknownKeys(Reflect.get(base, key), value, [...path, key])
          : [[...path, key].join(".")]
      )
    : []

const unknownKey = (field: string, known: ReadonlyArray<string>): ConfigError =>
  new ConfigError({
    field,
    value: "set",
    expected: "a key of the config",
    remedy: Option.match(nearest(field, known), {
      onNone: () => `The key does not exist; config.json of any run lists all ${known.length}.`,
      onSome: (name) => `The key does not exist. Did you mean ${name}?`
    })
  })

/** The same of a method that has no such parameter. */
const unknownParameter = (under: unknown, field: string): ConfigError | null => {
  const method = choices
    .flatMap(([path]) => (field.startsWith(`${path}.`) ? [valueAt(under, path)] : []))
    .find(isRecord)
  if (method === undefined) return null
  const parameters = Object.keys(method).filter((key) => key !== "name")
  return new ConfigError({
    field,
    value: "set",
    expected: `a parameter of ${String(method.name)}${parameters.length === 0 ? ", which has none" : `: ${parameters.join(", ")}`}`,
    remedy: "Remove it, or name another method beside it."
  })
}

const firstLine = (cause: unknown): string =>
  (cause instanceof Error ? cause.message : String(cause)).split("\n", 1)[0] ?? ""

type Methods = ReadonlyArray<Choice.Named>

const choicesOf = (schema: unknown, path: ReadonlyArray<string>): ReadonlyArray<readonly [string, Methods]> => {
  if (Predicate.hasProperty(schema, "methods") && Array.isArray(schema.methods))
    return [[path.join("."), schema.methods]]
  if (!Predicate.hasProperty(schema, "fields") || !isRecord(schema.fields)) return []
  return Object.entries(schema.fields).flatMap(([key, field]) => choicesOf(field, [...path, key]))
}

/** The settings that are one of several methods, by their dotted names. */
const choices = choicesOf(RunConfig, [])

/** The settings that are a mapping with keys of the user's own. */
const mappings = ["data.mix", "reward.shaping.prices"]
