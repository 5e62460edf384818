import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { type Episode, toTokens, turnOfTokens } from "../../src/Credits.ts"
import { anytime } from "../../src/credits/Anytime.ts"
import { dependence, evidence } from "../../src/credits/Evidence.ts"
import { discount, discounted } from "../../src/credits/Discount.ts"
import { gained, information } from "../../src/credits/Information.ts"
import { keyTurns, scaledReturns } from "../../src/credits/KeyTurns.ts"
import { outcome } from "../../src/credits/Outcome.ts"
import { reflections } from "../../src/credits/Reflections.ts"
import { retrieval } from "../../src/credits/Retrieval.ts"
import { stages } from "../../src/credits/Stages.ts"
import { states } from "../../src/credits/States.ts"
import { Moments } from "@inspo/statistics"
import { close, sum } from "../support/Batches.ts"

const Hundredth = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 100 }))
const Turn = Schema.Struct({
  score: Hundredth,
  critical: Schema.Boolean,
  information: Hundredth,
  state: Schema.Literals(["s", "t", "u"]),
  reward: Hundredth,
  valuable: Schema.NullOr(Schema.Boolean)
})
const Rollout = Schema.Struct({
  reward: Schema.Literals([0, 1]),
  turns: Schema.NonEmptyArray(Turn).check(Schema.isMaxLength(4))
})

/** Groups with the advantages of GRPO. */
const group = Arbitrary.map(
  Arbitrary.array(Arbitrary.schema(Rollout), { minLength: 1, maxLength: 5 }),
  (rollouts): ReadonlyArray<Episode> => {
    const advantages = Moments.standardise(
      rollouts.map(({ reward }) => reward),
      1e-6
    )
    return rollouts.map(({ reward, turns }, index) => ({ reward, advantage: advantages[index] ?? 0, turns }))
  }
)

/** Groups whose rollouts have three turns each. */
const even = Arbitrary.map(group, (rollouts) =>
  rollouts.map((one) => ({ ...one, turns: [...one.turns, ...one.turns, ...one.turns].slice(0, 3) }))
)

const mask = Arbitrary.array(Arbitrary.schema(Schema.Literals([0, 1])), { minLength: 1, maxLength: 12 })
const infoConstants = { beta: 0.5, temperature: 0.2 }

describe("turns", () => {
  it.prop("are the runs of a mask, each with one number, and observations have 0", [mask], ([mask]) => {
    const turns = turnOfTokens(mask)
    const runs = mask.filter((isAction, index) => isAction === 1 && mask[index - 1] !== 1).length
    const tokens = toTokens(
      mask,
      Array.from({ length: runs }, (_, turn) => turn + 1)
    )
    mask.forEach((isAction, index) => {
      assert.strictEqual(tokens[index], isAction === 1 ? (turns[index] ?? 0) + 1 : 0)
      if (index > 0) assert.isAtLeast(turns[index] ?? 0, turns[index - 1] ?? 0)
    })
    assert.strictEqual(Math.max(0, ...tokens), runs)
  })

  it.prop("with equal numbers are the datums of a rollout without credit", [mask], ([mask]) => {
    close(
      toTokens(
        mask,
        mask.map(() => 0.7)
      ),
      mask.map((isAction) => isAction * 0.7)
    )
  })
})

