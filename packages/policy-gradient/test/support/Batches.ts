/** Groups of rollouts, and comparisons of their advantages, for the tests of methods. */
import { assert } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import type { Group, Member } from "../../src/Estimator.ts"

const Whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const MemberOf = Schema.Struct({
  hundredths: Whole(0, 100),
  length: Whole(1, 40),
  answer: Schema.NullOr(Schema.Literals(["a", "b", "c"])),
  called: Schema.NullOr(Whole(0, 40)),
  budget: Schema.Literals([512, 1024, 2048])
})

const members = Arbitrary.array(Arbitrary.schema(MemberOf), { minLength: 1, maxLength: 7 })

/** A group with rewards on a grid, so that the spread of unequal ones is far above any ε. */
export const group: Arbitrary.Arbitrary<Group> = Arbitrary.map(members, (all) => all.map((one) => toMember(one, 1)))

/** A group with rewards of 0 and 1. */
export const binaryGroup: Arbitrary.Arbitrary<Group> = Arbitrary.map(members, (all) =>
  all.map((one) => toMember(one, 50))
)

/** The groups of a step. */
export const batch = Arbitrary.array(group, { minLength: 1, maxLength: 5 })

const toMember = ({ called, hundredths, ...member }: typeof MemberOf.Type, step: number): Member => ({
  ...member,
  reward: step === 1 ? hundredths / 100 : hundredths >= step ? 1 : 0,
  firstCall: called === null ? null : Math.min(called, member.length)
})

export const withRewards = (group: Group, reward: (member: Member, index: number) => number): Group =>
  group.map((member, index) => ({ ...member, reward: reward(member, index) }))

export const sum = (values: ReadonlyArray<number>): number => values.reduce((total, value) => total + value, 0)

export const close = (actual: ReadonlyArray<number>, expected: ReadonlyArray<number>, tolerance = 1e-9) => {
  assert.strictEqual(actual.length, expected.length)
  actual.forEach((value, index) => assert.closeTo(value, expected[index] ?? Number.NaN, tolerance))
}
