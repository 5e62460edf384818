import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import * as Bm25 from "../../src/Bm25.ts"
import { wordsOf } from "../../src/internal/words.ts"

const Characters = (...ranges: ReadonlyArray<readonly [number, number]>) =>
  Schema.Union(ranges.map(([minimum, maximum]) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))))

/** Latin, Greek, Cyrillic, punctuation, symbols, private use, emoji with their joiners. */
const Spaced = Schema.Array(
  Characters(
    [0, 0x7f],
    [0, 0x482],
    [0x48a, 0x52f],
    [0x1e00, 0x2bff],
    [0xe000, 0xe010],
    [0xfe00, 0xfe0f],
    [0x1f300, 0x1faff]
  )
)

/** Han, Hiragana, Katakana, Hangul, and consonants of Thai, Lao, Khmer and Burmese with a vowel sign. */
const Unspaced = Schema.Array(
  Characters(
    [0x4e00, 0x9fff],
    [0x3041, 0x3096],
    [0x30a1, 0x30fa],
    [0xac00, 0xd7a3],
    [0x0e01, 0x0e2e],
    [0x1000, 0x1020],
    [0x1780, 0x17a2]
  )
).check(Schema.isMinLength(1), Schema.isMaxLength(12))

const written = (character: number) => {
  const sign = character < 0xe30 ? "\u0E35" : character < 0x1100 ? "\u102D" : character < 0x1800 ? "\u17B7" : ""
  return String.fromCodePoint(character) + (character % 2 === 0 ? sign : "")
}

describe("words", () => {
  it.prop("of scripts with spaces are runs of letters and digits", [Spaced], ([characters]) => {
    const text = String.fromCodePoint(...characters)
    const folded = text
      .normalize("NFD")
      .replace(/[\u0300-\u036F]/g, "")
      .toLowerCase()
      .replaceAll("ς", "σ")
    assert.deepStrictEqual(wordsOf(text), folded.normalize("NFC").match(/[\p{L}\p{N}\p{Co}]+/gu) ?? [])
  })

  it.prop(
    "of any part of a text in scripts without spaces are among those of the text",
    [Unspaced, Unspaced, Unspaced, Schema.Literals(["", "a1", "，", " "])],
    ([before, part, after, between]) => {
      const [start = "", middle = "", end = ""] = [before, part, after].map((some) => some.map(written).join(""))
      const words = wordsOf(middle)
      assert.isNotEmpty(words)
      assert.includeMembers([...wordsOf(start + between + middle + end)], [...words])
    }
  )

  it("of a mixed text keep runs of other letters together", () => {
    assert.deepStrictEqual(wordsOf("2024年iPhone販売"), ["2024", "年", "iphone", "販", "販売", "売"])
    assert.deepStrictEqual(wordsOf("हिन्दी में पढ़ो"), ["हिन्दी", "में", "पढ़ो"])
  })

  it.effect.each([
    [
      "Chinese",
      ["红磨坊位于小溪旁边，由张先生建造。", "蓝色的桥横跨大河。", "图书馆藏有很多古书。"],
      ["谁建造了红磨坊？", "桥", "古书"]
    ],
    [
      "Japanese",
      ["赤い水車は小川のそばにある。", "青い橋は川を渡る。", "図書館にはテレビがない。"],
      ["水車はどこ？", "橋", "テレビ"]
    ],
    ["Thai", ["โรงสีสีแดงตั้งอยู่ริมลำธาร", "สะพานข้ามแม่น้ำ", "ห้องสมุดมีหนังสือเก่า"], ["โรงสี", "สะพาน", "หนังสือ"]],
    [
      "Korean",
      ["빨간 방앗간은 개울가에 있다", "파란 다리가 강을 건넌다", "도서관에는 책이 많다"],
      ["방앗간", "다리", "책"]
    ]
  ] as const)("find the passage of each question in %s", ([, texts, queries]) =>
    Effect.gen(function* () {
      const { search } = yield* Bm25.make(texts.map((text, place) => ({ id: `${place}`, title: "", text })))
      const found = yield* search(queries, 1)
      assert.deepStrictEqual(
        found.map(([best]) => best?.passage.text),
        [...texts]
      )
    })
  )
})
