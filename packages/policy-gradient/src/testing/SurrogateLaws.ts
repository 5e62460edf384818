/** The laws of every loss. */
import { Law } from "@inspo/domain/testing"
import { Arbitrary, Schema } from "effect"
import type { Sequence, Surrogate } from "../Surrogate.ts"

export interface Options extends Law.Options {
  /** The weight of a token of advantage A at ratio 1, of a sequence of some length; by default A. */
  readonly atRatioOne?: (advantage: number, length: number) => number
}

/** The laws of a loss: its weights are the gradient of what is written, and at ratio 1 they are the advantages. */
export const laws = (
  { objective, weights }: Pick<Surrogate, "objective" | "weights">,
  { atRatioOne = (advantage) => advantage, ...options }: Options = {}
): ReadonlyArray<Law.Law> => [
  Law.forAll("at ratio 1 its weights are the advantages", sequences, options, (sequence) => {
    const found = weights({ ...sequence, logprobs: sequence.old })
    sequence.advantages.forEach((advantage, index) => {
      const expected = atRatioOne(advantage, sequence.old.length)
      const weight = found[index] ?? Number.NaN
      Law.expect(Math.abs(weight - expected) < 1e-9, `a weight at ratio 1 is ${weight}; expected ${expected}`)
    })
  }),

  Law.forAll("its weights are the gradient of its objective", sequences, options, (sequence) => {
    const found = weights(sequence)
    sequence.logprobs.forEach((_, index) => {
      const at = (by: number) =>
        objective(
          { ...sequence, logprobs: sequence.logprobs.with(index, (sequence.logprobs[index] ?? 0) + by) },
          {},
          sequence
        )
      const here = at(0)
      const slopes = [(here - at(-step)) / step, (at(step) - here) / step].map((one) => one * sequence.logprobs.length)
      // At a kink the two sides differ, and the gradient is that of either.
      const nearest = Math.min(...slopes.map((slope) => Math.abs(slope - (found[index] ?? Number.NaN))))
      Law.expect(nearest < 2e-3, `the weight of token ${index} is ${found[index]}; expected ${slopes.join(" or ")}`)
    })
  })
]

const step = 1e-6

const Within = (minimum: number, maximum: number) => Schema.Finite.check(Schema.isBetween({ minimum, maximum }))

const Token = Schema.Struct({ old: Within(-3, -0.1), log: Within(-1.5, 1.5), turn: Schema.Literals([0, 1, 2]) })

/** Sequences of one advantage, as those of a rollout without credit per turn. */
const sequences: Arbitrary.Arbitrary<Sequence> = Arbitrary.map(
  Arbitrary.schema(
    Schema.Struct({
      tokens: Schema.NonEmptyArray(Token).check(Schema.isMaxLength(6)),
      advantage: Schema.Literals([-1.3, -0.2, 0.4, 2])
    })
  ),
  ({ advantage, tokens }) => ({
    // At most certain.
    logprobs: tokens.map(({ log, old }) => Math.min(old + log, -0.01)),
    old: tokens.map(({ old }) => old),
    advantages: tokens.map(() => advantage),
    turns: tokens.map(({ turn }) => turn).toSorted((a, b) => a - b)
  })
)
