import { assert, describe, it } from "@effect/vitest"
import { fromFiles } from "@inspo/engine/HuggingFaceTokenizer"
import { TokenizerFiles } from "@inspo/engine-local"
import { Schema } from "effect"

const words = ["The", "mayor", "of", "Ostrel", "Bay", "is", "Marlen", "Tovik", "Question", "1984", "Åsa", "(", "mayor"]
const tokenizer = fromFiles(TokenizerFiles.makeTokenizerFiles(words))

const Text = Schema.String.check(Schema.makeFilter((text) => text.isWellFormed()))
/** Text that also runs through listed words, tags and spaces. */
const MixedText = Schema.Array(
  Schema.Union([
    Text,
    Schema.Literals([...words, ...TokenizerFiles.specialTokens, " ", "'s", " The", "\n", ".", "\uFEFF"])
  ])
)
const Ids = Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: tokenizer.vocabularySize - 1 })))

describe("TokenizerFiles", () => {
  it.prop("decodes what it encodes, whatever the text", [MixedText], ([parts]) => {
    const text = parts.join("")
    assert.strictEqual(tokenizer.decode(tokenizer.encode(text)), text)
  })

  it.prop("encodes to ids of the vocabulary", [Text], ([text]) => {
    for (const id of tokenizer.encode(text)) assert.isTrue(id >= 0 && id < tokenizer.vocabularySize)
  })

  it.prop("keeps its ids once a sampled sequence went through text", [Ids], ([ids]) => {
    const once = tokenizer.encode(tokenizer.decode(ids))
    assert.deepStrictEqual(tokenizer.encode(tokenizer.decode(once)), once)
  })

  it("gives every listed word with its leading space one token", () => {
    for (const word of words) assert.lengthOf(tokenizer.encode(` ${word}`), 1, word)
    assert.lengthOf(tokenizer.encode(" The mayor of Ostrel Bay is Marlen Tovik."), 9)
    assert.lengthOf(tokenizer.encode("'s"), 1)
  })

  it("gives every tag one token, in id order from 0, even inside a word", () => {
    TokenizerFiles.specialTokens.forEach((tag, id) => {
      assert.deepStrictEqual(tokenizer.encode(tag), [id])
      assert.deepStrictEqual(
        tokenizer.encode(` The${tag}x`).filter((token) => token < TokenizerFiles.specialTokens.length),
        [id]
      )
    })
    assert.strictEqual(tokenizer.endOfSequence, TokenizerFiles.specialTokens.indexOf("<|end|>"))
  })

  it("renders a prompt that opens the assistant's turn", () => {
    const text = (...messages: Parameters<typeof tokenizer.prompt>[0]) => tokenizer.decode(tokenizer.prompt(messages))
    assert.strictEqual(
      text({ role: "user", content: "Answer. Question: Who is Marlen?" }),
      "<|user|> Answer. Question: Who is Marlen?<|assistant|>"
    )
    assert.strictEqual(
      text({ role: "system", content: "Answer." }, { role: "user", content: "Question: Who?" }),
      "<|user|> Answer. Question: Who?<|assistant|>"
    )
    assert.strictEqual(
      text(
        { role: "user", content: "A" },
        { role: "assistant", content: "<answer> B</answer>" },
        { role: "user", content: "C" }
      ),
      "<|user|> A<|assistant|><answer> B</answer><|end|><|user|> C<|assistant|>"
    )
  })

  it("refuses a word that the pre-tokenizer would split", () => {
    for (const word of ["two words", "well-known", "", "a1", "Bay."]) {
      assert.throws(
        () => TokenizerFiles.makeTokenizerFiles([word]),
        word === "" ? /""/ : new RegExp(word.replace(".", "\\."))
      )
    }
  })

  it("refuses files without an end-of-sequence token in the vocabulary", () => {
    const files = TokenizerFiles.makeTokenizerFiles(words)
    assert.throws(() => fromFiles({ ...files, config: { ...files.config, eos_token: "</s>" } }), /eos_token <\/s>/)
  })
})
