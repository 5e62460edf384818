/** The share of each instruction in all draws. Pure: loads no schema and no service. */
import * as InvalidInput from "@inspo/domain/InvalidInput"
import type { Instruction } from "@inspo/domain"

/** The value of an instruction, such as w_j (Eq. 6), and its probability of being the best, where it is computed. */
export interface Value {
  readonly id: Instruction.InstructionId
  readonly value: number
  readonly chance?: number
}

/**
 * softmax(w / τ) (Eq. 4), in the order of `values`. Shifted by the largest value, so that no value and no temperature
 * above 0 overflows. Throws `InvalidInput` on any other, and on a value that is not finite.
 *
 * @example
 * ```ts
 * import { Shares } from "@inspo/sampler"
 *
 * Shares.softmax([0, 0.4], 0.2) // [0.119…, 0.880…]
 * ```
 */
export const softmax = (values: ReadonlyArray<number>, temperature: number): ReadonlyArray<number> => {
  if (!(temperature > 0 && temperature < Infinity))
    InvalidInput.refuse({
      where: "Shares",
      field: "temperature",
      value: temperature,
      expected: "a finite number above 0"
    })
  for (const [index, value] of values.entries())
    if (!Number.isFinite(value))
      InvalidInput.refuse({ where: "Shares", field: `values[${index}]`, value, expected: "a finite number" })
  const largest = values.reduce((a, b) => Math.max(a, b), -Infinity)
  const scores = values.map((value) => Math.exp((value - largest) / temperature))
  const total = scores.reduce((a, b) => a + b, 0)
  return scores.map((score) => score / total)
}

/**
 * Thompson shares: each instruction in proportion to its probability of being the best, plus a floor of 0.02, so that
 * evidence about every instruction keeps coming in. Throws `InvalidInput` on a value without that probability.
 */
export const thompson = (values: ReadonlyArray<Value>): ReadonlyArray<number> => {
  const weights = values.map(({ chance, id }) => {
    if (chance === undefined)
      return InvalidInput.refuse({
        where: "Shares",
        field: `chance of ${id}`,
        value: chance,
        expected: "P(best), in [0, 1]"
      })
    return chance + floor
  })
  const total = weights.reduce((a, b) => a + b, 0)
  return weights.map((weight) => weight / total)
}

/** The share of an instruction that is never the best, before normalisation. */
const floor = 0.02
