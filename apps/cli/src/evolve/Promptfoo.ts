/**
 * Reads a promptfoo config: one prompt, its tests, and the assertions that have a counterpart here. It is sent and scored as by
 * promptfoo 0.123.1; what would be sent or scored in another way is refused.
 */
import { Predicate, type Schema } from "effect"
import * as Yaml from "../config/Yaml.ts"
import { UsageError, usageError } from "../Failure.ts"
import type { Check, Job } from "./Job.ts"
import * as PromptfooScore from "./PromptfooScore.ts"
import { lines } from "./Rows.ts"
import * as Template from "./Template.ts"

export interface Promptfoo {
  readonly prompt: string
  readonly jobs: ReadonlyArray<Job>
  /** The provider as `--model` names it; null if the config names none, or one with settings. */
  readonly model: string | null
}

/** What the text of a config holds, in YAML or JSON. Throws a `UsageError` like {@link read}. */
export const parse = (file: string, text: string, prompts?: ReadonlyArray<string>): Promptfoo => {
  try {
    return read(file, Yaml.parse(text, { merge: true, customTags: ["timestamp"] }), prompts)
  } catch (cause) {
    if (cause instanceof UsageError) throw cause
    throw usageError(`${file} is not YAML: ${cause instanceof Error ? cause.message : String(cause)}.`, cause)
  }
}

/**
 * What a config holds, as it was parsed from YAML or JSON. Its tests are for its own prompt, or for others. Throws a `UsageError` that names
 * what has no counterpart.
 */
export const read = (file: string, config: unknown, others?: ReadonlyArray<string>): Promptfoo => {
  const at = (path: string) => `${file}: ${path}`
  const { defaultTest, prompts, providers, scenarios, tests } = record(at("the config"), config, top)
  const prompt = promptOf(at("prompts"), prompts)
  const asked = others?.map((one) => promptOf("A prompt", one)) ?? [prompt]
  const defaults = testOf(at("defaultTest"), defaultTest ?? {})
  if (!isMissing(scenarios) && !(Array.isArray(scenarios) && scenarios.length === 0))
    return refuse(at("scenarios"), scenarios, "none: write each of their tests under tests")
  if (!Array.isArray(tests) || tests.length === 0)
    return refuse(
      at("tests"),
      tests,
      "a list of tests; cases in a CSV file are an argument of `inspo evolve prompt.txt cases.csv`"
    )
  const jobs = tests.flatMap((test, index) => {
    const where = at(`tests[${index}]`)
    const own = testOf(where, test)
    const assert = [...defaults.assert, ...own.assert]
    return combinations({ ...defaults.vars, ...own.vars }).map((vars) => jobOf(where, asked, vars, assert))
  })
  assertOneScore(at("tests"), jobs)
  return { prompt, model: modelOf(providers), jobs }
}

const top = ["$schema", "description", "prompts", "providers", "defaultTest", "scenarios", "tests"]

interface Test {
  readonly vars: Readonly<Record<string, ReadonlyArray<string>>>
  readonly assert: ReadonlyArray<{ readonly where: string; readonly assertion: Readonly<Record<string, unknown>> }>
}

/** A threshold says which tests pass; their scores are the same. */
const testOf = (where: string, given: unknown): Test => {
  const { assert, threshold, vars } = record(where, given, ["description", "vars", "assert", "threshold"])
  const assertions = assert ?? []
  if (!Array.isArray(assertions)) return refuse(`${where}.assert`, assert, "a list of assertions")
  if (!isMissing(threshold) && typeof threshold !== "number") return refuse(`${where}.threshold`, threshold, "a number")
  return {
    vars: Object.fromEntries(
      Object.entries(record(`${where}.vars`, vars ?? {})).map(([name, value]) => {
        const place = `${where}.vars.${name}`
        if (!Array.isArray(value)) return [name, [textOf(place, value)]]
        return typeof value[0] === "string"
          ? [name, value.map((one, index) => textOf(`${place}[${index}]`, one))]
          : refuse(place, value, "a text, a number, a truth value, or a list of texts")
      })
    ),
    assert: assertions.map((assertion, index) => ({
      where: `${where}.assert[${index}]`,
      assertion: record(`${where}.assert[${index}]`, assertion, ["type", "value", "weight", "metric"])
    }))
  }
}

