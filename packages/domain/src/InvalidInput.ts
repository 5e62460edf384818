/** Checks of the arguments of the core's pure functions. */

/** A value that is not as `expected`: `where` names the function, `field` the argument. */
export interface Given {
  readonly where: string
  readonly field: string
  readonly value: unknown
  readonly expected: string
}

/** An invalid argument. Thrown, since it is a bug of the caller. Without a schema, so that pure functions load none. */
export class InvalidInput extends Error {
  readonly _tag = "InvalidInput"
  override readonly name = "InvalidInput"
  readonly where: string
  readonly field: string
  readonly value: string
  readonly expected: string

  constructor({ expected, field, value, where }: Given) {
    const shown = typeof value === "string" ? value : show(value)
    super(`${where}: ${sentence({ field, value: shown, expected })}`)
    this.where = where
    this.field = field
    this.value = shown
    this.expected = expected
  }
}

/** What all errors say of a value that is not as expected. */
export const sentence = ({
  expected,
  field,
  value
}: Readonly<Record<"expected" | "field" | "value", string>>): string => `${field} is ${value}; expected ${expected}`

/** Throws {@link InvalidInput}. */
export const refuse = (given: Given): never => {
  throw new InvalidInput(given)
}

/** Refuses a number that is not whole and at least `least`. */
export const assertCount = (where: string, field: string, value: number, least: number): void => {
  if (!(Number.isSafeInteger(value) && value >= least))
    refuse({ where, field, value, expected: `a whole number of at least ${least}` })
}

/** Refuses rewards outside [0, 1], and NaN. */
export const assertRewards = (where: string, field: string, rewards: ReadonlyArray<number>): void => {
  for (const [index, value] of rewards.entries())
    if (!(value >= 0 && value <= 1))
      refuse({ where, field: `${field}[${index}]`, value, expected: "a reward in [0, 1]; scale rewards first" })
}

const show = (value: unknown): string =>
  typeof value === "number" ? String(value) : (JSON.stringify(value) ?? "nothing")
