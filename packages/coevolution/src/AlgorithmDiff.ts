/** Whether a run that began with one algorithm may go on with another: only where they are equal. */
import { Equal, Predicate } from "effect"
import type { Algorithm } from "./Algorithm.ts"

/** A setting that may not differ within one run and does; a value is undefined where there is no such setting. */
export interface Difference {
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}

/** The settings in which `after` is another algorithm than `before`. None: a run that began with one may go on with the other. */
export const of = (before: Algorithm, after: Algorithm): ReadonlyArray<Difference> => compare(before, after, [])

/** A difference in words: the setting, what it is and what it was. */
export const tell = ({ after, before, field }: Difference): string =>
  `${field} is ${written(after)}, but was ${written(before)} when the run began`

const written = (value: unknown): string => {
  const text = JSON.stringify(value) ?? "missing"
  return text.length <= longest ? text : `${text.slice(0, longest - 1)}…`
}

/** Characters of a value that are shown, so that an instruction does not bury the name of its setting. */
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
