import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import * as HuggingFaceTokenizer from "@inspo/engine/HuggingFaceTokenizer"
import { Effect, FileSystem, Result } from "effect"
import * as fc from "fast-check"
import * as Gguf from "../src/internal/Gguf.ts"
import * as GgufTokenizer from "../src/internal/GgufTokenizer.ts"
import { characters } from "./support/ByteLevel.ts"
import { fields, header, tokens, type Typed } from "./support/GgufFile.ts"

const word = (bits: number) => fc.integer({ min: 0, max: 2 ** bits - 1 })
const typed: fc.Arbitrary<Typed> = fc.letrec<{ any: Typed; list: Typed; scalar: Typed }>((tie) => ({
  any: fc.oneof({ maxDepth: 2 }, tie("scalar"), tie("list")),
  list: fc.array(tie("scalar"), { maxLength: 4 }).map((values) => {
    const type = values[0]?.type ?? 8
    return { type: 9, of: type, values: values.filter((value) => value.type === type) }
  }),
  scalar: fc.oneof(
    word(8).map((value) => ({ type: 0, value })),
    word(16).map((value) => ({ type: 2, value })),
    word(32).map((value) => ({ type: 4, value })),
    word(31).map((value) => ({ type: 5, value: 0 - value })),
    fc.float({ noNaN: true }).map((value) => ({ type: 6, value })),
    fc.boolean().map((value) => ({ type: 7, value })),
    fc.string({ unit: "grapheme" }).map((value) => ({ type: 8, value: value.toWellFormed() })),
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value) => ({ type: 10, value })),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => ({ type: 11, value })),
    fc.double({ noNaN: true }).map((value) => ({ type: 12, value }))
  )
})).any

const plainValue = (one: Typed): Gguf.Value => ("values" in one ? one.values.map(plainValue) : one.value)

describe("Gguf", () => {
  it("reads what was written, whatever follows, and asks for more of any start of it", () => {
    const entries = fc.uniqueArray(fc.tuple(fc.string(), typed), { selector: ([key]) => key, maxLength: 6 })
    fc.assert(
      fc.property(entries, fc.nat(), (entries, cut) => {
        const bytes = header(entries)
        const expected = new Map(entries.map(([key, value]) => [key, plainValue(value)]))
        assert.deepStrictEqual(Gguf.parse(new Uint8Array([...bytes, 1, 2, 3])), Result.succeed(expected))
        assert.deepStrictEqual(Gguf.parse(bytes.subarray(0, cut % bytes.length)), Result.fail(Gguf.incomplete))
      })
    )
  })

  it("says what is wrong with another file", () => {
    const bytes = header([["a", { type: 4, value: 1 }]])
    assert.deepStrictEqual(Gguf.parse(new TextEncoder().encode("PK...")), Result.fail("it does not begin with GGUF"))
    assert.deepStrictEqual(Gguf.parse(bytes.with(4, 1)), Result.fail("its version is 1, expected 2 or 3"))
    assert.deepStrictEqual(
      Gguf.parse(header([["a", { type: 13, value: 1 }]])),
      Result.fail("it holds a value of the unknown type 13")
    )
  })
})

/** The tokenizer that a file of these fields holds. */
const reading = Effect.fnUntraced(function* (entries: ReadonlyArray<readonly [string, Typed]>, file = "model.gguf") {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* fs.makeTempDirectoryScoped()
  yield* fs.writeFile(`${folder}/${file}`, header(entries))
  return yield* HuggingFaceTokenizer.read(`${folder}/${file}`)
})

describe("a tokenizer in a model", () => {
  it.effect("has the model's tokens, ids, end and chat template, and decodes every text that it encodes", () =>
    Effect.gen(function* () {
      for (const pre of ["gpt-2", "smollm", "qwen2", "llama-bpe"]) {
        const tokenizer = yield* reading(fields(pre), "MODEL.GGUF")
        assert.strictEqual(tokenizer.endOfSequence, 0)
        assert.strictEqual(tokenizer.vocabularySize, tokens.length)
        assert.deepStrictEqual(
          tokenizer.prompt([{ role: "user", content: " the" }]),
          [1, tokens.indexOf("Ġthe"), 0],
          pre
        )
        fc.assert(
          fc.property(fc.string({ unit: "grapheme" }), (text) => {
            const whole = text.toWellFormed().normalize("NFC")
            assert.strictEqual(tokenizer.decode(tokenizer.encode(whole)), whole)
          }),
          { numRuns: 50 }
        )
      }
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("splits digits as the model does: each separately, in threes, or as words", () =>
    Effect.gen(function* () {
      // A merge of two digits, and of two halves, shows what is never looked at together.
      const half = characters("½")
      const joined = ["1 2", Array.from(half).join(" "), `${half} ${half}`]
      const all = [...tokens, "12", half, half + half]
      const entries = (pre: string) =>
        fields(pre).map(([key, value]): readonly [string, Typed] =>
          key === "tokenizer.ggml.merges" && "values" in value
            ? [key, { ...value, values: [...value.values, ...joined.map((value) => ({ type: 8, value }))] }]
            : key === "tokenizer.ggml.tokens"
              ? [key, { type: 9, of: 8, values: all.map((value) => ({ type: 8, value })) }]
              : [key, value]
        )
      const pieces = Effect.fnUntraced(function* (pre: string) {
        const tokenizer = yield* reading(entries(pre))
        return tokenizer.encode("12½½").map((id) => all[id])
      })
      const alone = ["1", "2", half, half]
      assert.deepStrictEqual(yield* pieces("smollm"), alone)
      assert.deepStrictEqual(yield* pieces("qwen2"), alone)
      assert.deepStrictEqual(yield* pieces("llama-bpe"), ["12", half, half])
      assert.deepStrictEqual(yield* pieces("gpt-2"), ["12", half + half])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect("is refused if its kind is unknown, with what to name instead", () =>
    Effect.gen(function* () {
      const other = (key: string, value: string) =>
        fields("gpt-2").map((entry): readonly [string, Typed] => (entry[0] === key ? [key, { type: 8, value }] : entry))
      for (const [key, value] of [
        ["tokenizer.ggml.model", "llama"],
        ["tokenizer.ggml.pre", "unheard"]
      ] as const) {
        const error = yield* Effect.flip(reading(other(key, value)))
        assert.include(error.message, `its ${key} is ${value}, expected`)
        assert.include(error.message, "tokenizer.json")
      }
      const cut = yield* Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        yield* fs.writeFile(`${folder}/cut.gguf`, header(fields("gpt-2")).subarray(0, 4000))
        return yield* Effect.flip(GgufTokenizer.readMetadata(`${folder}/cut.gguf`))
      })
      assert.strictEqual(cut, Gguf.incomplete)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
