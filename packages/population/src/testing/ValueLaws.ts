/** The laws of the values of instructions. */
import { Law } from "@inspo/domain/testing"
import { Arbitrary, Option, Schema } from "effect"
import type { Interface } from "../Values.ts"
import { ids } from "../Population.ts"
import * as Populations from "./Populations.ts"

/**
 * The laws of an `Population.Interface`. A strategy with statistics of its own is observed by these, any other by those
 * of `recentSteps`.
 */
export const laws = (
  strategy: Pick<Interface, "best" | "values"> & Partial<Pick<Interface, "observe">>,
  options?: Law.Options
): ReadonlyArray<Law.Law> => {
  const { best, observe, values } = strategy
  const lived = (history: Populations.History) => Populations.lived(history, observe)
  const histories = Arbitrary.schema(Populations.History)
  return [
    Law.forAll("each member has one finite value, in the order of the population", histories, options, (history) => {
      const population = lived(history)
      const found = values(population)
      Law.same(
        found.map(({ id }) => id),
        ids(population),
        "the ids of the values"
      )
      for (const { id, value } of found) Law.expect(Number.isFinite(value), `the value of ${id} is ${value}`)
    }),

    Law.forAll("the best is a member, and none only of an empty population", histories, options, (history) => {
      const population = lived(history)
      const chosen = Option.map(best(population), ({ instruction }) => instruction.id)
      const members = ids(population)
      Law.expect(
        Option.isNone(chosen) ? members.length === 0 : members.includes(chosen.value),
        `the best is ${Option.getOrElse(chosen, () => "none")} of ${members.join()}`
      )
    }),

    Law.forAll("a higher reward does not lower the value of its instruction", raised, options, ({ history, index }) => {
      const valueWith = (reward: 0 | 1) => {
        const steps = [...history.steps, [{ member: index, question: null, rewards: [reward] as const }]]
        const population = Populations.lived({ ...history, resets: false, steps }, observe)
        const own = Populations.instruction(index).id
        return values(population).find(({ id }) => id === own)?.value ?? 0
      }
      const [low, high] = [valueWith(0), valueWith(1)]
      Law.expect(low <= high, `the value is ${low} after a reward of 0, and ${high} after 1`)
    }),

    Law.forAll("equal populations have equal values, and stay as they are", histories, options, (history) => {
      const population = lived(history)
      const before = [values(population), best(population)]
      Law.same([values(population), best(population)], before, "values and best of the same population")
      Law.same(population, lived(history), "the population")
    })
  ]
}

/** A history with the place of a member. */
const raised = Arbitrary.map(
  Arbitrary.schema(Schema.Struct({ history: Populations.History, place: Schema.Literals([0, 1, 2, 3, 4, 5]) })),
  ({ history, place }) => {
    const members = Math.max(1, history.members)
    return { history: { ...history, members }, index: place % members }
  }
)
