/** The assertions of promptfoo that need no model, with its scores. */
import { isDeepStrictEqual } from "node:util"
import { runInNewContext } from "node:vm"
import { Array as Arr, Option, Predicate, Result, type Schema } from "effect"

/** An assertion whose templates are filled in; `not` turns it round. */
export interface Assertion {
  readonly not: boolean
  readonly type: Type
  readonly value: Schema.Json
}

export const types = [
  "equals",
  "contains",
  "icontains",
  "contains-any",
  "icontains-any",
  "contains-all",
  "icontains-all",
  "starts-with",
  "regex",
  "is-json"
] as const
export type Type = (typeof types)[number]

/** What is wrong with the value of an assertion, as a phrase after "expected"; null if it can be used. */
export const fault = ({ type, value }: Assertion): string | null => {
  switch (type) {
    case "equals":
      return value === null ? "a text, a number, a truth value, a list or an object" : null
    case "contains":
    case "icontains":
      return (typeof value === "string" && value !== "") || typeof value === "number" ? null : "a text or a number"
    case "contains-any":
    case "icontains-any":
    case "contains-all":
    case "icontains-all":
      return partsOf(value).length > 0 && !(typeof value === "string" && value.includes('"'))
        ? null
        : "a list of texts and numbers, or texts without quotes between commas"
    case "starts-with":
      return typeof value === "string" && value !== "" ? null : "a text"
    case "regex":
      return typeof value === "string" && value !== "" && Result.isSuccess(Result.try(() => new RegExp(value, "")))
        ? null
        : "a regular expression of JavaScript, whose flags have the form (?i:…)"
    case "is-json":
      return value === null ? null : "none: JSON Schemas have no counterpart here"
  }
}

/** 1 or 0 for an assertion without a {@link fault}; null if its regular expression takes longer than a second. */
export const score = (assertion: Assertion, output: string): 0 | 1 | null => {
  const found = holds(assertion, output)
  return found === null ? null : found === assertion.not ? 0 : 1
}

const holds = ({ type, value }: Assertion, output: string): boolean | null => {
  const text = typeof value === "object" ? JSON.stringify(value) : String(value)
  const contains = (part: string | number) => output.includes(String(part))
  const containsFolded = (part: string | number) => output.toLowerCase().includes(String(part).toLowerCase())
  switch (type) {
    case "equals":
      return Predicate.isObjectKeyword(value)
        ? Option.exists(readJson(output), (found) => isDeepStrictEqual(value, found))
        : text === output
    case "contains":
      return contains(text)
    case "icontains":
      return containsFolded(text)
    case "contains-any":
      return partsOf(value).some(contains)
    case "icontains-any":
      return partsOf(value).some(containsFolded)
    case "contains-all":
      return partsOf(value).every(contains)
    case "icontains-all":
      return partsOf(value).every(containsFolded)
    case "starts-with":
      return output.startsWith(text)
    case "regex":
      return matches(text, output)
    case "is-json":
      return Option.isSome(readJson(output))
  }
}

/** In bounded time, whatever a model wrote. */
const matches = (pattern: string, output: string): boolean | null =>
  Result.getOrElse(
    Result.try((): boolean | null =>
      Boolean(runInNewContext("new RegExp(pattern).test(output)", { pattern, output }, { timeout: 1000 }))
    ),
    () => null
  )

/** The parts of a list, or of a text with commas; none of anything else. */
const partsOf = (value: Schema.Json): ReadonlyArray<string | number> =>
  typeof value === "string"
    ? Arr.filter(
        value.split(",").map((part) => part.trim()),
        (part) => part !== ""
      )
    : Array.isArray(value) && value.every((part) => typeof part === "string" || typeof part === "number")
      ? value
      : []

const readJson = (text: string): Option.Option<unknown> =>
  Result.getSuccess(Result.try((): unknown => JSON.parse(text)))
