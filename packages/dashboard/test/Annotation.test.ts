import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as fc from "fast-check"
import * as Annotation from "../src/view/Annotation.ts"

const tag = fc.oneof(
  fc.stringMatching(/^[a-z\d=.:/#+-]{1,45}$/u),
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.constantFrom("a", "ü", "a b", "a,b", "a\u202eb", "", "वि")
)
/** Mostly different valid tags, with at most one other. */
const tags = fc
  .record({
    size: fc.oneof(fc.nat(3), fc.integer({ min: 18, max: 21 })),
    other: fc.option(fc.oneof(tag, fc.constant("t0")))
  })
  .map(({ other, size }) => [
    ...Array.from({ length: size }, (_, place) => `t${place}`),
    ...(other === null ? [] : [other])
  ])

const annotation = fc.record({
  tags,
  note: fc.oneof(
    fc.string(),
    fc.nat(5000).map((length) => "n".repeat(length))
  )
})

describe("an annotation", () => {
  it("is valid exactly within its bounds, and its problem names the fault", () => {
    fc.assert(
      fc.property(annotation, (one) => {
        const isValid =
          one.tags.length <= 20 &&
          new Set(one.tags).size === one.tags.length &&
          one.tags.every((text) => /^[^\p{C}\p{Z},]{1,40}$/u.test(text) && text.length <= 40) &&
          one.note.length <= 4000
        const problem = Annotation.problemOf(one)
        assert.strictEqual(problem === null, isValid, problem ?? "")
        assert.strictEqual(Result.isSuccess(Schema.decodeUnknownResult(Annotation.Annotation)(one)), isValid)
        if (problem !== null) assert.match(problem, /^(?:There are|The tag|The note) .* (?:Remove|Change|Shorten)/su)
      })
    )
  })

  it("has the tags that were typed, each once, in their order", () => {
    fc.assert(
      fc.property(
        fc.array(fc.stringMatching(/^[^\s,]{1,8}$/u)),
        fc.constantFrom(" ", ", ", "\n", "  ,"),
        (tags, between) => assert.deepStrictEqual(Annotation.tagsIn(` ${tags.join(between)}`), [...new Set(tags)])
      )
    )
  })
})
