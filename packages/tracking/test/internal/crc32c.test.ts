import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { crc32c } from "../../src/internal/tfRecord.ts"

const ascii = (text: string) => new TextEncoder().encode(text)

describe("crc32c", () => {
  it("gives the checksums of RFC 3720, appendix B.4, and the check value of the polynomial", () => {
    assert.strictEqual(crc32c(new Uint8Array(32)), 0x8a9136aa)
    assert.strictEqual(crc32c(new Uint8Array(32).fill(0xff)), 0x62a8ab43)
    assert.strictEqual(crc32c(Uint8Array.from({ length: 32 }, (_, index) => index)), 0x46dd794e)
    assert.strictEqual(crc32c(Uint8Array.from({ length: 32 }, (_, index) => 31 - index)), 0x113fdb5c)
    assert.strictEqual(crc32c(ascii("123456789")), 0xe3069283)
    assert.strictEqual(crc32c(new Uint8Array()), 0)
  })

  it.prop(
    "changes with any bit",
    [Schema.NonEmptyArray(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 255 }))), Schema.Natural],
    ([values, position]) => {
      const bytes = Uint8Array.from(values)
      const changed = Uint8Array.from(bytes)
      const bit = position % (8 * bytes.length)
      changed.set([(bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7))], bit >> 3)
      assert.notStrictEqual(crc32c(changed), crc32c(bytes))
    }
  )
})
