import { assert, describe, it } from "@effect/vitest"
import { type Instruction, RandomStream } from "@inspo/domain"
import { instructionId } from "@inspo/evolution"
import { Array as Arr } from "effect"
import * as Constraint from "../src/Constraint.ts"
import type * as Evidence from "../src/Evidence.ts"

const ids = [instructionId(0), instructionId(1)] as const
const simulations = 300
const most = 0.05 + 3 * Math.sqrt((0.05 * 0.95) / simulations)

const answered = (prompt: Instruction.InstructionId, index: number, cost: number) =>
  ({ _tag: "Answered", prompt, case: index, sample: 0, score: 1, feedback: null, usd: 0, metrics: { cost } }) as const

/** Cases with a number of the control and one of the other prompt. */
const drawn = (count: number, draw: () => readonly [before: number, after: number]): ReadonlyArray<Evidence.Cluster> =>
  Arr.makeBy(count, (index) => {
    const [before, after] = draw()
    return {
      index,
      least: 0,
      most: 0,
      before: [answered(ids[0], index, before)],
      after: [answered(ids[1], index, after)]
    }
  })

/** Whether a constraint was ever shown to hold, looking after every few cases. */
const shown = (text: string, draw: (stream: RandomStream.RandomStream) => readonly [number, number], seed: number) => {
  const stream = RandomStream.make(seed, ["constraint"])
  const one = Constraint.parse(text)
  const pairs = drawn(160, () => draw(stream))
  const verdicts = Arr.makeBy(
    60,
    (look) => Constraint.judge(one, pairs.slice(0, 8 * (look + 1)), [1, 1], 0.05, false).isMet
  )
  return { isMet: verdicts.includes(true), isBroken: verdicts.includes(false) }
}

const normal = (stream: RandomStream.RandomStream) =>
  Math.sqrt(-2 * Math.log(1 - stream.next())) * Math.cos(2 * Math.PI * stream.next())

describe("constraints", () => {
  it.each([
    { what: "a mean", text: "cost=5", of: (stream) => [0, 5 + 2 * normal(stream)] },
    { what: "a skewed mean", text: "cost=1", of: (stream) => [0, Math.exp(normal(stream) - 0.5)] },
    {
      what: "a change",
      text: "cost=+10%",
      of: (stream) => [Math.exp(normal(stream) - 0.5), 1.1 * Math.exp(normal(stream) - 0.5)]
    },
    { what: "a percentile", text: "cost.p90=9", of: (stream) => [0, 10 * stream.next()] }
  ] satisfies ReadonlyArray<{ what: string; text: string; of: Parameters<typeof shown>[1] }>)(
    "at their bound are claimed to hold or to be broken in at most 5 % each: $what",
    { tags: "deep" },
    ({ of, text }) => {
      const all = Arr.makeBy(simulations, (seed) => shown(text, of, seed))
      assert.isAtMost(all.filter(({ isMet }) => isMet).length / simulations, most)
      assert.isAtMost(all.filter(({ isBroken }) => isBroken).length / simulations, most)
    }
  )

  it("at its bound is claimed to hold after one look in at most 5 %", () => {
    const one = Constraint.parse("cost=-10%")
    const all = Arr.makeBy(simulations, (seed) => {
      const stream = RandomStream.make(seed, ["once"])
      const pairs = drawn(40, () => [1 + stream.next(), 0.9 * (1 + stream.next())])
      return Constraint.judge(one, pairs, [1, 1], 0.05, true).isMet
    })
    assert.isAtMost(all.filter((isMet) => isMet === true).length / simulations, most)
  })

  it("of a change are not known where the control costs nothing, and of few cases", () => {
    const pairs = (count: number, cost: number) =>
      Arr.makeBy(count, (index): Evidence.Cluster => ({
        index,
        least: 0,
        most: 0,
        before: [answered(ids[0], index, cost)],
        after: [answered(ids[1], index, 0)]
      }))
    const isMet = (count: number, cost: number) =>
      Constraint.judge(Constraint.parse("cost=-10%"), pairs(count, cost), [1, 1], 0.05, true).isMet
    const free = Constraint.judge(Constraint.parse("cost=-10%"), pairs(60, 0), [1, 1], 0.05, true)
    assert.deepStrictEqual([free.value, free.lower, free.upper], [0, -1, 1])
    assert.deepStrictEqual([isMet(60, 0), isMet(29, 1), isMet(60, 1)], [null, null, true])
  })

  it("within it are shown to hold, and beyond it to be broken", () => {
    const share = (text: string, of: Parameters<typeof shown>[1], what: "isMet" | "isBroken") =>
      Arr.makeBy(50, (seed) => shown(text, of, seed)).filter((one) => one[what]).length / 50
    assert.isAbove(
      share("cost=5", (stream) => [0, 4.5 + normal(stream)], "isMet"),
      0.9
    )
    assert.isAbove(
      share("cost=+0%", (stream) => [1 + 0.2 * normal(stream), 0.9], "isMet"),
      0.9
    )
    assert.isAbove(
      share("cost.p90=9", (stream) => [0, 9.1 * stream.next()], "isMet"),
      0.9
    )
    assert.isAbove(
      share("cost.p90=9", (stream) => [0, 13 * stream.next()], "isBroken"),
      0.9
    )
  })
})
