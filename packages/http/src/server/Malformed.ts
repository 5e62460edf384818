/** What is wrong with the form of a request, without the texts of the request. */
import { Predicate, SchemaAST, SchemaIssue } from "effect"

/** A fault of a body: where it is, and what was expected there, in at most 300 characters. */
export interface Problem {
  readonly path: ReadonlyArray<string | number>
  readonly expected: string
}

/** The faults of a body in the order of its schema, at least one. */
export const problems = (issue: SchemaIssue.Issue): readonly [Problem, ...ReadonlyArray<Problem>] => {
  const missing = new Map(missingKeys(issue, [], undefined))
  const [first = { path: [], expected: "another value" }, ...others] = formatted(issue).issues.map(
    ({ message, path = [] }): Problem => {
      const keys = path.map((segment) => keyOf(typeof segment === "object" ? segment.key : segment))
      return { path: keys, expected: clipped(missing.get(JSON.stringify(keys)) ?? withoutInput(message), 300) }
    }
  )
  return [first, ...others]
}

/** The value at a path of a body; undefined where there is none. */
export const valueAt = (body: unknown, path: Problem["path"]): unknown =>
  path.reduce<unknown>(
    (value, key) =>
      Predicate.isObjectOrArray(value) && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined,
    body
  )

/** A text of at most so many characters and an ellipsis. */
export const clipped = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most)}…` : text)

/** `rewards[3].value`, in at most 200 characters. */
export const fieldOf = (path: Problem["path"]): string =>
  clipped(
    path
      .map((key, index) => (typeof key === "number" || /^\d+$/u.test(key) ? `[${key}]` : index === 0 ? key : `.${key}`))
      .join(""),
    200
  )

/** The paths of the missing fields, and what each should hold. */
const missingKeys = (
  issue: SchemaIssue.Issue,
  path: ReadonlyArray<string | number>,
  parent: SchemaAST.AST | undefined
): ReadonlyArray<readonly [path: string, expected: string]> => {
  switch (issue._tag) {
    case "Composite":
    case "AnyOf":
      return issue.issues.flatMap((inner) => missingKeys(inner, path, issue._tag === "Composite" ? issue.ast : parent))
    case "Filter":
    case "Encoding":
      return missingKeys(issue.issue, path, parent)
    case "Pointer":
      return missingKeys(issue.issue, [...path, ...issue.path.map(keyOf)], parent)
    case "MissingKey":
      return [[JSON.stringify(path), `${typeOf(parent, path.at(-1))}; the field is required`]]
    default:
      return []
  }
}

/** What the schema of an object expects in a field. */
const typeOf = (parent: SchemaAST.AST | undefined, key: string | number | undefined): string => {
  const field =
    parent !== undefined && SchemaAST.isObjects(parent)
      ? parent.propertySignatures.find(({ name }) => name === key)?.type
      : undefined
  if (field === undefined) return "a value"
  return withoutInput(formatted(new SchemaIssue.InvalidType(field)).issues[0]?.message ?? "a value")
}

const formatted = SchemaIssue.makeFormatterStandardSchemaV1()

const withoutInput = (message: string): string =>
  message
    .replace(/^Expected no excess property.*$|^Unexpected key with value .*$/su, "no such field: it is not known here")
    .replace(/^Invalid data .*$/su, "a valid value")
    .replace(/^Expected /u, "")
    .replace(/, got .*$/su, "")
    .replaceAll(/\s+/gu, " ")

const keyOf = (key: PropertyKey): string | number => (typeof key === "number" ? key : String(key))
