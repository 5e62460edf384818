/** A request whose form is wrong, as the field, its value, what was expected and how to mend it. */
import { Predicate, SchemaIssue } from "effect"
import type { HttpApiError } from "effect/http-api"
import { InvalidRequest } from "../Errors.ts"

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
  const { message, path } = deepest(cause.issue)
  const field = path.length === 0 ? places[kind] : fieldOf(path)
  return new InvalidRequest({
    field,
    value: printed(valueOf(cause.issue, path)),
    expected: message.replace(/^Expected /u, "").replace(/, got .*$/su, ""),
    remedy: `Look at ${field} in /openapi.json`,
    detail: `${field}: ${message}`
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

interface Found {
  readonly path: ReadonlyArray<string | number>
  readonly message: string
}

/** Of several things that are wrong the one that lies deepest: of a union that is the member that was meant. */
const deepest = (issue: SchemaIssue.Issue): Found => {
  const found = formatted(issue).issues.map(({ message, path = [] }): Found => ({
    message,
    path: path.map((segment) => {
      const key = typeof segment === "object" ? segment.key : segment
      return typeof key === "number" ? key : String(key)
    })
  }))
  const [first = { message: `Expected another value (${issue._tag})`, path: [] }] = found
  return found.reduce((one, other) => (other.path.length > one.path.length ? other : one), first)
}

const formatted = SchemaIssue.makeFormatterStandardSchemaV1()

/** `rewards[3].value`, as one would write it. */
const fieldOf = (path: Found["path"]): string =>
  path
    .map((key, index) => (typeof key === "number" || /^\d+$/u.test(key) ? `[${key}]` : index === 0 ? key : `.${key}`))
    .join("")

/** What was given there, for a person: short, and `absent` where nothing was. */
const printed = (value: unknown): string => {
  if (value === undefined) return "absent"
  const text = JSON.stringify(value)
  return text.length > longest ? `${text.slice(0, longest)}…` : text
}

const longest = 100

const valueOf = (issue: SchemaIssue.Issue, path: Found["path"]): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      Predicate.isObjectOrArray(value) && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined,
    inputOf(issue)
  )

/** What was parsed; filters and encodings wrap the issue that knows it. */
const inputOf = (issue: SchemaIssue.Issue): unknown => {
  if (SchemaIssue.hasInput(issue)) return issue.input
  return issue._tag === "Filter" || issue._tag === "Encoding" ? inputOf(issue.issue) : undefined
}
