import { assert, describe, it } from "@effect/vitest"
import type { RunEvent } from "@inspo/coevolution"
import { Presets } from "@inspo/config"
import { Schema } from "effect"
import { announce, announceAll } from "../../src/terminal/Announcement.ts"
import * as Progress from "../../src/terminal/Progress.ts"
import { plain, view } from "../../src/terminal/View.ts"
import { group, instruction, pruned, refilled, skipped } from "./Fixtures.ts"

const leader = { population: 4, best: instruction(1), value: 0.456 }

const after = (event: RunEvent, rollouts: number, now: number): Progress.Progress =>
  Progress.observe(Progress.start(Presets.quick, 0, 0), event, { leader, degraded: [], rollouts, now })

const collected: RunEvent = { _tag: "RolloutsCollected", step: 3, groups: [group(1, 2, 0), group(0, 1, 1)] }

describe("view", () => {
  it("shows step, reward, tool calls, population, the best instruction and the time left in 80 columns", () => {
    const lines = view({ ...after(collected, 200, 10_000), step: 12 }, 80)
    for (const line of lines) assert.isAtMost(line.length, 80)
    const screen = lines.join("\n")
    for (const part of [
      "step 12/",
      "left",
      "training EM 50.0 % (n = ",
      "tool calls per question 1.50",
      "population 4",
      "i1",
      "45.6 %"
    ])
      assert.include(screen, part)
  })

  it("shows no value of an instruction that was not drawn lately", () => {
    const unseen = { ...after(collected, 200, 10_000), leader: { ...leader, value: null } }
    assert.include(view(unseen, 80).join("\n"), "best i1, not drawn lately")
    assert.include(plain(unseen), "best i1 –")
  })

  it.prop(
    "fits whatever the width and the counts",
    [
      Schema.Int.check(Schema.isBetween({ minimum: 20, maximum: 80 })),
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 })),
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1e9 }))
    ],
    ([columns, rollouts, now]) => {
      for (const line of view(after(collected, rollouts, now), columns)) assert.isAtMost(line.length, columns)
    }
  )

  it("shows that the run is degraded", () => {
    const degraded = [{ part: "proposer", count: 3 }]
    for (const screen of [
      plain({ ...after(collected, 1, 1), degraded }),
      view({ ...after(collected, 1, 1), degraded }, 80)
    ])
      assert.include([screen].flat().join(" "), "degraded: proposer 3")
  })

  it("is one line in plain output", () => {
    assert.notInclude(plain(after(collected, 200, 10_000)), "\n")
    assert.include(plain(after(collected, 200, 10_000)), "training EM 50.0 % (n = ")
  })
})

describe("announce", () => {
  it.each([
    ["pruned", pruned, "pruned i2 (20.0 %)"],
    ["evolved", refilled, "i5 won with 50.0 % on 16 questions"],
    ["skipped", skipped, "no evolution"]
  ])("shows what was %s, with the text that won, in 80 columns", (_, event, part) => {
    const lines = announce(event, { leader, tried: 3 }, 80)
    for (const line of lines) assert.isAtMost(line.length, 80)
    assert.include(lines.join(" "), part)
    if (event !== skipped) assert.include(lines.map((line) => line.trim()).join(" "), instruction(1).text)
  })

  it("says why candidates were rejected without a trial, except repetitions", () => {
    const rejections = ["answer-leaked", "answer-leaked", "tags-lost", "duplicate"]
    const proposed: RunEvent = {
      _tag: "CandidatesProposed",
      step: 15,
      round: 1,
      parent: instruction(0).id,
      failures: [],
      critique: "",
      candidates: [{ text: "Look twice.", rationale: "" }],
      rejected: rejections.map((reason) => ({ text: "Say refund.", reason }))
    }
    const lines = announce(proposed, { leader, tried: 0 }, 80)
    for (const line of lines) assert.isAtMost(line.length, 80)
    const printed = lines.map((line) => line.trim()).join(" ")
    assert.include(
      printed,
      "step 15: 3 of 5 candidates rejected without a trial, 2 because each holds the correct answer"
    )
    assert.include(printed, "; 1 because each does not name the tags")
    assert.deepStrictEqual(announce({ ...proposed, rejected: [] }, { leader, tried: 0 }, 80), [])
  })

  it("says that nobody won only where somebody was tried", () => {
    const nobody: RunEvent = { ...refilled, accepted: [] }
    const printed = (tried: number) => announce(nobody, { leader, tried }, 80).join(" ")
    assert.include(printed(2), "no candidate was as good as i1")
    assert.notInclude(printed(0), "as good as")
    assert.include(printed(0), "no candidate to try")
  })

  it("shows why a proposer failed", () => {
    const failure = { kind: "unreachable", message: "nobody is there" } as const
    const begun: RunEvent = { _tag: "PopulationInitialised", instructions: [instruction(0)], failure }
    assert.include(announceAll([begun], 80).join(" "), "step 0: the proposer failed: nobody is there")
  })

  it("is silent about everything else", () => {
    assert.deepStrictEqual(announce(collected, { leader, tried: 0 }, 80), [])
  })
})

describe("timeLeft", () => {
  it("is unknown before the first rollout and zero at the end", () => {
    const start = Progress.start(Presets.quick, 0, 0)
    assert.isNull(Progress.timeLeft(start))
    assert.strictEqual(Progress.timeLeft({ ...start, done: start.planned, now: 5000 }), 0)
  })

  it("counts the rollouts of this session only", () => {
    const start = { ...Progress.start(Presets.quick, 500, 0), planned: 1000 }
    assert.strictEqual(Progress.timeLeft({ ...start, done: 750, now: 1000 }), 1000)
  })
})
