import { assert, describe, it } from "@effect/vitest"
import * as Safetensors from "../src/Safetensors.ts"
import { Result, Schema } from "effect"

// No name that JSON escapes: `JSON.parse` of V8 13.6 takes the key "\t" for the key "\\" where it read that one before.
const Name = Schema.String.check(
  Schema.isMinLength(1),
  Schema.isMaxLength(8),
  Schema.makeFilter((name) => JSON.stringify(name) === `"${name}"` && !name.startsWith("__"))
)
const Size = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 4 }))
const Tensors = Schema.Array(Schema.Struct({ name: Name, rows: Size, columns: Size })).check(
  Schema.isMaxLength(4),
  Schema.makeFilter((all) => new Set(all.map(({ name }) => name)).size === all.length)
)

const content = (all: typeof Tensors.Type): Safetensors.Content => ({
  metadata: { format: "test", note: "ünïcode" },
  tensors: all.map(({ name, rows, columns }, index) => ({
    name,
    shape: [rows, columns],
    data: Float32Array.from({ length: rows * columns }, (_, at) => index + at / 7)
  }))
})

describe("Safetensors", () => {
  it.prop("reads what it writes, wherever the bytes lie in memory", [Tensors, Size], ([all, offset]) => {
    const written = content(all)
    const bytes = Safetensors.encode(written)
    const memory = Buffer.alloc(bytes.length + offset + 3)
    memory.set(bytes, offset)
    const read = Result.getOrThrow(Safetensors.decode(memory.subarray(offset, offset + bytes.length)))
    assert.deepStrictEqual(read.metadata, written.metadata)
    const byName = (tensors: Safetensors.Content["tensors"]) => new Map(tensors.map((tensor) => [tensor.name, tensor]))
    assert.deepStrictEqual(byName(read.tensors), byName(written.tensors))
  })

  it.prop("lays out the format: a header of whole words, then the data", [Tensors], ([all]) => {
    const bytes = Safetensors.encode(content(all))
    const header = Number(new DataView(bytes.buffer).getBigUint64(0, true))
    assert.strictEqual(header % 8, 0)
    const json: unknown = JSON.parse(new TextDecoder().decode(bytes.subarray(8, 8 + header)))
    assert.hasAnyKeys(json, ["__metadata__"])
    assert.strictEqual(bytes.length, 8 + header + all.reduce((sum, { rows, columns }) => sum + 4 * rows * columns, 0))
  })

  it.prop("refuses every file cut short inside the header", [Tensors], ([all]) => {
    const bytes = Safetensors.encode(content(all))
    const header = Number(new DataView(bytes.buffer).getBigUint64(0, true))
    for (const length of [0, 7, 8, 8 + Math.floor(header / 2), 7 + header]) {
      assert.isTrue(Result.isFailure(Safetensors.decode(bytes.subarray(0, length))))
    }
  })
})
