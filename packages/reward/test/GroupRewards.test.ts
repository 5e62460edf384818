import { readFileSync } from "node:fs"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { type Attempt, groupRewards } from "../src/GroupRewards.ts"
import { Moments } from "@inspo/statistics"
import { agreement } from "../src/group/Agreement.ts"
import { budget } from "../src/group/Budget.ts"
import { adaptiveTools, costs } from "../src/group/Costs.ts"
import { flawed } from "../src/group/Flawed.ts"
import { historyLength } from "../src/group/HistoryLength.ts"
import { cosineLength, softOverlong } from "../src/group/Length.ts"
import { repetition } from "../src/group/Repetition.ts"
import { stability } from "../src/group/Stability.ts"
import { tournament } from "../src/group/Tournament.ts"

const Whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))
const AttemptOf = Schema.Struct({
  reward: Schema.Literals([0, 1]),
  length: Whole(1, 100),
  answer: Schema.NullOr(Schema.Literals(["a", "b", "c"])),
  calls: Schema.Struct({ search: Whole(0, 3), defer: Whole(0, 2) }),
  words: Schema.Array(Schema.Literals(["x", "y"])),
  flawed: Schema.Boolean
})
const group = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(AttemptOf), { minLength: 1, maxLength: 6 }),
  (all): ReadonlyArray<Attempt> => all.map((one) => ({ ...one, shortest: 40, budget: 50 }))
)
const alone = (attempt: Partial<Attempt>): Attempt => ({ reward: 1, length: 10, answer: null, calls: {}, ...attempt })
const flawedReward = (reward: number, isFlawed: boolean, penalty: number) =>
  flawed.of([alone({ reward, flawed: isFlawed })], { penalty })
const first = (values: ReadonlyArray<number>): number => values[0] ?? Number.NaN

const sum = (values: ReadonlyArray<number>): number => values.reduce((total, value) => total + value, 0)

const close = (actual: ReadonlyArray<number>, expected: ReadonlyArray<number>) => {
  assert.strictEqual(actual.length, expected.length)
  actual.forEach((value, index) => assert.closeTo(value, expected[index] ?? Number.NaN, 1e-9))
}

