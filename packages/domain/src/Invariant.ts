/** Look-ups that always find a value unless the program has a bug; then they throw. */

/** A value that must be present is missing: a bug of the program. `missing` says what and where. */
export class InvariantBroken extends Error {
  readonly _tag = "InvariantBroken"
  override readonly name = "InvariantBroken"
  readonly missing: string

  constructor(missing: string) {
    super(`${missing} is missing. This is a bug: please report it with the steps to reproduce it`)
    this.missing = missing
  }
}

/**
 * The value at an index that must exist; `what` names the values.
 *
 * @example
 * ```ts
 * import { Invariant } from "@inspo/domain"
 *
 * Invariant.at([0.5, 1], 1, "reward") // 1
 * Invariant.at([0.5, 1], 2, "reward") // throws: reward 2 of 2 is missing
 * ```
 */
export const at = <A>(values: ArrayLike<A>, index: number, what: string): A => {
  const value = values[index]
  if (value === undefined) throw new InvariantBroken(`${what} ${index} of ${values.length}`)
  return value
}

/** The value of a key that must be present; `what` names the values. */
export const get = <K extends string | number, V>(values: ReadonlyMap<K, V>, key: K, what: string): V => {
  const value = values.get(key)
  if (value === undefined) throw new InvariantBroken(`${what} of ${key}`)
  return value
}

/** A value that must be present; `what` names it. */
export const present = <A>(value: A | null | undefined, what: string): A => {
  if (value === null || value === undefined) throw new InvariantBroken(what)
  return value
}

/** Pairs two lists that must be parallel; `what` names them. */
export const zip = <A, B>(
  left: ReadonlyArray<A>,
  right: ReadonlyArray<B>,
  what: string
): ReadonlyArray<readonly [A, B]> => {
  if (left.length !== right.length)
    throw new InvariantBroken(`one of ${what}, which are ${left.length} and ${right.length},`)
  return left.map((one, index) => [one, at(right, index, what)])
}
