import { assert, describe, it } from "@effect/vitest"
import { Strategies } from "@inspo/coevolution"
import { Presets } from "@inspo/config"
import { Schema } from "effect"
import { change } from "../../src/report/Change.ts"
import * as RunReport from "../../src/report/RunReport.ts"
import { encodeJson, score, Summary } from "../../src/report/Summary.ts"
import { group, instruction, text } from "../terminal/Fixtures.ts"

const cell = (policy: "before" | "after", which: "seed" | "best", em: number) => ({
  policy,
  instruction: which,
  n: 500,
  em,
  ci95: [em - 0.04, em + 0.04] as const,
  toolCalls: 1.5
})

const summary: Summary = {
  runDir: "runs/quick-seed1",
  randomSeed: 1,
  strategies: Strategies.identities(Strategies.ofAlgorithm(Presets.quick)),
  steps: 65,
  rollouts: { train: 4800, verification: 224, evaluation: 2000 },
  seedInstruction: { id: instruction(0).id, text: text.replace(" Search for one entity at a time.", "") },
  bestInstruction: { id: instruction(7).id, text, generation: 2 },
  evaluation: [
    cell("before", "seed", 0.25),
    cell("before", "best", 0.3),
    cell("after", "seed", 0.4),
    cell("after", "best", 0.5)
  ],
  learned: true,
  evidence: {
    step: 60,
    instruction: instruction(7).id,
    rival: instruction(0).id,
    difference: 0.1,
    lower: 0.05,
    upper: 0.15
  },
  unproven: null,
  baseline: { method: "static", source: "run", rollouts: 5040, em: 0.42, ci95: [0.38, 0.46] },
  measure: "em",
  validation: [],
  checkpoint: { step: 60, rule: "last" },
  collapse: null,
  degraded: false,
  degradations: [],
  wallSeconds: 61.2
}

const report: RunReport.RunReport = {
  summary,
  config: Presets.quick,
  instructions: [{ ...instruction(0), text: summary.seedInstruction.text }, instruction(7)],
  program: "npx pnpm@12 inspo"
}

/** No sections of a record. */
const none: RunReport.Sections = { head: [], changed: [], best: [], compared: [], progress: [], lineage: [] }

describe("text", () => {
  const lines = RunReport.text(report, 80)
  const page = lines.join("\n")

  it("fits 80 columns", () => {
    for (const line of lines) assert.isAtMost(line.length, 80)
  })

  it.each([
    "Seed instruction (i0)",
    "Best instruction (i7, generation 2)",
    "Added: Search for one entity at a time.",
    "EM 40.0 % → 50.0 % (+10.0",
    "before training, best",
    "[46.0 %, 54.0 %]",
    "static baseline",
    "npx pnpm@12 inspo show runs/quick-seed1",
    "npx pnpm@12 inspo run runs/quick-seed1/config.json --seed 2"
  ])("shows %s", (part) => {
    assert.include(page, part)
  })

  it("says what shows that the best instruction is better, and that nothing was learned where nothing does", () => {
    const textWith = (changes: Partial<Summary>) =>
      RunReport.text({ ...report, summary: { ...summary, ...changes } }, 80)
        .join(" ")
        .replaceAll(/\s+/gu, " ")
    assert.include(
      textWith({}),
      "Evidence: within the same questions i7 “Search for one entity at a time.” is +10.0 points [+5.0, +15.0] better than i0 (seed) (step 60)."
    )
    for (const cause of ["training, with the seed instruction", "the best instruction, after training"])
      assert.match(
        textWith({}),
        new RegExp(String.raw`Effect of ${cause}: EM [\d.]+ % → [\d.]+ % \([+−][\d.]+ points \[[+−]`, "u")
      )
    const seed = { ...summary.seedInstruction, generation: 0 }
    const none = { learned: false, evidence: null }
    const nothing = "Nothing was learned: "
    assert.include(
      textWith({ ...none, bestInstruction: seed }),
      `${nothing}the seed instruction is still the best one.`
    )
    assert.include(
      textWith({ ...none, bestInstruction: seed, unproven: instruction(7).id }),
      `${nothing}i7 “Search for one entity at a time.” ended with the highest value, but its difference to the seed within the same questions has no interval above 0.`
    )
    assert.include(
      textWith({ ...none, unproven: instruction(7).id }),
      "Warning: nothing was learned that could be shown."
    )
    assert.notInclude(textWith({}), nothing)
  })

  it("says why EM is near 0 where it is, and only there", () => {
    assert.notInclude(page, "Why EM is near 0")
    const nothing = { ...summary, evaluation: [cell("before", "seed", 0), cell("after", "seed", 0.05)] }
    const textOf = (questions: string | null) =>
      RunReport.text(
        { ...report, config: { ...Presets.quick, data: { ...Presets.quick.data, questions } }, summary: nothing },
        80
      ).join("\n")
    assert.include(textOf("nq.parquet"), "Why EM is near 0")
    assert.notInclude(textOf(null), "Why EM is near 0")
  })

  it("fits whatever the instructions", () => {
    const long = { ...summary, bestInstruction: { ...summary.bestInstruction, text: "x".repeat(300) } }
    for (const line of RunReport.text({ ...report, summary: long }, 80)) assert.isAtMost(line.length, 80)
  })
})

