/** Reads a promptfoo config: one prompt, its tests, and the assertions that have a counterpart here. */
import { Predicate } from "effect"
import { UsageError } from "../Failure.ts"
import { type Check, fault, type Job } from "./Job.ts"
import { lines } from "./Rows.ts"
import * as Template from "./Template.ts"

export interface Promptfoo {
  readonly prompt: string
  readonly jobs: ReadonlyArray<Job>
  /** The provider as `--model` names it; null if the config names none. */
  readonly model: string | null
}

/** What a config holds, as it was parsed from YAML or JSON. Throws a `UsageError` that names what has no counterpart. */
export const read = (file: string, config: unknown): Promptfoo => {
  const at = (path: string) => `${file}: ${path}`
  const { defaultTest, prompts, providers, tests } = record(at("the config"), config, top)
  const prompt = promptOf(at("prompts"), prompts)
  const defaults = testOf(at("defaultTest"), defaultTest ?? {})
  if (!Array.isArray(tests) || tests.length === 0)
    return refuse(
      at("tests"),
      tests,
      "a list of tests; cases in a CSV file are an argument of `inspo evolve prompt.txt cases.csv`"
    )
  return {
    prompt,
    model: modelOf(providers),
    jobs: tests.map((test, index) => {
      const where = at(`tests[${index}]`)
      const own = testOf(where, test)
      return jobOf(where, prompt, {
        vars: { ...defaults.vars, ...own.vars },
        assert: [...defaults.assert, ...own.assert]
      })
    })
  }
}

const top = ["$schema", "description", "prompts", "providers", "defaultTest", "tests"]

interface Test {
  readonly vars: Readonly<Record<string, string>>
  readonly assert: ReadonlyArray<{ readonly where: string; readonly assertion: Readonly<Record<string, unknown>> }>
}

const testOf = (where: string, given: unknown): Test => {
  const { assert = [], vars = {} } = record(where, given, ["description", "vars", "assert"])
  if (!Array.isArray(assert)) return refuse(`${where}.assert`, assert, "a list of assertions")
  return {
    vars: Object.fromEntries(
      Object.entries(record(`${where}.vars`, vars)).map(([name, value]) => [
        name,
        textOf(`${where}.vars.${name}`, value)
      ])
    ),
    assert: assert.map((assertion, index) => ({
      where: `${where}.assert[${index}]`,
      assertion: record(`${where}.assert[${index}]`, assertion, ["type", "value"])
    }))
  }
}

const jobOf = (where: string, prompt: string, { assert, vars }: Test): Job => {
  const used = Template.names(prompt).map((name): readonly [string, string] => [
    name,
    vars[name] ?? refuse(`${where}.vars`, vars, `a value of {{${name}}}, which the prompt uses`)
  ])
  if (assert.length === 0) return refuse(`${where}.assert`, [], "at least one assertion, here or in defaultTest")
  const checks = assert.map((one) => checkOf(one.where, one.assertion, vars))
  const expected = checks.flatMap((check) =>
    check.kind === "built-in" && check.scorer.kind === "exact" ? [check.expected] : []
  )
  return {
    case: { input: lines(used), ...(expected[0] === undefined ? {} : { expected: expected[0] }) },
    asked: { variables: Object.fromEntries(used) },
    checks
  }
}

const checkOf = (
  where: string,
  { type, value }: Readonly<Record<string, unknown>>,
  vars: Readonly<Record<string, string>>
): Check => {
  const text = () => {
    const written = textOf(`${where}.value`, value)
    return assertTemplate(`${where}.value`, written, Template.fill(written, vars))
  }
  const builtIn = (scorer: Extract<Check, { readonly kind: "built-in" }>["scorer"], expected: string): Check => {
    const check: Check = { kind: "built-in", scorer, expected }
    const problem = fault(check)
    return problem === null ? check : refuse(`${where}.value`, value, problem)
  }
  switch (type) {
    case "equals":
      return Predicate.isObject(value)
        ? builtIn({ kind: "json" }, JSON.stringify(value))
        : builtIn({ kind: "exact", isCaseSensitive: true }, text())
    case "contains":
    case "icontains":
      return builtIn({ kind: "contains", isCaseSensitive: type === "contains" }, text())
    case "regex":
      return builtIn({ kind: "pattern" }, text())
    case "is-json":
      return value === undefined || value === null
        ? builtIn({ kind: "is-json" }, "")
        : refuse(`${where}.value`, value, "none: JSON Schemas have no counterpart here")
    case "llm-rubric":
      return { kind: "judge", rubric: text() }
    default:
      return refuse(
        `${where}.type`,
        type,
        "equals, contains, icontains, regex, is-json or llm-rubric: others have no counterpart here"
      )
  }
}

const promptOf = (where: string, prompts: unknown): string => {
  const [first, ...others] = Array.isArray(prompts) ? prompts : [prompts]
  if (others.length > 0) return refuse(where, prompts, "one prompt: the one to improve")
  const text = textOf(where, Predicate.isObject(first) ? record(where, first, ["raw", "label", "id"])["raw"] : first)
  if (/^\s*[[{]\s*(?:"|\{\s*"|-)/u.test(text))
    return refuse(where, text, "one text: conversations have no counterpart here")
  if (Template.names(text).length === 0)
    return refuse(where, text, "a text that uses a variable of the tests, such as {{ticket}}")
  return assertTemplate(where, text, text)
}

/** Returns `result`, unless a template has syntax that is not a placeholder. */
const assertTemplate = (where: string, template: string, result: string): string => {
  const found = Template.foreign(template)
  return found === null
    ? result
    : refuse(where, found, "placeholders such as {{ name }}: nothing else of Nunjucks is read")
}

/** The only provider of a config, in the form of `--model`. */
const modelOf = (providers: unknown): string | null => {
  if (providers === undefined) return null
  const [first, ...others] = Array.isArray(providers) ? providers : [providers]
  const [, provider, model] =
    /^(openai|anthropic|google):(?:chat:|messages:)?([^:]+)$/u.exec(typeof first === "string" ? first : "") ?? []
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
  if (typeof value === "number" || typeof value === "boolean") return String(value)
  if (typeof value !== "string" || value.trim() === "" || value.startsWith("file://"))
    return refuse(where, value, "a text in the config itself")
  return value
}

const refuse = (where: string, value: unknown, expected: string): never => {
  const found = value === undefined ? "missing" : JSON.stringify(value)
  throw new UsageError({
    problem: `${where} is ${found.length <= 100 ? found : `${found.slice(0, 99)}…`}; expected ${expected}.`
  })
}
