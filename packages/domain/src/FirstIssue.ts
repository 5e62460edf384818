import { Predicate, SchemaIssue } from "effect"

/** Where a value differs from a schema first: the dotted path, what is there (undefined if nothing is), and what was expected. */
export interface FirstIssue {
  /** Empty for the whole value. */
  readonly field: string
  readonly value: unknown
  /** Without "Expected" in front. */
  readonly expected: string
}

/**
 * The first issue of a value.
 *
 * @example
 * ```ts
 * import { FirstIssue } from "@inspo/domain"
 * import { Result, Schema } from "effect"
 *
 * const value = { reward: "high" }
 * const found = Schema.decodeUnknownResult(Schema.Struct({ reward: Schema.Finite }))(value)
 * if (Result.isFailure(found)) console.log(FirstIssue.of(found.failure.issue, value))
 * // { field: 'reward', value: 'high', expected: 'number' }
 * ```
 */
export const of = (issue: SchemaIssue.Issue, whole: unknown): FirstIssue => {
  const [first] = format(issue).issues
  const path = (first?.path ?? []).map((key) => (typeof key === "object" ? key.key : key))
  const [expected = ""] = (first?.message ?? "another value").split(", got ")
  return {
    field: path.map(String).join("."),
    value: path.reduce<unknown>((value, key) => (Predicate.hasProperty(value, key) ? value[key] : undefined), whole),
    expected: expected.replace(/^Expected /u, "")
  }
}

const format = SchemaIssue.makeFormatterStandardSchemaV1()