describe("rewards of groups", () => {
  it.prop("agreement: ignores what answers are called, and pays by clusters", [group], ([members]) => {
    const values = agreement.of(members)
    const renamed = members.map((member) => ({
      ...member,
      answer: member.answer === null ? null : `other ${member.answer}`
    }))
    close(agreement.of(renamed), values)
    close(agreement.of(members.toReversed()).toReversed(), values)
    const sizes = [...Map.groupBy(members, ({ answer }) => answer)].flatMap(([answer, { length }]) =>
      answer === null ? [] : [length]
    )
    if (Math.max(0, ...sizes) > 1 || members.length === 1)
      assert.closeTo(sum(values), sum(sizes.map((size) => (size * size) / members.length)), 1e-9)
    else
      close(
        values,
        members.map(() => 0)
      )
    const unanimous = agreement.of(members.map((member) => ({ ...member, answer: "a" })))
    close(
      unanimous,
      members.map(() => 1)
    )
    close(
      Moments.standardise(unanimous, 1e-6),
      members.map(() => 0)
    )
  })

  it.prop("tournament: the mean is ½, the winner is first, and cycles tie", [group], ([members]) => {
    const n = members.length
    if (n === 1) return
    const playing = members.map((member, i) => ({
      ...member,
      beats: members.map((other, j) => (i === j ? 0.5 : 1 / (1 + Math.exp((other.length - member.length) / 30))))
    }))
    const values = tournament.of(playing)
    assert.closeTo(sum(values) / n, 0.5, 1e-9)
    const longest = members.reduce((best, { length }, i) => (length > (members[best]?.length ?? 0) ? i : best), 0)
    assert.closeTo(values[longest] ?? 0, Math.max(...values), 1e-9)
    const cycle = [0, 1, 2].map((i) => alone({ beats: [0, 1, 2].map((j) => [0.5, 1, 0][(j - i + 3) % 3] ?? 0) }))
    close(tournament.of(cycle), [0.5, 0.5, 0.5])
  })

  it.prop("history-length: every success beats every failure, and shorter is never worse", [group], ([members]) => {
    const values = historyLength.of(members)
    members.forEach((left, i) =>
      members.forEach((right, j) => {
        if (left.reward > right.reward) assert.isAbove(values[i] ?? 0, values[j] ?? 0)
        if (left.reward === right.reward && left.length < right.length) assert.isAtLeast(values[i] ?? 0, values[j] ?? 0)
      })
    )
    const plain = members.map(({ reward }) => reward)
    close(historyLength.of(members, { weight: 0 }), plain)
    close(historyLength.of(members.map((member) => ({ ...member, shortest: null }))), plain)
    close(
      historyLength.of([alone({ length: 40, shortest: 40 }), alone({ reward: 0, length: 40, shortest: 40 })]),
      [1, 0]
    )
  })

  it("budget: is largest at the budget from above, and at most its best", () => {
    const at = (length: number) => first(budget.of([alone({ length, budget: 1024 })]))
    const values = [1024, 1200, 2000, 3000, 4096].map(at)
    values.slice(1).forEach((value, index) => assert.isBelow(value, values[index] ?? 0))
    for (const length of [1, 500, 1000, 1500]) assert.isAtMost(at(length), at(1024))
    assert.strictEqual(at(4097), 0)
    assert.strictEqual(first(budget.of([alone({ reward: 0, budget: 1024 })])), 0)
  })

  it.prop(
    "flawed: sound beats flawed beats failed, and a judge that finds nothing changes nothing",
    [group],
    ([members]) => {
      for (const [index, value] of flawed.of(members).entries()) {
        const { flawed: isFlawed = false, reward = 0 } = members[index] ?? {}
        assert.strictEqual(value, reward === 0 ? -1 : isFlawed ? 0 : 1)
      }
      const plain = members.map(({ reward }) => 2 * reward - 1)
      close(flawed.of(members, { penalty: 0 }), plain)
      // Failures need no judge.
      close(flawed.of([{ reward: 0, length: 1, answer: null, calls: {} }]), [-1])
    }
  )

  it.prop(
    "flawed: graded rewards keep their order, and a flawed success is between a failure and a sound one",
    [Arbitrary.array(Arbitrary.schema(Schema.Literals([0, 0.2, 0.5, 1])), { minLength: 1, maxLength: 5 })],
    ([rewards]) => {
      for (const penalty of [0.5, 1, 1.9]) {
        const of = (flawed: boolean) => rewards.map((reward) => first(flawedReward(reward, flawed, penalty)))
        const [sound, unsound] = [of(false), of(true)]
        close(
          sound,
          rewards.map((reward) => 2 * reward - 1)
        )
        rewards.forEach((reward, at) => {
          if (reward > 0) assert.isTrue(-1 < (unsound[at] ?? -1) && (unsound[at] ?? 1) < (sound[at] ?? 1))
          else assert.strictEqual(unsound[at], -1)
        })
      }
    }
  )

  it.prop("costs: never raise a reward, fall with each call, and are nothing without prices", [group], ([members]) => {
    const plain = members.map(({ reward }) => reward)
    close(costs.of(members, { prices: { defer: 0 } }), plain)
    const values = costs.of(members)
    const more = costs.of(
      members.map((member) => ({ ...member, calls: { ...member.calls, defer: (member.calls["defer"] ?? 0) + 1 } }))
    )
    values.forEach((value, index) => {
      assert.isAtMost(value, plain[index] ?? 0)
      assert.closeTo((more[index] ?? 0) - value, -0.3, 1e-9)
    })
    close(costs.of([alone({}), alone({ calls: { create: 1 } }), alone({ calls: { defer: 1 } })]), [1, 0.9, 0.7])
  })

  it.prop("adaptive-tools: never exceeds the reward, and only tools are taxed", [group], ([members]) => {
    const values = adaptiveTools.of(members)
    values.forEach((value, index) => assert.isAtMost(value, members[index]?.reward ?? 0))
    const hard = members.map((member) => (sum(Object.values(member.calls)) === 0 ? { ...member, reward: 0 } : member))
    close(
      adaptiveTools.of(hard),
      hard.map(({ reward }) => reward)
    )
    close(adaptiveTools.of([alone({}), alone({ calls: { search: 1 } })]), [1, 0])
  })

  it.prop("soft-overlong: continuous, never rising with the length, and at most 1 is taken", [group], ([members]) => {
    const limits = { limit: 80, buffer: 20 }
    const values = softOverlong.of(members, limits)
    members.forEach((left, i) => {
      const taken = left.reward - (values[i] ?? 0)
      assert.isTrue(taken >= -1e-9 && taken <= 1 + 1e-9)
      members.forEach((right, j) => {
        const gap = right.reward - (values[j] ?? 0) - taken
        if (left.length <= right.length) assert.isTrue(gap >= -1e-9 && gap <= (right.length - left.length) / 20 + 1e-9)
      })
    })
    close(
      softOverlong.of(
        [60, 70, 80, 200].map((length) => alone({ length })),
        limits
      ),
      [1, 0.5, 0, 0]
    )
  })

  it.prop(
    "cosine-length: every success beats every failure, shorter successes and longer failures are better",
    [group],
    ([members]) => {
      const values = cosineLength.of(members, { limit: 70 })
      members.forEach((left, i) => {
        if (left.reward === 1) assert.isAtLeast(values[i] ?? 0, 0.5)
        else assert.isAtMost(values[i] ?? 0, -0.5)
        members.forEach((right, j) => {
          if (left.reward !== right.reward || left.length > right.length) return
          const rise = (values[j] ?? 0) - (values[i] ?? 0)
          assert.isAtLeast(left.reward === 1 ? -rise : rise, -1e-12)
        })
      })
    }
  )

  it.prop("repetition: takes between nothing and the penalty", [group], ([members]) => {
    repetition.of(members).forEach((value, index) => {
      const taken = (members[index]?.reward ?? 0) - value
      assert.isTrue(taken >= 0 && taken < 1)
    })
    const distinct = { words: ["a", "b", "c", "d"] }
    close(
      repetition.of([alone(distinct), alone({ words: ["a", "A", "a", "a"] }), alone({ words: ["a"] })]),
      [1, 0.5, 1]
    )
  })

  it.prop(
    "stability: is largest where all paraphrases agree, and ignores what answers are called",
    [group],
    ([members]) => {
      const weight = { weight: 0.5 }
      const values = stability.of(members, weight)
      const renamed = members.map((member) => ({
        ...member,
        answer: member.answer === null ? null : `${member.answer}!`
      }))
      close(stability.of(renamed, weight), values)
      values.forEach((value, index) => {
        const extra = value - (members[index]?.reward ?? 0)
        assert.isTrue(extra >= 0 && extra <= 0.5)
      })
      close(
        stability.of([alone({ answer: "a" }), alone({ answer: "a" }), alone({ answer: "b" })], weight),
        [1.25, 1.25, 1]
      )
      assert.throws(() => stability.of(members), /no default/u)
    }
  )

  it("equal the golden values", () => {
    for (const { constants, group, name, output } of golden.rewards) {
      const reward = groupRewards.find((one) => one.name === name) ?? assert.fail(name)
      close(reward.of(group, constants), output)
    }
  })
})

const Numbers = Schema.Array(Schema.Finite)
const GoldenAttempt = Schema.Struct({
  reward: Schema.Finite,
  length: Schema.Finite,
  answer: Schema.NullOr(Schema.String),
  calls: Schema.Record(Schema.String, Schema.Finite),
  flawed: Schema.optionalKey(Schema.Boolean),
  shortest: Schema.optionalKey(Schema.NullOr(Schema.Finite)),
  budget: Schema.optionalKey(Schema.NullOr(Schema.Finite)),
  beats: Schema.optionalKey(Numbers)
})
const Golden = Schema.fromJsonString(
  Schema.Struct({
    rewards: Schema.Array(
      Schema.Struct({
        name: Schema.String,
        constants: Schema.Record(Schema.String, Schema.Finite),
        group: Schema.Array(GoldenAttempt),
        output: Numbers
      })
    )
  })
)

/** Values of an executable reference of the formulas that was written apart from this package. */
const golden = Schema.decodeSync(Golden)(readFileSync(new URL("golden-groups.json", import.meta.url), "utf8"))
