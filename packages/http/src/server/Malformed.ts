/** Finds what is wrong with the form of a request, without repeating the texts of the request. */
import { Predicate, SchemaAST, SchemaIssue } from "effect"

/** A fault of a body: where it is, and what was expected there, in at most 300 characters. */
export interface Problem {
  readonly path: ReadonlyArray<string | number>
  readonly expected: string
}

/** The faults of a body in the order of its schema, at least one. */
export const problems = (issue: SchemaIssue.Issue): readonly [Problem, ...ReadonlyArray<Problem>] => {
  const [first = { path: [], expected: "another value" }, ...others] = problemsAt(issue, [])
  return [first, ...others]
}

/** The fault at the longest path: within a union this is a fault of the member that was meant. */
export const deepest = (issue: SchemaIssue.Issue): Problem =>
  problems(issue).reduce((one, other) => (other.path.length > one.path.length ? other : one))

/** The value at a path of a body; undefined if there is none. */
export const valueAt = (body: unknown, path: Problem["path"]): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      Predicate.isObjectOrArray(value) && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined,
    body
  )

/** A text of at most so many characters and an ellipsis. */
export const clipped = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text)

/** A value as JSON in at most 100 characters; `missing` if it is undefined. */
export const shown = (value: unknown, missing: string): string =>
  value === undefined ? missing : clipped(JSON.stringify(value), 100)

/** `rewards[3].value`, in at most 200 characters. */
export const fieldOf = (path: Problem["path"]): string =>
  clipped(
    path
      .map((key, index) => (typeof key === "number" || /^\d+$/u.test(key) ? `[${key}]` : index === 0 ? key : `.${key}`))
      .join(""),
    200
  )

interface Context {
  /** The schema of the object that a missing field belongs to. */
  readonly parent?: SchemaAST.AST | undefined
  /** What an enclosing check expects. */
  readonly check?: string | undefined
}

const problemsAt = (issue: SchemaIssue.Issue, path: Problem["path"], context: Context = {}): ReadonlyArray<Problem> => {
  const one = (expected: string) => [
    { path, expected: clipped((context.check ?? expected).replaceAll(/\s+/gu, " "), 300) }
  ]
  switch (issue._tag) {
    case "Composite":
      return issue.issues.flatMap((inner) => problemsAt(inner, path, { ...context, parent: issue.ast }))
    case "AnyOf":
      return issue.issues.length === 0
        ? one(nameOf(issue.ast))
        : issue.issues.flatMap((inner) => problemsAt(inner, path, context))
    case "Filter":
      return problemsAt(issue.issue, path, { ...context, check: context.check ?? checked(issue) })
    case "Encoding":
      return problemsAt(issue.issue, path, context)
    case "Pointer":
      return problemsAt(issue.issue, [...path, ...issue.path.map(keyOf)], context)
    case "InvalidType":
      return one(nameOf(issue.ast))
    case "InvalidValue":
      return one(annotated(issue.annotations) ?? "a valid value")
    case "MissingKey":
      return one(`${fieldName(context.parent, path.at(-1))}; the field is required`)
    case "UnexpectedKey":
      return one("no such field: it is not known here")
    case "OneOf":
      return one("a value of exactly one of its kinds")
    case "Forbidden":
      return one("a value that is allowed here")
  }
}

/** What a check expects; undefined if the issue within it has a path of its own. */
const checked = ({ filter, issue }: SchemaIssue.Filter): string | undefined =>
  issue._tag === "InvalidValue"
    ? (annotated(issue.annotations) ?? annotated(filter.annotations) ?? "a valid value")
    : undefined

const annotated = (annotations: Readonly<Record<string, unknown>> | undefined): string | undefined => {
  const expected = annotations?.["message"] ?? annotations?.["expected"]
  return typeof expected === "string" ? expected.replace(/^Expected /u, "") : undefined
}

/** What the schema of an object expects in a field. */
const fieldName = (parent: SchemaAST.AST | undefined, key: string | number | undefined): string => {
  const field =
    parent !== undefined && SchemaAST.isObjects(parent)
      ? parent.propertySignatures.find(({ name }) => name === key)?.type
      : undefined
  return field === undefined ? "a value" : nameOf(field)
}

/** What a schema expects. The formatter writes this behind `Expected`; the issue has no input that it could show. */
const nameOf = (ast: SchemaAST.AST): string =>
  formatted(new SchemaIssue.InvalidType(ast)).issues[0]?.message.replace(/^Expected /u, "") ?? "a value"

const formatted = SchemaIssue.makeFormatterStandardSchemaV1()

const keyOf = (key: PropertyKey): string | number => (typeof key === "number" ? key : String(key))
