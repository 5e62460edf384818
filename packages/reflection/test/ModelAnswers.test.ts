import { assert, describe, it } from "@effect/vitest"
import { RandomStream, Thoughts } from "@inspo/domain"
import { Array as Arr, Result } from "effect"
import { CandidateLint, CandidateParser } from "../src/index.ts"
import * as CandidateEdits from "../src/CandidateEdits.ts"
import { answers, parent, rules } from "./fixtures/answers.ts"

/** What a proposer makes of an answer. */
const read = (answer: string, isCut = false, keep: ReadonlyArray<string> = [], asEdits = false) => {
  const { texts } = CandidateParser.parse(Thoughts.strip(answer), { isCut })
  const [revisions, faults] = Arr.separate(
    texts.map((text) => (asEdits ? CandidateEdits.revise(parent, text) : Result.succeed(text)))
  )
  const { accepted, rejected } = CandidateLint.lint(
    revisions.map((text) => ({ text, rationale: "" })),
    { ...rules, keep }
  )
  return { accepted, rejected, reasons: [...faults, ...rejected.map(({ reason }) => reason)] }
}

describe("the corpus of answers", () => {
  it("holds at least 60", () => {
    assert.isAtLeast(answers.length, 60)
    assert.strictEqual(new Set(answers.map(({ answer }) => answer)).size, answers.length)
  })

  it.each(answers)("$name", ({ accepted, answer, asEdits, isCut, keep, rejected = [] }) => {
    const found = read(answer, isCut, keep, asEdits)
    assert.deepStrictEqual(
      found.accepted.map(({ text }) => text),
      accepted
    )
    assert.deepStrictEqual(found.reasons, rejected)
  })

  it("shows every reason", () => {
    const shown = new Set(answers.flatMap(({ rejected = [] }) => rejected))
    assert.deepStrictEqual(
      CandidateLint.RejectionReason.literals.filter((reason) => !shown.has(reason)),
      []
    )
  })
})

const pieces = [
  "<ins_1>",
  "</ins_1>",
  "<ins_2>",
  "</ins_2>",
  "<ins_0>",
  "<search>",
  "</search>",
  "<answer>",
  "</answer>",
  "<think>",
  "</think>",
  "```",
  "**",
  "&lt;ins_1&gt;",
  "<",
  ">",
  "/",
  "\n",
  "\u0000",
  "\uD800",
  "…",
  parent
]

/** An answer of the corpus with a few places deleted, doubled, swapped or broken by a piece, or cut off. */
const mutated = (seed: number): string => {
  const { nextIntBetween } = RandomStream.make(seed, ["mutation"])
  const place = (answer: string) => nextIntBetween(0, answer.length)
  const all = answers.map(({ answer }) => answer)
  let answer = Arr.getUnsafe(all, seed % all.length)
  for (let change = nextIntBetween(1, 5); change > 0; change--) {
    const [from, to] = [place(answer), place(answer)].toSorted((x, y) => x - y)
    const [start = 0, end = 0] = [from, to]
    const middle = answer.slice(start, Math.min(end, start + 40))
    const rest = answer.slice(start + middle.length)
    const piece = Arr.getUnsafe(pieces, nextIntBetween(0, pieces.length - 1))
    const other = Arr.getUnsafe(all, nextIntBetween(0, all.length - 1))
    const kind = nextIntBetween(0, 5)
    answer =
      [
        () => answer.slice(0, start) + rest,
        () => answer.slice(0, start) + middle + middle + rest,
        () => answer.slice(0, start) + piece + middle + rest,
        () => answer.slice(0, start),
        () => answer.slice(0, start) + other.slice(0, 80) + rest,
        () => answer.slice(0, start) + Array.from(middle).toReversed().join("") + rest
      ][kind]?.() ?? answer
  }
  return answer
}

const isShown = (text: string, name: string) => new RegExp(`<${name}>[^]*</${name}>`, "u").test(text)

describe("10,000 mutated answers", { tags: "deep" }, () => {
  it("never fail, and never yield an instruction without its protocol tags", () => {
    let accepted = 0
    for (const seed of Arr.range(1, 10_000)) {
      const answer = mutated(seed)
      const found = read(answer, seed % 7 === 0)
      accepted += found.accepted.length
      assert.isAtMost(found.accepted.length, rules.count ?? 0)
      for (const { text } of found.accepted) {
        assert.isTrue(isShown(text, "search") && isShown(text, "answer"), `${seed}: ${text}`)
        assert.notMatch(text, /<\s*\/?\s*ins[_ -]?\d+\s*>/iu, `${seed}`)
        assert.notInclude(text.toLowerCase(), "ostrel bay", `${seed}`)
      }
    }
    // Mutations that leave nothing to read would say little.
    assert.isAbove(accepted, 3_000)
  })
})
