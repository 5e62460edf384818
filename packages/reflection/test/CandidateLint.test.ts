import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { CandidateLint, ClauseBank } from "../src/index.ts"

const candidate = (text: string) => ({ text, rationale: "" })

const Fragment = Schema.Literals(["<search>", "</search>", "<answer>", "</answer>", "<think>", "word", " "])
const Texts = Schema.Array(Schema.Array(Fragment)).pipe(Schema.Array)
const seed = "<search> q </search> <answer> a </answer>"
const good = "word <search> </search> <answer> </answer>"
const rules = { seed, known: [seed], maxWords: 12 }

const isShown = (text: string, name: string) => new RegExp(`<${name}>[^]*</${name}>`, "u").test(text)

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

  it.prop("accepts what is new, short and shows the seed's tags of actions", [Texts], ([groups]) => {
    const texts = groups.flat().flatMap((fragments) => [fragments.join(" "), `${good} ${fragments.join(" ")}`])
    const { accepted, rejected } = CandidateLint.lint(texts.map(candidate), rules)
    const seen = new Set([seed])
    for (const { text } of accepted) {
      const plain = text.trim().replace(/\s+/g, " ")
      assert.isAtMost(plain.split(" ").length, rules.maxWords)
      assert.isTrue(isShown(text, "search") && isShown(text, "answer"), text)
      assert.isFalse(seen.has(plain))
      seen.add(plain)
    }
    for (const { reason, text } of rejected) {
      const plain = text.trim().replace(/\s+/g, " ")
      const broken: Partial<Record<CandidateLint.RejectionReason, boolean>> = {
        empty: plain === "",
        "too-long": plain.split(" ").length > rules.maxWords,
        "tags-lost": !/<\/?search>/.test(text) || !/<\/?answer>/.test(text),
        "tags-unbalanced": !isShown(text, "search") || !isShown(text, "answer"),
        duplicate: seen.has(plain)
      }
      assert.isTrue(broken[reason] ?? false, `${reason}: ${text}`)
    }
  })

  it("keeps the texts that must stay", () => {
    const texts = [`${good} {{ticket}}`, `${good} {{ ticket }}`]
    const { accepted, rejected } = CandidateLint.lint(texts.map(candidate), { ...rules, keep: ["{{ticket}}"] })
    assert.deepStrictEqual(accepted, [candidate(`${good} {{ticket}}`)])
    assert.deepStrictEqual(rejected, [{ text: `${good} {{ ticket }}`, reason: "text-lost" }])
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

  describe("of an instruction that also names thoughts and passages", () => {
    const seed =
      "Reason inside <think> and </think> whenever something new arrives. To look something up write <search> query </search>; " +
      "passages come back between <information> and </information>. Finish with <answer> and </answer>, as in <answer> Oslo </answer>."
    const acts = "Look up one thing per <search> query </search>, and finish with <answer> the name </answer>."
    const reason = (text: string, actions?: ReadonlyArray<string>) =>
      CandidateLint.lint([candidate(text)], { seed, known: [], ...(actions && { actions }) }).rejected[0]?.reason

    it.each([
      acts,
      `${acts} Open a new <think> block after each result.`,
      `${acts} Passages between <information> and </information> may be wrong.`,
      `Close your thoughts with </think>. ${acts}`,
      `Begin with <search>, never with <answer>. ${acts}`,
      `${acts} What follows </search> is not yours to write.`
    ])("accepts what reads differently and runs: %s", (text) => {
      assert.isUndefined(reason(text))
    })

    const Pieces = Schema.Array(
      Schema.Literals([
        ...["search", "answer", "think", "information", "b"].flatMap((name) => [`<${name}>`, `</${name}>`]),
        "word"
      ] as const)
    )

    it.prop("asks for what the agent acts by and for nothing else", [Pieces], ([pieces]) => {
      const text = `word ${pieces.join(" ")}`
      const runs = isShown(text, "search") && isShown(text, "answer")
      assert.strictEqual(reason(text) === undefined, runs, text)
    })

    it("asks for the tags of other tools, where the seed names them", () => {
      assert.strictEqual(reason("Say <answer> a </answer>.", ["answer"]), undefined)
      assert.strictEqual(reason("Say <answer> a </answer>.", ["calculate", "answer"]), undefined)
      assert.strictEqual(reason("Say <answer> a </answer>.", ["think", "answer"]), "tags-lost")
    })
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
