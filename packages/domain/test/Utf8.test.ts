import { assert, describe, it } from "@effect/vitest"
import { Utf8 } from "@inspo/domain"
import { Effect, Result, Schema, Stream } from "effect"

const text = (bytes: Uint8Array) => Result.getOrThrow(Utf8.decode(bytes))
const encode = (value: string) => new TextEncoder().encode(value.toWellFormed())
const size = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 5 }))

describe("UTF-8", () => {
  it.prop(
    "is read as it was written, with replacement characters and byte order marks of its own",
    [Schema.String],
    ([drawn]) => {
      for (const value of [drawn.toWellFormed(), `\uFEFF${drawn}\uFFFD`.toWellFormed()])
        assert.strictEqual(text(encode(value)), value)
    }
  )

  it.prop(
    "is distinguished from what is none, with the place of the first byte that is not",
    [Schema.String, Schema.Literals(["e9", "fffe", "c328", "e282", "eda080"]), Schema.String],
    ([before, hexadecimal, after]) => {
      const foreign = Buffer.from(hexadecimal, "hex")
      const head = encode(before)
      // A letter after it, since what follows could make the bytes whole.
      const bytes = new Uint8Array([...head, ...foreign, 0x61, ...encode(after)])
      const fault = Result.getFailure(Utf8.decode(bytes))
      assert.deepStrictEqual(fault._tag === "Some" ? fault.value : null, { at: head.length, byte: foreign[0] })
    }
  )

  it.effect.prop(
    "has the same lines however its bytes come, and names the line that is none",
    [
      Schema.Array(Schema.Literals(["", "a", "é€𝄞", "\uFFFD", "b\tc"])),
      Schema.Literals(["\n", "\r\n"]),
      size,
      Schema.Boolean
    ],
    ([drawn, ending, length, isForeign]) =>
      Effect.gen(function* () {
        const bytes = new Uint8Array([
          ...encode(drawn.map((line) => `${line}${ending}`).join("")),
          ...(isForeign ? [0x61, 0xe9] : [])
        ])
        const chunks = Array.from({ length: Math.ceil(bytes.length / length) }, (_, index) =>
          bytes.slice(index * length, (index + 1) * length)
        )
        const lines = yield* Stream.runCollect(Utf8.lines(Stream.fromIterable(chunks)))
        assert.deepStrictEqual(
          lines.map(({ line, text }) => [line, Result.isSuccess(text) ? text.success : text.failure]),
          [...drawn, ...(isForeign ? [{ at: 1, byte: 0xe9 }] : [])].map((line, index) => [index + 1, line])
        )
      })
  )
})
