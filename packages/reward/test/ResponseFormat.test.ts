import { assert, describe, it } from "@effect/vitest"
import { ResponseFormat } from "@inspo/reward"
import { Schema } from "effect"

const Content = Schema.String.check(Schema.isPattern(/^[^<>]*$/))
const Space = Schema.Literals(["", " ", "\n\n", "\x85"])
const Searches = Schema.Array(Schema.Tuple([Content, Content, Space])).check(Schema.isMaxLength(4))

const wellFormed = (searches: typeof Searches.Type, answer: string, space: string) =>
  searches
    .map(
      ([query, found, gap]) =>
        `<think>${found}</think>${gap}<search>${query}</search>${gap}<information>${found}</information>${gap}`
    )
    .join(space) + `<think>${answer}</think>${space}<answer>${answer}</answer>${space}`

describe("isWellFormed", () => {
  it.prop(
    "accepts any number of searches before the answer",
    [Searches, Content, Space],
    ([searches, answer, space]) => {
      assert.isTrue(ResponseFormat.isWellFormed(wellFormed(searches, answer, space)))
    }
  )

  it.prop("refuses a response that lost or gained a tag", [Searches, Schema.Natural, Schema.Natural], (inputs) => {
    const [searches, at, which] = inputs
    const parts = wellFormed(searches, "x", "").split(/(<[^<>]+>)/u)
    const tags = parts.flatMap((part, index) => (part.startsWith("<") ? [index] : []))
    const index = tags[at % tags.length] ?? 0
    assert.isFalse(ResponseFormat.isWellFormed(parts.toSpliced(index, 1).join("")))
    const extra = parts[tags[which % tags.length] ?? 0] ?? ""
    assert.isFalse(ResponseFormat.isWellFormed(parts.toSpliced(index, 0, extra).join("")))
  })

  it.prop("refuses words between the tags", [Searches, Schema.Natural], ([searches, at]) => {
    const text = wellFormed(searches, "x", " ")
    const gaps = Array.from(text.matchAll(/<\/[a-z]+>/gu), (match) => match.index + match[0].length)
    const gap = gaps[at % gaps.length] ?? 0
    assert.isFalse(ResponseFormat.isWellFormed(`${text.slice(0, gap)} so ${text.slice(gap)}`))
  })
})

const Tenth = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10 }))
const isUsable = Schema.is(ResponseFormat.FormatScores)
const forms = [true, false].flatMap((isWellFormed) =>
  [true, false].flatMap((isRetrieved) =>
    [true, false, null].map((isCorrect) => ({ isCorrect, isRetrieved, isWellFormed }))
  )
)

describe("score", () => {
  it.prop(
    "is in [0, 1], and a right answer is worth most, for all scores that may be set",
    [Tenth, Tenth, Tenth],
    (tenths) => {
      const [structure, retrieval, final] = tenths.map((tenth) => tenth / 10)
      const scores = { structure: structure ?? 0, retrieval: retrieval ?? 0, final: final ?? 0 }
      if (!isUsable(scores)) return
      for (const form of forms) {
        const score = ResponseFormat.score(form, scores)
        assert.isTrue(score >= 0 && score <= 1)
        assert.isAtLeast(ResponseFormat.score({ ...form, isCorrect: true }, scores), score)
        assert.isAtLeast(ResponseFormat.score({ ...form, isRetrieved: true }, scores), score)
      }
    }
  )
})