/** A test for each combination of the values of its variables, the last one changing fastest. */
const combinations = (vars: Test["vars"]): ReadonlyArray<Template.Values> =>
  Object.entries(vars).reduce<ReadonlyArray<Template.Values>>(
    (all, [name, values]) => all.flatMap((one) => values.map((value) => ({ ...one, [name]: value }))),
    [{}]
  )

const jobOf = (where: string, prompts: ReadonlyArray<string>, given: Template.Values, assert: Test["assert"]): Job => {
  const vars = Template.resolve(given)
  const used = [...new Set(prompts.flatMap(Template.names))].map((name): readonly [string, string] => {
    const value = Object.hasOwn(vars, name) ? vars[name] : undefined
    if (value === undefined) return refuse(`${where}.vars`, given, `a value of {{${name}}}, which a prompt uses`)
    return [
      name,
      Template.rendered(value, vars) ??
        refuse(
          `${where}.vars.${name}`,
          value,
          `a text without ${Template.foreign(value)}: of Nunjucks, only {{ name }} is read`
        )
    ]
  })
  const variables = Object.fromEntries(used)
  for (const prompt of prompts) assertText(where, Template.fill(prompt, variables))
  if (assert.length === 0) return refuse(`${where}.assert`, [], "at least one assertion, here or in defaultTest")
  const checks = assert.map((one) => checkOf(one.where, one.assertion, vars))
  const expected = checks.flatMap((check) =>
    check.kind === "promptfoo" && check.type === "equals" && !check.not ? [shown(check.value)] : []
  )
  return {
    case: { input: lines(used), ...(expected[0] === undefined ? {} : { expected: expected[0] }) },
    asked: { variables },
    checks
  }
}

const checkOf = (
  where: string,
  { type: written, value = null, weight = null }: Readonly<Record<string, unknown>>,
  vars: Template.Values
): Check => {
  if (weight !== null && !(typeof weight === "number" && weight >= 0 && Number.isFinite(weight)))
    return refuse(`${where}.weight`, weight, "a number of at least 0")
  const weighed = weight === null ? {} : { weight }
  const filled = (place: string, text: string): string => {
    if (text.startsWith("file://")) return refuse(place, text, inline)
    const missing = Template.names(text).find((name) => !Object.hasOwn(vars, name))
    if (missing !== undefined)
      return refuse(place, text, `a text that uses variables of its test; {{${missing}}} is none`)
    return assertTemplate(place, text, Template.fill(text, vars))
  }
  if (written === "llm-rubric")
    return typeof value === "string" && value.trim() !== ""
      ? { kind: "judge", rubric: filled(`${where}.value`, value), ...weighed }
      : refuse(`${where}.value`, value, inline)
  const not = typeof written === "string" && written.startsWith("not-")
  const type = PromptfooScore.types.find((known) => known === (not ? written.slice(4) : written))
  if (type === undefined)
    return refuse(
      `${where}.type`,
      written,
      `${PromptfooScore.types.join(", ")}, one of them after not-, or llm-rubric: others have no counterpart here`
    )
  const json = jsonOf(`${where}.value`, value)
  const assertion: PromptfooScore.Assertion = {
    type,
    not,
    value:
      typeof json === "string"
        ? filled(`${where}.value`, json)
        : Array.isArray(json)
          ? json.map((one, index) => (typeof one === "string" ? filled(`${where}.value[${index}]`, one) : one))
          : json
  }
  const problem = PromptfooScore.fault(assertion)
  return problem === null ? { kind: "promptfoo", ...assertion, ...weighed } : refuse(`${where}.value`, value, problem)
}

/** Two tests of the same variables and other assertions would be one case with two scores. */
const assertOneScore = (where: string, jobs: ReadonlyArray<Job>): void => {
  const known = new Map<string, string>()
  for (const job of jobs) {
    const one = JSON.stringify(job.case)
    const checks = JSON.stringify(job.checks)
    if ((known.get(one) ?? checks) !== checks)
      refuse(where, job.case.input, "one test of the same variables, with all of its assertions")
    known.set(one, checks)
  }
}

