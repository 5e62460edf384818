/** Assertions that cost nothing while they hold, for laws that are checked millions of times. */
import { isDeepStrictEqual } from "node:util"
import { assert } from "@effect/vitest"

/** Deeply equal. */
export const same = <A>(actual: A, expected: A, what?: string): void => {
  if (!isDeepStrictEqual(actual, expected)) assert.deepStrictEqual(actual, expected, what)
}

/** At most 1e-12 apart; NaN is near nothing. */
export const near = (actual: number | null | undefined, expected: number | null | undefined, what?: string): void => {
  if (!(Math.abs((actual ?? NaN) - (expected ?? NaN)) <= 1e-12))
    assert.fail(actual, expected, `${what ?? "a number"}: ${actual} is not ${expected}`)
}

export const holds = (condition: boolean, what: string): void => {
  if (!condition) assert.fail(what)
}
