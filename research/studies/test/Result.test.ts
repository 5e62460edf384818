import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { markdown, type SeedResult, studyResult } from "../src/Result.ts"
import { ablations } from "../src/studies/Ablation.ts"
import { agentStudies } from "../src/studies/Agents.ts"
import { table1 } from "../src/studies/Table1.ts"

const provenance = {
  scale: "small",
  commit: "c0ffee00",
  code: "c0de",
  command: "research table1",
  hardware: "none",
  seconds: 1
} as const

const result = (seed: number, em: number): SeedResult => ({
  seed,
  em,
  ci95: [em, em],
  questions: 10,
  underFirst: em,
  toolCalls: 1,
  steps: 1,
  rollouts: 1,
  tokens: 1,
  instruction: "Search.",
  bySource: { "world-1hop": em }
})

/** How many seeds each arm was run on. */
const Runs = Schema.Array(Schema.Literals([0, 1, 3])).check(
  Schema.isMinLength(table1.arms.length),
  Schema.isMaxLength(table1.arms.length)
)

describe("studyResult", () => {
  it.prop("contains exactly the arms that were run", [Runs], ([runs]) => {
    const results = table1.arms.map((arm, index) => ({
      arm,
      seeds: Array.from({ length: runs[index] ?? 0 }, (_, seed) => result(seed, 0.5))
    }))
    const ran = results.filter(({ seeds }) => seeds.length > 0).map(({ arm }) => arm.name)
    const found = studyResult(table1, provenance, results)
    assert.deepStrictEqual(
      found.arms.map(({ arm }) => arm),
      ran
    )
    const page = markdown(table1, found)
    for (const { name } of table1.arms)
      for (const mention of [`\n| ${name} |`, `**${name}**`])
        assert.strictEqual(page.includes(mention), ran.includes(name), mention)
  })

  it("does not mention the test bench or EM for a frozen policy", () => {
    for (const study of agentStudies.filter(({ frozen }) => frozen === true)) {
      const results = study.arms.map((arm) => ({ arm, seeds: [1, 2].map((seed) => result(seed, 0.5)) }))
      assert.notMatch(markdown(study, studyResult(study, provenance, results)), /pre-trained|\bEM\b/u)
    }
  })

  it("tests the claims on exactly the arms that were run", () => {
    const em: Readonly<Record<string, number>> = { evolved: 0.8, "constant-population": 0.3, static: 0.4 }
    const results = ablations.arms.flatMap((arm) => {
      const mean = em[arm.name]
      return mean === undefined ? [] : [{ arm, seeds: [1, 2, 3].map((seed) => result(seed, mean + seed / 1000)) }]
    })
    const found = studyResult(ablations, provenance, results)
    assert.deepStrictEqual(
      found.claims.map(({ higher, lower, n, verdict }) => [higher, lower, n, verdict]),
      [["constant-population", "static", 3, "contradicted"]]
    )
    assert.include(markdown(ablations, found), "| constant-population above static | 3 | -10.0 |")
  })
})
