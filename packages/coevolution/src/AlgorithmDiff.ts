/** Whether a run that began with one algorithm can continue with another: only if they are equal. */
import { Equal, Predicate } from "effect"
import type { Algorithm } from "./Algorithm.ts"

/** A setting that must not differ within one run but does; a value is undefined if the setting does not exist. */
export interface Difference {
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}

/** The settings that differ. Without any, a run that began with `before` can continue with `after`. */
export const of = (before: Algorithm, after: Algorithm): ReadonlyArray<Difference> => compare(before, after, [])

/** A difference as text: the setting, its value now and its value before. */
export const describe = ({ after, before, field }: Difference): string =>
  `${field} is ${written(after)}, but was ${written(before)} when the run began`

const written = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "missing"
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`
}

/** Most characters of a value that are shown; instructions can be long. */
const longest = 60

const compare = (before: unknown, after: unknown, path: ReadonlyArray<string>): ReadonlyArray<Difference> => {
  if (isSection(before) && isSection(after))
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((key) =>
      compare(before[key], after[key], [...path, key])
    )
  return Equal.equals(before, after) ? [] : [{ field: path.join("."), before, after }]
}

const isSection = (node: unknown): node is Readonly<Record<string, unknown>> =>
  Predicate.isObjectKeyword(node) && !Array.isArray(node)
