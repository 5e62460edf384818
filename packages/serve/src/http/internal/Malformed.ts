/** Reports a malformed request as the field, its value, what was expected, and how to fix it. */
import { Malformed } from "@inspo/http/server"
import { Predicate, SchemaIssue } from "effect"
import type { HttpApiError } from "effect/http-api"
import { InvalidRequest } from "../../wire/Errors.ts"

/** The fault of a request, the deepest of several. */
export const problem = ({ cause: { issue }, kind }: HttpApiError.HttpApiSchemaError): InvalidRequest => {
  const input = inputOf(issue)
  const isDeep = depth(input) > deepestValue
  const fault = isDeep ? tooDeep : Malformed.deepest(issue)
  const field = fault.path.length === 0 ? places[kind] : Malformed.fieldOf(fault.path)
  return new InvalidRequest({
    field,
    value: isDeep
      ? `nested in more than ${deepestValue} levels`
      : Malformed.shown(Malformed.valueAt(input, fault.path), "absent"),
    expected: fault.expected,
    remedy: `Look up ${field} in /openapi.json`,
    detail: `${field}: expected ${fault.expected}`
  })
}

/** No request of the API is nested half as deeply. A deeper value cannot be printed without a stack overflow. */
const deepestValue = 32

const tooDeep: Malformed.Problem = { path: [], expected: `at most ${deepestValue} levels of arrays and objects` }

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

/** What was parsed; a filter or an encoding wraps the issue that holds it. */
const inputOf = (issue: SchemaIssue.Issue): unknown => {
  if (SchemaIssue.hasInput(issue)) return issue.input
  return issue._tag === "Filter" || issue._tag === "Encoding" ? inputOf(issue.issue) : undefined
}
