/** The laws of every estimator of advantages. */
import { Law } from "@inspo/domain/testing"
import { Arbitrary, Schema } from "effect"
import type { Estimator, Group, Member } from "../Estimator.ts"

export interface Options extends Law.Options {
  /** Whether groups of equal rewards can have advantages, because groups are compared with each other; by default they cannot. */
  readonly comparesGroups?: boolean
}

/**
 * The laws of an estimator. They say nothing of how large an advantage is.
 *
 * @example
 * ```ts
 * import { it } from "@effect/vitest"
 * import { EstimatorLaws } from "@inspo/policy-gradient/testing"
 *
 * const ofRewards = {
 *   ofBatch: (groups: ReadonlyArray<EstimatorLaws.Group>) => groups.map((group) => group.map(({ reward }) => reward))
 * }
 * const laws = EstimatorLaws.laws(ofRewards, { comparesGroups: true })
 *
 * for (const { check, name } of laws) it.effect(name, () => check)
 * ```
 */
export const laws = (
  { ofBatch }: Pick<Estimator, "ofBatch">,
  { comparesGroups = false, ...options }: Options = {}
): ReadonlyArray<Law.Law> => {
  const forAll = (name: string, holds: (groups: ReadonlyArray<Group>) => void) =>
    Law.forAll(name, steps, options, holds)
  return [
    forAll("each member has a finite advantage", (groups) => {
      const values = ofBatch(groups)
      Law.same(
        values.map(({ length }) => length),
        groups.map(({ length }) => length),
        "the sizes of the groups"
      )
      Law.expect(values.flat().every(Number.isFinite), `the advantages are ${JSON.stringify(values)}`)
    }),

    forAll("an advantage moves with its member and its group", (groups) => {
      const plain = ofBatch(groups).flat()
      const turned = ofBatch(groups.toReversed().map((group) => group.toReversed()))
      const back = turned.toReversed().flatMap((group) => group.toReversed())
      plain.forEach((value, index) => {
        const other = back[index] ?? Number.NaN
        Law.expect(Math.abs(value - other) < 1e-6, `${value} becomes ${other} in another order`)
      })
    }),

    forAll("among members that differ in reward alone, a larger reward has no smaller advantage", (groups) => {
      const alike = groups.map((group) => group.map(({ reward }) => ({ ...plainMember, reward })))
      for (const [index, values] of ofBatch(alike).entries())
        for (const [i, left] of (alike[index] ?? []).entries())
          for (const [j, right] of (alike[index] ?? []).entries())
            if (left.reward < right.reward) {
              const rise = (values[j] ?? Number.NaN) - (values[i] ?? Number.NaN)
              Law.expect(rise > -1e-9, `from reward ${left.reward} to ${right.reward} the advantage changes by ${rise}`)
            }
    }),

    ...(comparesGroups
      ? []
      : [
          forAll("a group of equal rewards has no advantages", (groups) => {
            const equal = groups.map((group) => group.map((member) => ({ ...member, reward: group[0]?.reward ?? 0 })))
            for (const value of ofBatch(equal).flat()) Law.expect(value === 0, `an advantage is ${value}`)
          })
        ])
  ]
}

export type { Group } from "../Estimator.ts"

const plainMember: Member = { reward: 0, length: 3, answer: "a", firstCall: null }

const Whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const MemberOf = Schema.Struct({
  reward: Schema.Literals([-1, -0.5, 0, 0.25, 0.5, 1]),
  length: Whole(1, 40),
  answer: Schema.NullOr(Schema.Literals(["a", "b", "c"])),
  firstCall: Schema.NullOr(Whole(0, 40))
})

const GroupOf = Schema.NonEmptyArray(MemberOf).check(Schema.isMaxLength(7))

const steps: Arbitrary.Arbitrary<ReadonlyArray<Group>> = Arbitrary.map(
  Arbitrary.schema(Schema.NonEmptyArray(GroupOf).check(Schema.isMaxLength(5))),
  (groups) =>
    groups.map((group) =>
      group.map(({ firstCall, ...member }) => ({
        ...member,
        firstCall: firstCall === null ? null : Math.min(firstCall, member.length)
      }))
    )
)
