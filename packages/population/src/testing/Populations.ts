/** Populations as they come about: members that were observed, added and removed. */
import { Instruction } from "@inspo/domain"
import { Arbitrary, Schema } from "effect"
import * as Population from "../Population.ts"

/** A member of {@link arbitrary}: `i0` is the seed, the others are its variants. */
export const instruction = (index: number): Instruction.Instruction => ({
  id: Instruction.InstructionId.make(`i${index}`),
  text: `instruction ${index}`,
  generation: 0,
  parent: null,
  origin: index === 0 ? "seed" : "variant",
  bornAt: 0
})

const between = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** The groups of a step: on a question that others share, or on one of their own. */
const Step = Schema.Array(
  Schema.Struct({
    member: between(0, 5),
    question: Schema.NullOr(Schema.Literals(["q0", "q1"])),
    rewards: Schema.NonEmptyArray(Schema.Literals([0, 0.5, 1])).check(Schema.isMaxLength(3))
  })
).check(Schema.isMaxLength(10))

/** What happens to the members of a population; `entrants` join after the last step. */
export const History = Schema.Struct({
  members: between(0, 6),
  steps: Schema.Array(Step).check(Schema.isMaxLength(8)),
  resets: Schema.Boolean,
  entrants: between(0, 2)
})
export interface History extends Schema.Schema.Type<typeof History> {}

/** The population after a history, by the statistics of `observe`. */
export const lived = (
  { entrants, members, resets, steps }: History,
  observe: Population.Interface["observe"] = Population.recentSteps({ window: 3 }).observe
): Population.Contents => {
  const begun = Population.begin(Array.from({ length: members }, (_, index) => instruction(index)))
  const observed = steps.reduce<Population.Contents>(
    (population, groups, index) =>
      observe(
        population,
        index + 1,
        groups
          .filter(({ member }) => member < members)
          .map(({ member, ...group }) => ({ ...group, instructionId: instruction(member).id }))
      ),
    begun
  )
  return Population.add(
    resets ? Population.resetWindows(observed) : observed,
    Array.from({ length: entrants }, (_, index) => ({ instruction: instruction(members + index), verification: null }))
  )
}

/** Populations of up to eight members. */
export const arbitrary: Arbitrary.Arbitrary<Population.Contents> = Arbitrary.map(Arbitrary.schema(History), (history) =>
  lived(history)
)
