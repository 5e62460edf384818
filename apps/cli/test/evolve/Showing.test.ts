import { assert, describe, it } from "@effect/vitest"
import type { Progress as SearchProgress } from "@inspo/evolve"
import { Setup } from "@inspo/evolve/parts"
import * as fc from "fast-check"
import type { Check, Job } from "../../src/evolve/Job.ts"
import * as Plan from "../../src/evolve/Plan.ts"
import * as Progress from "../../src/evolve/Progress.ts"

const jobs = (count: number, check: Check): ReadonlyArray<Job> =>
  Array.from({ length: count }, (_, id) => ({
    case: { input: `case ${id}` },
    asked: { messages: [{ role: "user", text: `case ${id}` }] },
    checks: [check]
  }))

const plan = (calls: number, cases: number, check: Check, price: number | null, proposerKind: string | null = null) => {
  const model = { model: "m", price: price === null ? null : { model: "m", input: price, output: 2 * price } }
  return Plan.make({
    setup: Setup.make({ prompt: "P", cases, calls, usd: null, minimalGain: 0.1, randomSeed: 1 }),
    prompt: "P",
    jobs: jobs(cases, check),
    repeated: 0,
    maxTokens: 100,
    agent: model,
    outside: null,
    proposer: model,
    proposerKind,
    isProposing: true
  })
}

const exact: Check = { kind: "built-in", scorer: { kind: "exact", isCaseSensitive: false }, expected: "E" }
const judge: Check = { kind: "judge", rubric: "R" }

describe("a plan", () => {
  it("divides all calls and all cases, at prices that grow with both", () => {
    fc.assert(
      fc.property(fc.integer({ min: 20, max: 2000 }), fc.integer({ min: 6, max: 300 }), (calls, cases) => {
        const made = plan(calls, cases, exact, 1)
        assert.strictEqual(made.calls.search + made.calls.test, calls)
        assert.strictEqual(made.cases.search + made.cases.test, cases)
        assert.isNull(made.judge)
        const { inputTokens, outputTokens, requests, usd } = made.agent ?? assert.fail()
        assert.strictEqual(requests, calls)
        assert.strictEqual(outputTokens, 100 * calls)
        assert.closeTo(usd?.[0] ?? 0, inputTokens / 1e6, 1e-9)
        assert.closeTo(usd?.[1] ?? 0, (inputTokens + 2 * outputTokens) / 1e6, 1e-9)
        const asked = (kind: string | null) => plan(calls, cases, exact, 1, kind).proposer?.requests ?? 0
        // A request for a proposal is made again once, that of a proposer that learns is not.
        assert.strictEqual(asked("lessons") - asked(null), asked(null) / 2)
        // The probes are scored twice, the outputs of the test three times.
        assert.strictEqual(plan(calls, cases, judge, 1).judge?.requests, calls + 8 + 2 * made.calls.test)
      })
    )
  })

  it("says which price is not known, and fits a terminal", () => {
    const lines = Plan.lines(plan(300, 60, judge, null), 80)
    assert.include(lines.join(" ").replaceAll(/\s+/gu, " "), "not known: give the prices per million tokens")
    for (const line of lines) assert.isAtMost(line.length, 80)
  })
})

describe("progress", () => {
  const at = (calls: number, phase: SearchProgress["phase"] = "search"): SearchProgress => ({
    phase,
    calls,
    budget: 60,
    usd: 0.0042,
    lost: { calls: 0, usd: 0 },
    prompts: 2,
    leader: "L",
    gain: -0.05
  })

  it("is one line", () => {
    assert.strictEqual(Progress.line(at(6), true), "searching · 6 of 60 calls · $0.0042 · 2 prompts · best −5.0 points")
    assert.notInclude(Progress.line(at(6), false), "$")
  })

  it("is shown at each phase and each tenth of the calls where a line cannot be renewed", () => {
    assert.isTrue(Progress.isDue(null, at(0)))
    assert.isFalse(Progress.isDue(at(0), at(5)))
    assert.isTrue(Progress.isDue(at(5), at(6)))
    assert.isTrue(Progress.isDue(at(6), at(6, "test")))
  })
})
