/** A request whose form is wrong, as the field, its value, what was expected and how to mend it. */
import { Malformed } from "@inspo/http-server"
import { SchemaIssue } from "effect"
import type { HttpApiError } from "effect/http-api"
import { InvalidRequest } from "../Errors.ts"

/** The first thing that is wrong with a request. */
export const problem = ({ cause, kind }: HttpApiError.HttpApiSchemaError): InvalidRequest => {
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
