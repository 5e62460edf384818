/** The laws of every sampler. */
import { Instruction, Question } from "@inspo/domain"
import { Law } from "@inspo/domain/testing"
import { Arbitrary, Schema } from "effect"
import type { Interface, Request } from "../Sampler.ts"

/**
 * The laws of a `Sampler.Interface`. They say nothing of whom a sampler prefers. That draws follow the shares is tested with a
 * tolerance of five standard errors.
 */
export const laws = (
  { assign, probabilities }: Pick<Interface, "assign" | "probabilities">,
  options?: Law.Options
): ReadonlyArray<Law.Law> => {
  const forAll = (name: string, holds: (request: Request) => void) => Law.forAll(name, requests, options, holds)
  const shares = (values: Request["values"]) => {
    const found = probabilities(values)
    Law.same(found.length, values.length, "the number of shares")
    return found
  }
  const count = (request: Request) => assign(request).flat().length
  return [
    forAll("shares are in [0, 1], one for each instruction, and sum to 1", ({ values }) => {
      const found = shares(values)
      for (const share of found) Law.expect(share >= 0 && share <= 1, `a share is ${share}`)
      const total = found.reduce((sum, share) => sum + share, 0)
      Law.expect(values.length === 0 || close(total, 1, 1e-9), `the shares sum to ${total}`)
    }),

    forAll("a share belongs to its instruction, whatever the order of values", ({ values }) => {
      const [there, back] = [shares(values), shares(values.toReversed()).toReversed()]
      for (const [place, share] of there.entries())
        Law.expect(
          close(share, back[place] ?? NaN, 1e-12),
          `the share of ${values[place]?.id} is ${share} and ${back[place]}`
        )
    }),

    forAll("each question has a list of draws from the given instructions, empty without any", (request) => {
      const drawn = assign(request)
      Law.same(drawn.length, request.questions.length, "the number of lists")
      const given = request.values.map(({ id }) => id)
      for (const id of drawn.flat()) Law.expect(given.includes(id), `${id} is drawn from ${given.join() || "nothing"}`)
    }),

    forAll("the number of draws depends on the questions alone", (request) => {
      const [first] = request.values
      if (first !== undefined) Law.same(count(request), count({ ...request, values: [first] }), "the number of draws")
    }),

    forAll("equal requests have equal draws, whatever the order of values", (request) => {
      const drawn = assign(request)
      Law.same(assign(request), drawn, "the draws of the same request")
      Law.same(assign({ ...request, values: request.values.toReversed() }), drawn, "the draws of the reversed values")
    }),

    Law.forAll(
      "instructions are drawn as often as their shares say",
      uneven,
      { ...options, runs: Math.min(5, options?.runs ?? 5) },
      (request) => {
        const found = shares(request.values)
        const drawn = Array.from({ length: steps }, (_, step) => assign({ ...request, step }).flat()).flat()
        for (const [place, { id }] of request.values.entries()) {
          const share = found[place] ?? NaN
          const error = Math.sqrt((share * (1 - share)) / steps)
          const frequency = drawn.filter((one) => one === id).length / drawn.length
          Law.expect(
            close(frequency, share, 5 * error + 1e-9),
            `the share of ${id} is ${share}, and ${frequency} of the draws`
          )
        }
      }
    )
  ]
}

/** Steps over which draws are counted: those of one step may depend on each other. */
const steps = 2000

const close = (one: number, other: number, tolerance: number): boolean => Math.abs(one - other) <= tolerance

/** Requests for instructions of different values, each with its P(best), to questions of two sources. */
const requestsOf = (fewest: { readonly values: number; readonly questions: number }): Arbitrary.Arbitrary<Request> =>
  Arbitrary.map(
    Arbitrary.schema(
      Schema.Struct({
        seed: Schema.Int,
        step: Schema.Literals([1, 2, 30]),
        weights: Schema.Array(Schema.Literals([1, 2, 3, 5, 9])).check(
          Schema.isMinLength(fewest.values),
          Schema.isMaxLength(6)
        ),
        sources: Schema.Array(Schema.Literals(["nq", "hotpotqa"])).check(
          Schema.isMinLength(fewest.questions),
          Schema.isMaxLength(7)
        )
      })
    ),
    ({ seed, sources, step, weights }) => {
      const total = weights.reduce((sum, weight) => sum + weight, 0)
      return {
        seed,
        step,
        values: weights.map((weight, index) => ({
          id: Instruction.InstructionId.make(`i${index}`),
          value: weight / 10,
          chance: weight / total
        })),
        questions: sources.map((dataSource, index) => ({ id: Question.QuestionId.make(`q${index}`), dataSource }))
      }
    }
  )

const requests = requestsOf({ values: 0, questions: 0 })
const uneven = requestsOf({ values: 2, questions: 1 })
