import { assert, describe, it } from "@effect/vitest"
import { RandomStream } from "@inspo/domain"
import { Moments } from "@inspo/statistics"
import * as Comparison from "../src/Comparison.ts"
import { keyOf } from "../src/Event.ts"
import { Schema } from "effect"
import * as Judged from "../src/Judged.ts"

const cases = 160
const simulations = 300

/** Whether a prompt is right about a case: both in 6 of 10 cases, each in its own. */
const exactOf = (seed: number, prompt: string, index: number): number =>
  Number(RandomStream.make(seed, [prompt, index]).next() < 0.6)

/** A judge that sees two wrong answers of the candidate in five as right. */
const judgeOf = (seed: number, prompt: string, index: number): number =>
  prompt !== Comparison.control && RandomStream.make(seed, ["kind", index]).next() < 0.4
    ? 1
    : exactOf(seed, prompt, index)

const compared = (seed: number, sessions: ReadonlyArray<string> = []): Comparison.State => {
  const settings = {
    arms: ["A", "B"],
    samples: 1,
    margin: 0.05,
    looks: "final",
    requirement: null,
    calls: 2 * cases,
    usd: null,
    randomSeed: seed
  } as const
  let state = Comparison.begin(Comparison.make({ ...settings, arms: ["A", "B"] }, cases, [], sessions))
  for (;;) {
    const due = Comparison.next(state)
    if (due._tag === "Conclude") return state
    if (due._tag === "Decide") state = Comparison.apply(state, due.event)
    else
      for (const ask of due.asks) {
        const score = judgeOf(seed, ask.prompt, ask.case)
        state = Comparison.apply(state, { _tag: "Answered", ...ask, score, feedback: null, usd: 0 })
      }
  }
}

/** What labels of some random cases show; the first so many of the answers that are to be labelled. */
const labelled = (seed: number, count: number) => {
  const state = compared(seed)
  const answers = Judged.toLabel(state, count, seed)
  const labels = new Map(answers.map((one) => [keyOf(one), exactOf(seed, one.prompt, one.case)]))
  return { answers, found: Judged.judged(state, labels, ({ score }) => score) }
}

describe("labels of a comparison", () => {
  const all = Array.from({ length: simulations }, (_, seed) => labelled(seed, 40))
  const [candidates] = [all.flatMap(({ found }) => found.candidates)]

  it("correct the difference of equal prompts, of which the judge prefers one: without bias, and with few wrong verdicts", () => {
    const means = candidates.map(({ corrected }) => corrected.mean)
    assert.isBelow(Math.abs(Moments.mean(means)), (4 * Moments.deviation(means)) / Math.sqrt(simulations))
    assert.closeTo(Moments.mean(candidates.map(({ judged }) => judged)), 0.16, 0.02)
    for (const wrong of ["better", "worse"])
      assert.isAtMost(candidates.filter(({ verdict }) => verdict === wrong).length / simulations, 0.08)
  })

  it("show how much higher the judge scores, and how often it agrees", () => {
    const holds = (gain: { readonly lower: number; readonly upper: number }, value: number) =>
      gain.lower <= value && value <= gain.upper
    assert.isAtLeast(all.filter(({ found }) => holds(found.bias, 0.08)).length / simulations, 0.85)
    assert.isAtLeast(all.filter(({ found }) => holds(found.agreement, 0.92)).length / simulations, 0.85)
  })

  it("show an agreement that is a share, however few there are", () => {
    const state = compared(1)
    for (const [count, isRight] of [
      [1, true],
      [1, false],
      [4, false],
      [4, true]
    ] as const) {
      const answers = Judged.toLabel(state, count, 1)
      const labels = new Map(answers.map((one) => [keyOf(one), isRight ? one.score : 1 - one.score]))
      const { lower, mean, upper } = Judged.judged(state, labels, () => 1).agreement
      assert.strictEqual(mean, Number(isRight))
      assert.isTrue(0 <= lower && lower <= mean && mean <= upper && upper <= 1, `${lower} ${upper}`)
    }
  })

  it("are drawn by session, and count once for each", () => {
    const sessions = Array.from({ length: cases }, (_, index) => `s${index % 40}`)
    const state = compared(1, sessions)
    const answers = Judged.toLabel(state, 40, 1)
    assert.strictEqual(new Set(answers.map((one) => sessions[one.case])).size, 10)
    const labels = new Map(answers.map((one) => [keyOf(one), exactOf(1, one.prompt, one.case)]))
    const [found] = Judged.judged(state, labels, ({ score }) => score).candidates
    assert.deepInclude(found, { labelled: 10, others: 30 })
  })

  it("are of both answers to each of so many cases, drawn at random", () => {
    for (const { answers, found } of all.slice(0, 20)) {
      assert.strictEqual(found.labels, 80)
      assert.strictEqual(new Set(answers.map((one) => one.case)).size, 40)
      assert.deepInclude(found.candidates[0], { labelled: 40, others: cases - 40 })
    }
    const state = compared(1)
    const [first, second] = [1, 2].map((seed) => new Set(Judged.toLabel(state, 40, seed).map((one) => one.case)))
    assert.notDeepEqual(first, second)
  })

  it("show nothing without any", () => {
    const [only] = labelled(1, 0).found.candidates
    assert.deepInclude(only, { verdict: "undecided", labelled: 0 })
  })
})

describe("a verdict", () => {
  const Tenths = Schema.Literals([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10])

  it.prop("is as good as it agrees with the label, in that of the reply", [Tenths, Tenths], ([given, right]) => {
    const { feedback, score } = Judged.scoreVerdict(`Fine. <score>${given}</score>`, right / 10)
    assert.strictEqual(score, Number(given >= 5 === right >= 5))
    assert.strictEqual(feedback, `The judge gave ${given} of 10; right is ${right}.`)
  })

  it("that cannot be read is wrong", () => {
    assert.deepStrictEqual(Judged.scoreVerdict("No idea.", 0), { score: 0, feedback: "The judge gave no score." })
  })

  it.each(["-0.1", "1.1", "x", "", "NaN"])("has no label %j", (text) => {
    assert.isNull(Judged.readLabel(text))
  })
})
