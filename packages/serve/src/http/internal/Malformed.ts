/** A request whose form is wrong, as the field, its value, what was expected and how to mend it. */
import { Malformed } from "@inspo/http/server"
import { Predicate, SchemaIssue } from "effect"
import type { HttpApiError } from "effect/http-api"
import { InvalidRequest } from "../../wire/Errors.ts"

/** The first thing that is wrong with a request. */
export const problem = ({ cause, kind }: HttpApiError.HttpApiSchemaError): InvalidRequest => {
  if (depth(inputOf(cause.issue)) > deepestValue)
    return new InvalidRequest({
      field: places[kind],
      value: `nested in more than ${deepestValue} levels`,
      expected: `at most ${deepestValue} levels of arrays and objects`,
      remedy: `Look at ${places[kind]} in /openapi.json`,
      detail: `${places[kind]}: arrays and objects are nested too deeply`
    })
  const { expected, path } = deepest(cause.issue)
  const field = path.length === 0 ? places[kind] : Malformed.fieldOf(path)
  return new InvalidRequest({
    field,
    value: printed(Malformed.valueAt(inputOf(cause.issue), path)),
    expected,
    remedy: `Look at ${field} in /openapi.json`,
    detail: `${field}: expected ${expected}`
  })
}

/** No request of the API nests half as deeply; what does cannot be shown without using up the stack. */
const deepestValue = 32

/** How deeply a value is nested, as far as {@link deepestValue} and one more. */
const depth = (value: unknown): number => {
  let level = [value].filter(Predicate.isObjectOrArray)
  let levels = 0
  while (level.length > 0 && levels <= deepestValue) {
    levels++
    level = level.flatMap((one) => Object.values(one)).filter(Predicate.isObjectOrArray)
  }
  return levels
}

const places: Readonly<Record<HttpApiError.HttpApiSchemaError["kind"], string>> = {
  Params: "path",
  Headers: "headers",
  Query: "query",
  Payload: "body",
  Body: "answer",
  ResponseHeaders: "answer"
}

/** Of several faults the deepest: of a union that is the member that was meant. */
const deepest = (issue: SchemaIssue.Issue): Malformed.Problem =>
  Malformed.problems(issue).reduce((one, other) => (other.path.length > one.path.length ? other : one))

/** What was given there, for a person: short, and `absent` where nothing was. */
const printed = (value: unknown): string => {
  if (value === undefined) return "absent"
  return Malformed.clipped(JSON.stringify(value), longest)
}

const longest = 100

/** What was parsed; filters and encodings wrap the issue that knows it. */
const inputOf = (issue: SchemaIssue.Issue): unknown => {
  if (SchemaIssue.hasInput(issue)) return issue.input
  return issue._tag === "Filter" || issue._tag === "Encoding" ? inputOf(issue.issue) : undefined
}
