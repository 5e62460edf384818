/** What stands and what is asked for, compared. */
import { Equal } from "effect"
import type { Conflict } from "../Errors.ts"

type Difference = Conflict["differences"][number]

/** The fields of a value that differ, by their paths; arrays are compared whole. */
export const between = (
  stands: Readonly<Record<string, Difference["stands"]>>,
  given: Readonly<Record<string, Difference["given"]>>
): ReadonlyArray<Difference> =>
  Object.keys(given).flatMap((field) => {
    const was = stands[field] ?? null
    const is = given[field] ?? null
    return Equal.equals(was, is) ? [] : [{ field, stands: was, given: is }]
  })
