/** Checks of the arguments of the core's pure functions. */
import { Schema } from "effect"
import { isReward } from "./Trajectory.ts"

/** An invalid argument. `where` names the function, `field` the argument. Thrown, since it is a bug of the caller. */
export class InvalidInput extends Schema.TaggedError<InvalidInput>()("InvalidInput", {
  where: Schema.String,
  field: Schema.String,
  value: Schema.String,
  expected: Schema.String
}) {
  override get message() {
    return `${this.where}: ${this.field} is ${this.value}; expected ${this.expected}`
  }
}

/** A value that is not as `expected`. */
export interface Given {
  readonly where: string
  readonly field: string
  readonly value: unknown
  readonly expected: string
}

/** Throws {@link InvalidInput}. */
export const refuse = ({ expected, field, value, where }: Given): never => {
  throw new InvalidInput({ where, field, value: typeof value === "string" ? value : show(value), expected })
}

/** Refuses a number that is not whole and at least `least`. */
export const assertCount = (where: string, field: string, value: number, least: number): void => {
  if (!(Number.isSafeInteger(value) && value >= least))
    refuse({ where, field, value, expected: `a whole number of at least ${least}` })
}

/** Refuses rewards outside [0, 1], and NaN. */
export const assertRewards = (where: string, field: string, rewards: ReadonlyArray<number>): void => {
  for (const [index, value] of rewards.entries())
    if (!isReward(value))
      refuse({ where, field: `${field}[${index}]`, value, expected: "a reward in [0, 1]; scale rewards first" })
}

const show = (value: unknown): string =>
  typeof value === "number" ? String(value) : (JSON.stringify(value) ?? "nothing")