describe("credit", () => {
  it.prop("outcome gives all turns the advantage", [group], ([rollouts]) => {
    outcome.of(rollouts).forEach((values, index) => {
      const { advantage = 0, turns = [] } = rollouts[index] ?? {}
      close(
        values,
        turns.map(() => advantage)
      )
    })
  })

  it.prop("discount rises with the turns of a success, ends at the outcome, and sums to 0", [group], ([rollouts]) => {
    for (const { reward, turns } of rollouts) {
      const returns = discounted(reward, turns.length, 0.9)
      assert.strictEqual(returns.at(-1), reward)
      returns.slice(1).forEach((value, index) => assert.isAtLeast(value, returns[index] ?? 0))
      close(
        discounted(reward, turns.length, 1),
        turns.map(() => reward)
      )
    }
    assert.closeTo(sum(discount.of(rollouts, { gamma: 0.9 }).flat()), 0, 1e-6)
    assert.throws(() => discount.of(rollouts), /no default/u)
  })

  it.prop("key turns: bounded by 1, which is reached, and whatever the scale of scores", [group], ([rollouts]) => {
    for (const values of keyTurns.of(rollouts)) {
      const largest = Math.max(...values.map(Math.abs))
      assert.isTrue(largest === 0 || Math.abs(largest - 1) < 1e-9)
    }
    for (const { turns } of rollouts) {
      const scores = turns.map(({ score }) => score ?? 0)
      close(
        scaledReturns(
          scores.map((score) => 3 * score),
          0.99
        ),
        scaledReturns(scores, 0.99)
      )
    }
    const plain = rollouts.map((one) => ({ ...one, turns: one.turns.map((turn) => ({ ...turn, critical: false })) }))
    keyTurns.of(plain, { gamma: 1 }).forEach((values, index) =>
      close(
        values,
        values.map(() => Math.sign(rollouts[index]?.reward ?? 0))
      )
    )
  })

  it.prop("stages are compared by themselves, whatever earlier stages scored", [even], ([rollouts]) => {
    const found = stages.of(rollouts)
    for (const k of [0, 1, 2]) assert.closeTo(sum(found.map((values) => values[k] ?? 0)), 0, 1e-6)
    const other = rollouts.map((one, index) => ({
      ...one,
      turns: one.turns.map((turn, k) => (k === 0 ? { ...turn, score: index } : turn))
    }))
    const changed = stages.of(other)
    close(
      changed.flatMap((values) => values.slice(1)),
      found.flatMap((values) => values.slice(1))
    )
    const single = rollouts.map((one) => ({ ...one, turns: [{ score: one.reward }] }))
    close(
      stages.of(single).flat(),
      single.map(({ advantage }) => advantage)
    )
  })

  it.prop(
    "reflections are compared with each other, by their scores alone, and leave other turns the outcome",
    [group, Arbitrary.array(Arbitrary.schema(Schema.NullOr(Hundredth)), { minLength: 5, maxLength: 5 })],
    ([rollouts, scores]) => {
      const plain = outcome.of(rollouts)
      assert.deepStrictEqual(reflections.of(rollouts), plain)
      const reflecting = rollouts.map((one, index) => {
        const reflection = scores[index] ?? null
        return {
          ...one,
          turns: one.turns.map((turn, k) => (k === 0 && reflection !== null ? { ...turn, reflection } : turn))
        }
      })
      const found = reflections.of(reflecting)
      const own = reflecting.flatMap(({ turns }, index) => {
        assert.deepStrictEqual(found[index]?.slice(1), plain[index]?.slice(1))
        const [value = Number.NaN] = found[index] ?? []
        if (turns[0]?.reflection !== undefined) return [value]
        assert.strictEqual(value, plain[index]?.[0])
        return []
      })
      close(
        own,
        Moments.standardise(
          scores.slice(0, rollouts.length).flatMap((score) => score ?? []),
          1e-6
        )
      )
      assert.closeTo(sum(own), 0, 1e-6)
      const others = reflecting.map((one) => ({ ...one, reward: 1 - one.reward, advantage: -one.advantage }))
      close(
        reflections.of(others).flatMap(([value = 0], index) => (scores[index] === null ? [] : [value])),
        own
      )
    }
  )

  it.prop("retrieval masks turns alone, and praises no useless search of a success", [group], ([rollouts]) => {
    retrieval.of(rollouts).forEach((values, index) => {
      const { advantage = 0, reward = 0, turns = [] } = rollouts[index] ?? {}
      values.forEach((value, turn) => {
        assert.isTrue(value === 0 || value === advantage)
        const last = turn === turns.length - 1
        const valuable = turns[turn]?.valuable === true
        if (reward === 1) assert.strictEqual(value, valuable || last ? advantage : 0)
        else assert.strictEqual(value, valuable ? 0 : advantage)
      })
    })
  })

  it.prop("information: β = 0 is the outcome, and its part sums to 0 over the turns", [group], ([rollouts]) => {
    const plain = outcome.of(rollouts).flat()
    close(information.of(rollouts, { ...infoConstants, beta: 0 }).flat(), plain)
    const found = information.of(rollouts, infoConstants).flat()
    assert.closeTo(sum(found) - sum(plain), 0, 1e-6)
    // Where outcomes differ, a temperature of almost 0 leaves the outcome alone.
    if (new Set(rollouts.map(({ reward }) => reward)).size > 1)
      close(information.of(rollouts, { beta: 1, temperature: 1e-3 }).flat(), plain, 1e-6)
    else {
      const values = Moments.standardise(
        rollouts.flatMap(({ turns }) => turns.map(({ information }) => information ?? 0)),
        1e-6
      )
      close(
        information.of(rollouts, { beta: 1, temperature: 1 }).flat(),
        plain.map((value, index) => value + (values[index] ?? 0) / 2),
        1e-9
      )
    }
  })

  it("information is in the mean the mutual information of observation and action", () => {
    // Two observations of probability ½ each, after which an action has probability 0.9 or 0.2; the placeholder gives the marginal.
    const after = [0.9, 0.2]
    const marginal = 0.55
    let [mean, mutual] = [0, 0]
    for (const p of after)
      for (const [action, without] of [
        [p, marginal],
        [1 - p, 1 - marginal]
      ] as const) {
        mean += 0.5 * action * gained([Math.log(action)], [Math.log(without)])
        mutual += 0.5 * action * Math.log((0.5 * action) / (0.5 * without))
      }
    assert.closeTo(mean, mutual, 1e-12)
    assert.isAbove(mean, 0)
    assert.strictEqual(gained([-1, -2], [-1, -2]), 0)
  })

  it.prop(
    "evidence: keeps exactly the tokens of a share that depend most, and scales rollouts by 1 in the mean",
    [
      Arbitrary.array(
        Arbitrary.schema(
          Schema.Struct({
            advantage: Schema.Literals([-1, 0.5, 2]),
            turns: Schema.NonEmptyArray(
              Schema.Struct({
                dependence: Schema.Array(Schema.Literals([0, 0.1, 0.5, 3])).check(Schema.isMaxLength(4))
              })
            )
          })
        ),
        { minLength: 1, maxLength: 6 }
      ),
      Schema.Literals([0.1, 0.4, 1]),
      Schema.Literals([0.5, 0.9, 1])
    ],
    ([drawn, share, floor]) => {
      const rollouts = drawn
        .map((one) => ({ ...one, reward: 0, values: one.turns.flatMap((turn) => turn.dependence) }))
        .filter(({ values }) => values.length > 0)
      if (rollouts.length === 0) return
      const found = evidence.of(rollouts, { share, floor })
      const factors = rollouts.map(({ advantage, values }, index) => {
        const own = found[index] ?? []
        assert.lengthOf(own, values.length)
        const kept = [...values.keys()].filter((place) => own[place] !== 0)
        assert.lengthOf(kept, Math.ceil(share * values.length))
        const least = Math.min(...kept.map((place) => values[place] ?? 0))
        values.forEach((value, place) => assert.isTrue(kept.includes(place) || value <= least))
        assert.lengthOf([...new Set(kept.map((place) => own[place]))], 1)
        return (own[kept[0] ?? 0] ?? 0) / advantage
      })
      assert.closeTo(Moments.mean(factors), 1, 1e-9)
      const means = rollouts.map(({ values }) => Moments.mean(values))
      factors.forEach((factor, i) => {
        assert.isAtLeast(factor, floor - 1e-9)
        factors.forEach((other, j) => {
          if ((means[i] ?? 0) > (means[j] ?? 0)) assert.isAtLeast(factor, other)
        })
      })
      if (share === 1 && floor === 1)
        close(
          found.flat(),
          rollouts.flatMap(({ advantage, values }) => values.map(() => advantage))
        )
    }
  )

  it.prop(
    "evidence: a token depends on nothing where its probability stays, and ever more where it changes, up to 10",
    [Schema.Finite.check(Schema.isBetween({ minimum: -50, maximum: 50 })), Schema.Literals([0.1, 1, 10])],
    ([change, more]) => {
      const [none = Number.NaN, some = Number.NaN, further = Number.NaN] = dependence(
        [0, 0, 0],
        [0, change, change + Math.sign(change) * more]
      )
      assert.strictEqual(none, 0)
      assert.isTrue(some >= 0 && some <= further && further <= 10)
      if (Math.abs(change) < 2) assert.closeTo(some, Math.exp(change) - change - 1, 0.006 * some + 1e-12)
    }
  )

  it.prop("states: is the outcome where all states differ, and sums to it", [group], ([rollouts]) => {
    const plain = outcome.of(rollouts).flat()
    const distinct = rollouts.map((one, i) => ({
      ...one,
      turns: one.turns.map((turn, k) => ({ ...turn, state: `${i}/${k}` }))
    }))
    close(states.of(distinct).flat(), plain)
    close(states.of(rollouts, { weight: 0 }).flat(), plain)
    assert.closeTo(sum(states.of(rollouts).flat()), sum(plain), 1e-6)
  })

  it.prop(
    "anytime: one cut is Dr. GRPO, and the baseline reads neither the present score nor later ones",
    [even],
    ([rollouts]) => {
      const single = rollouts.map((one) => ({ ...one, turns: [{ score: one.reward }] }))
      close(anytime.of(single).flat(), Moments.centre(single.map(({ reward }) => reward)))
      // A change of one rollout's last score moves that rollout's credit at each turn by its share less that of the group's mean.
      const [head, ...tail] = rollouts
      if (head === undefined) return
      const last = head.turns.length - 1
      const raised = {
        ...head,
        turns: head.turns.map((turn, k) => (k === last ? { ...turn, score: (turn.score ?? 0) + 3 } : turn))
      }
      const [before = [], after = []] = [anytime.of(rollouts)[0], anytime.of([raised, ...tail])[0]]
      const n = rollouts.length
      after.forEach((value, s) => assert.closeTo(value - (before[s] ?? 0), 1 - (3 - s) / 3 / n, 1e-9))
      close(anytime.of(rollouts, { shares: [1 / 3, 1 / 3, 1 / 3] }).flat(), anytime.of(rollouts).flat())
    }
  )

  it.prop("anytime: a rollout that ended is credited as if its last score went on", [group], ([rollouts]) => {
    const longest = Math.max(...rollouts.map(({ turns }) => turns.length))
    const going = rollouts.map((one) => ({
      ...one,
      turns: [...one.turns, ...Array.from({ length: longest }, () => one.turns.at(-1) ?? {})].slice(0, longest)
    }))
    const credits = anytime.of(going)
    close(
      anytime.of(rollouts).flat(),
      rollouts.flatMap(({ turns }, at) => credits[at]?.slice(0, turns.length) ?? [])
    )
  })
})
