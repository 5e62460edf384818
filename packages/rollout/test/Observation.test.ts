import { assert, describe, it } from "@effect/vitest"
import { SpecialTokens } from "@inspo/engine"
import { Observation } from "@inspo/rollout"
import { ByteTokenizer } from "@inspo/rollout/testing"
import { Schema } from "effect"

const Hostile = Schema.Array(
  Schema.Literals([
    "</information>",
    "<information>",
    "<answer>",
    "</answer>",
    "<search>",
    "</think>",
    "<|end|>",
    "<",
    ">",
    "/",
    "answer",
    "</infor",
    "mation>",
    " Ostrel",
    "é",
    "😀",
    "\uD83D",
    " {text}"
  ])
)
// Long enough to be cut, and cut within characters.
const Wide = Schema.Array(Schema.Literals(["é", "😀", "a"])).check(Schema.isMinLength(20))
const Text = Schema.Union([Schema.String, Hostile, Wide])
const text = (value: typeof Text.Type) => (typeof value === "string" ? value : value.join(""))
const Limit = Schema.Int.check(
  Schema.isBetween({ minimum: Observation.envelope(ByteTokenizer.tokenizer), maximum: 60 })
)

const count = (haystack: string, needle: string) => haystack.split(needle).length - 1

describe("Observation", () => {
  it.prop(
    "has one opening and one closing tag, at its ends, whatever it shows and wherever it is cut",
    [Text, Limit],
    ([value, limit]) => {
      const observation = Observation.make(ByteTokenizer.tokenizer, text(value), limit)
      assert.isTrue(observation.text.startsWith("<information>"))
      assert.isTrue(observation.text.endsWith("</information>"))
      assert.strictEqual(count(observation.text, "<information>"), 1)
      assert.strictEqual(count(observation.text, "</information>"), 1)
      assert.notMatch(observation.text, /<\/?(?:think|search|answer)>|<\|end\|>/)
    }
  )

  it.prop("keeps within its limit, and uses it up to a broken character", [Text, Limit], ([value, limit]) => {
    const { tokens } = Observation.make(ByteTokenizer.tokenizer, text(value), limit)
    const whole = Observation.make(ByteTokenizer.tokenizer, text(value), Number.MAX_SAFE_INTEGER).tokens
    assert.isAtMost(tokens.length, limit)
    if (whole.length <= limit) assert.deepStrictEqual(tokens, whole)
    else assert.isAbove(tokens.length, limit - 4)
  })

  it.prop("a cut takes no more than it must", [Wide, Limit], ([characters, limit]) => {
    const { text } = Observation.make(ByteTokenizer.tokenizer, characters.join(""), limit)
    const kept = Array.from(text.slice("<information> ".length, -"</information>".length)).length
    const longer = Observation.make(
      ByteTokenizer.tokenizer,
      characters.slice(0, kept + 1).join(""),
      Number.MAX_SAFE_INTEGER
    )
    if (kept < characters.length) assert.isAbove(longer.tokens.length, limit)
  })

  it.prop("a cut keeps the beginning", [Text, Limit], ([value, limit]) => {
    const shown = (limit: number) =>
      Observation.make(ByteTokenizer.tokenizer, text(value), limit).text.slice(0, -"</information>".length)
    assert.isTrue(shown(Number.MAX_SAFE_INTEGER).startsWith(shown(limit)))
  })

  it.prop("its tokens are those of its text", [Text, Limit], ([value, limit]) => {
    const observation = Observation.make(ByteTokenizer.tokenizer, text(value), limit)
    assert.strictEqual(ByteTokenizer.tokenizer.decode(observation.tokens), observation.text)
    assert.deepStrictEqual(ByteTokenizer.tokenizer.encode(observation.text), observation.tokens)
  })

  it.prop(
    "of a text of any length takes no more than its start, and is that of its start",
    [Wide, Limit, Schema.Literals([1, 100, 10_000])],
    ([characters, limit, times]) => {
      let encoded = 0
      const counting = {
        ...ByteTokenizer.tokenizer,
        encode: (text: string) => {
          encoded += text.length
          return ByteTokenizer.tokenizer.encode(text)
        }
      }
      const text = characters.join("").repeat(times)
      const observation = Observation.make(counting, text, limit)
      assert.deepStrictEqual(
        observation,
        Observation.make(ByteTokenizer.tokenizer, text.slice(0, 10_000).toWellFormed(), limit)
      )
      assert.isBelow(encoded, 20_000)
    }
  )

  it.prop("neutralising twice is neutralising once, and spares text without tags", [Text], ([value]) => {
    const once = Observation.neutralise(text(value))
    assert.strictEqual(Observation.neutralise(once), once)
    assert.strictEqual(Observation.neutralise("1 < 2 and 3 > 2 <3"), "1 < 2 and 3 > 2 <3")
  })

  it("shows no special token of the tokenizer in use, whatever its form", () => {
    const specials = ["[INST]", "[/INST]", "[TOOL_RESULTS]", "[gMASK]", '<|"|>', "<start_of_turn>", "‖", "[INST](x)"]
    const other = { ...ByteTokenizer.tokenizer, escape: SpecialTokens.escaping(specials) }
    for (const special of specials)
      for (const limit of [20, 60, 1000]) {
        const { text } = Observation.make(other, `Red Mill: ${special} it says ${special.repeat(3)} here [1].`, limit)
        for (const one of specials) assert.notInclude(text, one)
      }
    const { text } = Observation.make(other, "[INST] in [1] {a} <b c>", 1000)
    assert.strictEqual(text, "<information> (INST) in [1] {a} <b c></information>")
  })

  it.prop(
    "shows no special token of a tokenizer that normalises text, wherever it is cut",
    [Schema.Array(Schema.Literals(["［ＩＮＳＴ］", "[INST]", "＜／ｓ＞", "[IN", "ST]", "é", " a "])), Limit],
    ([parts, limit]) => {
      const specials = ["[INST]", "</s>"]
      const normalise = (text: string) => text.normalize("NFKC")
      const other = {
        ...ByteTokenizer.tokenizer,
        encode: (text: string) => ByteTokenizer.tokenizer.encode(normalise(text)),
        escape: SpecialTokens.escaping(specials, normalise)
      }
      const { tokens } = Observation.make(other, parts.join(""), limit)
      for (const special of specials) assert.notInclude(other.decode(tokens), special)
    }
  )

  it("shows a chat model no text in a usual form of special tokens", () => {
    const shown = (text: string) => Observation.unwrapped(Observation.within((one) => one.length, text, 1000) ?? "")
    assert.strictEqual(
      shown('[INST] [/INST] [TOOL_RESULTS] [gMASK] <|"|> <|im_end|> <｜User｜> </s> [UNUSED_TOKEN_145]'),
      '(INST) (/INST) (TOOL_RESULTS) (gMASK) (|"|) (|im_end|) (｜User｜) (/s) (UNUSED_TOKEN_145)'
    )
    const prose = "[1] [citation needed] [A] a[i] [Note 2] x < y | z > w [-3, 4]"
    assert.strictEqual(shown(prose), prose)
  })

  it("writes passages by the template, without reading their text as one", () => {
    const passages = [
      { id: "a", title: "{text}", text: " $& on the Ulva. " },
      { id: "b", title: "Quill Harbor", text: "{rank}" }
    ]
    const config = { passage: 'Doc {rank}(Title: "{title}") {text}', separator: "\n" }
    assert.strictEqual(
      Observation.passagesText(passages, config),
      'Doc 1(Title: "{text}") $& on the Ulva.\nDoc 2(Title: "Quill Harbor") {rank}'
    )
    assert.strictEqual(Observation.passagesText([], config), Observation.nothingFound)
  })
})
