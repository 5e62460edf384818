import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { CandidateLint, ClauseBank } from "../src/index.ts"

const candidate = (text: string) => ({ text, rationale: "" })

const Fragment = Schema.Literals(["<search>", "</search>", "<answer>", "</answer>", "<think>", "word", " "])
const Texts = Schema.Array(Schema.Array(Fragment)).pipe(Schema.Array)
const seed = "<search> q </search> <answer> a </answer>"
const good = "word <search> </search> <answer> </answer>"
const rules = { seed, known: [seed], maxWords: 12 }

const isPaired = (text: string, name: string) =>
  new RegExp(`^(<${name}></${name}>)+$`).test(text.match(new RegExp(`</?${name}>`, "g"))?.join("") ?? "")

describe("lint", () => {
  it.prop("sorts every candidate into one of two lists, in order", [Texts], ([groups]) => {
    const texts = groups.flat().map((fragments) => fragments.join(""))
    const { accepted, rejected } = CandidateLint.lint(texts.map(candidate), rules)
    assert.lengthOf(texts, accepted.length + rejected.length)
    const left = { accepted: accepted.map(({ text }) => text), rejected: rejected.map(({ text }) => text) }
    for (const text of texts) {
      const from = left.accepted[0] === text ? left.accepted : left.rejected
      assert.strictEqual(from.shift(), text)
    }
  })

  it.prop("accepts what is new, short and keeps the seed's tags in pairs", [Texts], ([groups]) => {
    const texts = groups.flat().flatMap((fragments) => [fragments.join(" "), `${good} ${fragments.join(" ")}`])
    const { accepted, rejected } = CandidateLint.lint(texts.map(candidate), rules)
    const seen = new Set([seed])
    for (const { text } of accepted) {
      const plain = text.trim().replace(/\s+/g, " ")
      assert.isAtMost(plain.split(" ").length, rules.maxWords)
      assert.isTrue(isPaired(text, "search") && isPaired(text, "answer"), text)
      assert.isFalse(seen.has(plain))
      seen.add(plain)
    }
    for (const { reason, text } of rejected) {
      const plain = text.trim().replace(/\s+/g, " ")
      const broken: Partial<Record<CandidateLint.RejectionReason, boolean>> = {
        empty: plain === "",
        "too-long": plain.split(" ").length > rules.maxWords,
        "tags-lost": !/<\/?search>/.test(text) || !/<\/?answer>/.test(text),
        "tags-unbalanced": !isPaired(text, "search") || !isPaired(text, "answer"),
        duplicate: seen.has(plain)
      }
      assert.isTrue(broken[reason] ?? false, `${reason}: ${text}`)
    }
  })

  it.prop("accepts again what it accepted", [Texts], ([groups]) => {
    const texts = groups.flat().map((fragments) => `${good} ${fragments.join(" ")}`)
    const { accepted } = CandidateLint.lint(texts.map(candidate), rules)
    assert.deepStrictEqual(CandidateLint.lint(accepted, rules), { accepted, rejected: [] })
  })

  it.each([
    ["empty", "  \n"],
    ["too-long", `${good} ${"word ".repeat(12)}`],
    ["tags-lost", "Just answer."],
    ["tags-lost", "Only <search> and </search>."],
    ["tags-unbalanced", "<search> </search> <answer> <answer>"],
    ["tags-unbalanced", "<search> </search> </answer> <answer>"],
    ["tags-unbalanced", "<search> </search> <answer>"],
    ["duplicate", "  <search>  q </search>\n<answer> a </answer> "]
  ] as const)("rejects as %s: %s", (reason, text) => {
    assert.deepStrictEqual(CandidateLint.lint([candidate(text)], rules), { accepted: [], rejected: [{ text, reason }] })
  })

  it("rejects the second of two equal candidates", () => {
    const { accepted, rejected } = CandidateLint.lint([candidate(good), candidate(`${good} `)], rules)
    assert.lengthOf(accepted, 1)
    assert.deepStrictEqual(rejected, [{ text: `${good} `, reason: "duplicate" }])
  })

  it("has nothing against the seed instruction with advice", () => {
    const text = `${ClauseBank.seedInstruction} You are an expert.`
    const { accepted } = CandidateLint.lint([candidate(text)], {
      seed: ClauseBank.seedInstruction,
      known: [ClauseBank.seedInstruction]
    })
    assert.lengthOf(accepted, 1)
  })
})
