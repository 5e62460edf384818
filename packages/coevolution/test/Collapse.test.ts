import { assert, describe, it } from "@effect/vitest"
import { Collapse } from "@inspo/coevolution"
import { Schema } from "effect"

const Means = Schema.Array(Schema.Literals([0, 0.1, 0.3, 0.8, 1])).check(Schema.isMinLength(12), Schema.isMaxLength(40))

const steps = (means: ReadonlyArray<number>) => means.map((mean, index) => ({ step: index + 1, mean }))
const trend = (means: ReadonlyArray<number>) =>
  steps(means).reduce((trend, reward) => Collapse.observe(trend, reward), Collapse.unstarted)
/** Every 10-step mean by its last step, the slow way. */
const windows = (means: ReadonlyArray<number>) =>
  means.flatMap((_, index) => {
    const entries = means.slice(index - 9, index + 1)
    return index < 9 ? [] : [{ step: index + 1, mean: entries.reduce((a, b) => a + b, 0) / 10 }]
  })
/** Whether the window at `at` lies below half of some earlier one. */
const fell = (means: ReadonlyArray<number>, at: number) => {
  const all = windows(means)
  const now = all.find(({ step }) => step === at)
  return now !== undefined && all.some(({ mean, step }) => step < at && now.mean < mean / 2)
}

describe("Collapse", () => {
  it.prop("is the first 10-step mean below half of an earlier one", [Means], ([means]) => {
    const found = trend(means).collapse?.step ?? null
    const first = means.findIndex((_, index) => fell(means, index + 1))
    assert.strictEqual(found, first < 0 ? null : first + 1)
  })

  it.prop("names the best window until then, the earliest of equals", [Means], ([means]) => {
    const { best, collapse } = trend(means)
    const seen = windows(means).filter(({ step }) => step <= (collapse?.step ?? Infinity))
    assert.deepStrictEqual(
      best ?? undefined,
      seen.find(({ mean }) => mean === Math.max(...seen.map((one) => one.mean)))
    )
  })

  it.prop("remembers the last ten rewards alone, however long the run", [Means], ([means]) => {
    assert.deepStrictEqual(trend(means).latest, steps(means).slice(-10))
  })

  it("sees nothing before there are ten steps", () => {
    assert.isNull(trend(Array(9).fill(1)).best)
  })
})