const promptOf = (where: string, prompts: unknown): string => {
  const [first, ...others] = Array.isArray(prompts) ? prompts : [prompts]
  if (others.length > 0) return refuse(where, prompts, "one prompt: the one to improve")
  const text = textOf(where, Predicate.isObject(first) ? record(where, first, ["raw", "label", "id"])["raw"] : first)
  if (isJson(text)) return refuse(where, text, oneText)
  assertTemplate(where, text, text)
  return Template.names(text).length > 0
    ? text
    : refuse(where, text, "a text that uses a variable of the tests, such as {{ticket}}")
}

/** promptfoo sends a text that looks like JSON or a list of roles as a conversation, or not at all. */
const assertText = (where: string, text: string): void => {
  const trimmed = text.trim()
  if (isJson(trimmed) || /^(?:\{[\s\S]*\}|\[[\s\S]*\]|- role:[\s\S]*)$/u.test(trimmed)) refuse(where, text, oneText)
}

const oneText = "a prompt that is no JSON and no list of roles: conversations have no counterpart here"

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Returns `result`, unless a template has syntax that is not a placeholder. */
const assertTemplate = (where: string, template: string, result: string): string => {
  const found = Template.foreign(template)
  return found === null
    ? result
    : refuse(where, found, "placeholders such as {{ name }}: nothing else of Nunjucks is read")
}

/** The only provider of a config, in the form of `--model`; one with settings of its own has no such form. */
const modelOf = (providers: unknown): string | null => {
  const [first, ...others] = Array.isArray(providers) ? providers : [providers]
  const id = Predicate.isObject(first) && !("config" in first) && "id" in first ? first.id : first
  const [, provider, model] =
    /^(openai|anthropic|google):(?:chat:|messages:)?([^:]+)$/u.exec(typeof id === "string" ? id : "") ?? []
  if (others.length > 0 || provider === undefined || model === undefined) return null
  return `${provider}:${model}`
}

/** An object with no other fields than those. */
const record = (where: string, value: unknown, known?: ReadonlyArray<string>): Readonly<Record<string, unknown>> => {
  if (!Predicate.isObject(value)) return refuse(where, value, "an object")
  const fields = Object.entries(value)
  for (const [name, found] of fields)
    if (known !== undefined && !known.includes(name))
      return refuse(`${where}.${name}`, found, `no such field: inspo reads ${known.join(", ")}`)
  return Object.fromEntries(fields)
}

/** A text, or a number or truth value as text; files are not read. */
const textOf = (where: string, value: unknown): string => {
  const json = jsonOf(where, value)
  if (typeof json === "number" || typeof json === "boolean") return String(json)
  return typeof json === "string" && json.trim() !== "" && !json.startsWith("file://")
    ? json
    : refuse(where, value, inline)
}

const inline = "a text in the config itself"

/** A value as it is written: YAML has dates and numbers that promptfoo would change. */
const jsonOf = (where: string, value: unknown): Schema.Json => {
  if (
    typeof value === "number" &&
    !(Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value)))
  )
    return refuse(where, String(value), "a number that is held exactly; write it in quotes")
  if (value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean")
    return value
  if (Array.isArray(value)) return value.map((one, index) => jsonOf(`${where}[${index}]`, one))
  if (!Predicate.isObject(value) || value instanceof Date) return refuse(where, value, "a text; write it in quotes")
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, jsonOf(`${where}.${name}`, field)]))
}

const shown = (value: Schema.Json): string => (typeof value === "string" ? value : JSON.stringify(value))

const isMissing = (value: unknown): boolean => value === undefined || value === null

const refuse = (where: string, value: unknown, expected: string): never => {
  const found = value === undefined ? "missing" : JSON.stringify(value)
  throw usageError(`${where} is ${found.length <= 100 ? found : `${found.slice(0, 99)}…`}; expected ${expected}.`)
}