describe("markdown", () => {
  it("holds the table, the settings and the command that reproduces it", () => {
    const page = RunReport.markdown(report, none)
    for (const part of [
      "| after training, best | 50.0 % | [46.0 %, 54.0 %] | 1.50 |",
      "steps: 65",
      "run runs/quick-seed1/config.json"
    ])
      assert.include(page, part)
  })
})

describe("degraded", () => {
  const degradations = [{ part: "proposer", step: 15, count: 2, message: "nobody | answers" }]
  const degraded = { ...report, summary: { ...summary, degraded: true, degradations } }

  it("is shown before the result, on the terminal and on the page", () => {
    for (const page of [RunReport.text(degraded, 80).join("\n"), RunReport.markdown(degraded, none)]) {
      const at = page.indexOf("Degraded: proposer, 2 times since step 15: nobody")
      assert.isAtLeast(at, 0)
      assert.isBelow(at, page.indexOf("Added: "))
    }
    assert.notInclude(RunReport.markdown(report, none), "Degraded")
  })
})

describe("both", () => {
  it("call rewards by their name", () => {
    const config = { ...Presets.quick, reward: { ...Presets.quick.reward, kind: { name: "f1" as const } } }
    const scored = { ...report, config, summary: { ...summary, measure: "f1" } }
    for (const page of [RunReport.text(scored, 80).join("\n"), RunReport.markdown(scored, none)]) {
      assert.notMatch(page, /\bEM\b/u)
      assert.include(page, "F1 40.0 % → 50.0 % (+10.0")
    }
  })
})

describe("encodeJson", () => {
  it("is one line that decodes to the summary", () => {
    const line = encodeJson(summary)
    assert.notInclude(line, "\n")
    assert.deepStrictEqual(Schema.decodeSync(Schema.fromJsonString(Summary))(line), summary)
  })
})

describe("score", () => {
  it("counts questions", () => {
    const { ci95, em, n, toolCalls } = score([group(1, 2, 0), group(0, 1, 1), group(1, 0, 2), group(0, 1, 3)])
    assert.deepStrictEqual({ em, n, toolCalls }, { em: 0.5, n: 4, toolCalls: 1 })
    assert.isTrue(ci95[0] < 0.5 && 0.5 < ci95[1])
  })
})

describe("change", () => {
  const Sentences = Schema.Array(Schema.Literals(["Search first.", "Be brief.", "Think!", "Why?"])).check(
    Schema.isUnique()
  )
  it.prop("of an instruction with itself is empty, and turns around", [Sentences, Sentences], ([a, b]) => {
    const [from, to] = [a.join(" "), b.join(" ")]
    assert.deepStrictEqual(change(from, from), { added: [], removed: [] })
    assert.deepStrictEqual(change(from, to).added, change(to, from).removed)
    assert.deepStrictEqual(
      change(from, to).added,
      b.filter((sentence) => !a.includes(sentence))
    )
  })
})
