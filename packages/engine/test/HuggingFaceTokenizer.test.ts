import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Tokenizer as Library } from "@huggingface/tokenizers"
import * as HuggingFaceTokenizer from "@inspo/engine/HuggingFaceTokenizer"
import { Effect, FileSystem, Schema } from "effect"
import { byteCharacters, characters } from "./support/ByteLevel.ts"

/** Bytes, an end, whole words, halves of characters and a byte order mark: all that can stand side by side. */
const pieces = ["<|end|>", ...byteCharacters, ..." the,ä,€,🙂,\u{FEFF}".split(",").map(characters), "ðŁ", "ĻĤ"]

const files: HuggingFaceTokenizer.TokenizerFiles = {
  tokenizer: {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: [
      { id: 0, content: "<|end|>", single_word: false, lstrip: false, rstrip: false, normalized: false, special: true }
    ],
    normalizer: null,
    pre_tokenizer: { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true },
    post_processor: null,
    decoder: { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: true },
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: true,
      vocab: Object.fromEntries(pieces.map((piece, id) => [piece, id])),
      merges: []
    }
  },
  config: {
    tokenizer_class: "PreTrainedTokenizerFast",
    eos_token: "<|end|>",
    clean_up_tokenization_spaces: false,
    chat_template: "{%- for message in messages -%}{{- '[' + message.role + ']' + message.content -}}{%- endfor -%}"
  }
}

const tokenizer = HuggingFaceTokenizer.fromFiles(files)

/** What a chat template writes, of a config with more in it. */
const rendering = (template: string, config: object, date?: string) => {
  const made = HuggingFaceTokenizer.fromFiles(
    { ...files, config: { ...files.config, ...config, chat_template: template } },
    { date }
  )
  return (messages: Parameters<typeof made.prompt>[0]) => made.decode(made.prompt(messages))
}
const library = new Library(files.tokenizer, files.config)

/** Ways to cut a text into pieces, of which the model encodes each by itself. */
const byteLevel = (more: object) => ({ type: "ByteLevel", add_prefix_space: false, trim_offsets: true, ...more })
const cuts = [
  byteLevel({ use_regex: true }),
  byteLevel({ use_regex: false }),
  byteLevel({ use_regex: true, add_prefix_space: true }),
  {
    type: "Sequence",
    pretokenizers: [
      { type: "Split", pattern: { Regex: "\\s?\\S+|\\s+" }, behavior: "Isolated", invert: false },
      byteLevel({ use_regex: false })
    ]
  }
]
const Texts = Schema.Array(
  Schema.Union([Schema.String, Schema.Literals([" the", "the", " the the", "<|end|>", "ä€", "\u{FEFF}", "\n \n"])])
)

const Token = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: pieces.length - 1 }))
const Content = Schema.Literals(["one", "two", "the ä"])

describe("HuggingFaceTokenizer", () => {
  it.prop("decodes as the library does, in any combination of tokens", [Schema.NonEmptyArray(Token)], ([tokens]) => {
    const options = { skip_special_tokens: false, clean_up_tokenization_spaces: false }
    assert.strictEqual(tokenizer.decode(tokens), library.decode([...tokens], options))
  })

  it.prop("decodes every text that it encodes", [Schema.String], ([text]) => {
    const whole = text.toWellFormed()
    assert.strictEqual(tokenizer.decode(tokenizer.encode(whole)), whole)
  })

  it.prop(
    "encodes as the library does, however the text is cut and whatever it encoded before",
    [Schema.Literals([0, 1, 2, 3]), Texts],
    ([at, texts]) => {
      const tokenizer = { ...files.tokenizer, pre_tokenizer: cuts[at] }
      const ours = HuggingFaceTokenizer.fromFiles({ ...files, tokenizer })
      const theirs = new Library(tokenizer, files.config)
      for (const text of [...texts, texts.join("")])
        assert.deepStrictEqual(ours.encode(text), theirs.encode(text, { add_special_tokens: false }).ids)
    }
  )

  it.prop(
    "renders the prompt it is asked for, whichever it was asked for before",
    [Schema.Array(Content)],
    ([asked]) => {
      for (const content of asked)
        assert.deepStrictEqual(tokenizer.prompt([{ role: "user", content }]), tokenizer.encode(`[user]${content}`))
    }
  )

  it.prop(
    "gives the template every special token that the config names, as a text or as an object",
    [
      Schema.NonEmptyArray(
        Schema.Tuple([
          Schema.Literals(["bos", "unk", "sep", "pad", "cls", "mask", "image", "eot"]),
          Schema.Literals(["text", "object", "extra", "missing"])
        ])
      )
    ],
    ([given]) => {
      const forms = new Map(given)
      const named = (wanted: string) => Array.from(forms).flatMap(([name, form]) => (form === wanted ? [name] : []))
      const texts = Object.fromEntries(named("text").map((name) => [`${name}_token`, `<${name}>`]))
      const objects = Object.fromEntries(
        named("object").map((name) => [`${name}_token`, { __type: "AddedToken", content: `<${name}>` }])
      )
      const missing = Object.fromEntries(named("missing").map((name) => [`${name}_token`, null]))
      const extra = Object.fromEntries(named("extra").map((name) => [`${name}_token`, `<${name}>`]))
      const render = rendering(
        Array.from(forms.keys(), (name) => `{{- ${name}_token is defined -}}{{- ${name}_token -}}`).join(""),
        { ...texts, ...objects, ...missing, extra_special_tokens: extra, add_bos_token: true }
      )
      assert.strictEqual(
        render([]),
        Array.from(forms, ([name, form]) => (form === "missing" ? "false" : `true<${name}>`)).join("")
      )
    }
  )

  it("prints the given day, in English, and is refused without one", () => {
    const template = "{{- strftime_now('%d %b %Y, %A %j') if strftime_now is defined -}}"
    assert.strictEqual(rendering(template, {}, "2024-07-04")([]), "04 Jul 2024, Thursday 186")
    assert.throws(() => rendering(template, {}), /chat_template prints today's date/u)
    assert.throws(
      () => rendering("{{- strftime_now('%Q') -}}", {}, "2024-07-04")([]),
      /strftime_now does not support %Q/u
    )
  })

  it("strips as Python does: the characters it is given, or Python's white space", () => {
    const render = rendering(
      String.raw`{{- '[' + messages[0].content.lstrip('\n') + '|' + messages[0].content.rstrip('\n ') + '|' + messages[0].content | trim + ']' -}}`,
      {}
    )
    assert.strictEqual(render([{ role: "user", content: "\n\n x \n \n" }]), "[ x \n \n|\n\n x|x]")
    assert.strictEqual(
      render([{ role: "user", content: "\u{1F}\u{FEFF}x\u{85}" }]),
      "[\u{1F}\u{FEFF}x\u{85}|\u{1F}\u{FEFF}x\u{85}|\u{FEFF}x]"
    )
  })

  for (const [name, expected] of [
    ["the file beside the config before the config's template", "file"],
    ["the config's template where there is no file", "config"]
  ] as const)
    it.effect(`reads ${name}`, () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const folder = yield* fs.makeTempDirectoryScoped()
        yield* fs.writeFileString(`${folder}/tokenizer.json`, JSON.stringify(files.tokenizer))
        yield* fs.writeFileString(
          `${folder}/tokenizer_config.json`,
          JSON.stringify({ ...files.config, chat_template: "config" })
        )
        if (expected === "file")
          yield* fs.writeFileString(`${folder}/chat_template.jinja`, "file{{ strftime_now('') }}")
        assert.strictEqual(yield* HuggingFaceTokenizer.printsDate(folder), expected === "file")
        const read = yield* HuggingFaceTokenizer.read(folder, { date: "2024-07-04" })
        assert.strictEqual(read.decode(read.prompt([])), expected)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
    )
})

it("takes the default of several templates, the last as in transformers, and names them where there is none", () => {
  const rendered = (...templates: ReadonlyArray<{ readonly name: string; readonly template: string }>) => {
    const made = HuggingFaceTokenizer.fromFiles({ ...files, config: { ...files.config, chat_template: templates } })
    return made.decode(made.prompt([]))
  }
  const tools = { name: "tool_use", template: "{{ raise_exception('tools only') }}" }
  assert.strictEqual(rendered({ name: "default", template: "a" }, tools, { name: "default", template: "b" }), "b")
  assert.throws(() => rendered(tools, { ...tools, name: "rag" }), /"tool_use", "rag", expected one named "default"/u)
  assert.throws(() => rendered(), /\(none\)/u)
})

it.effect("reads a template from additional_chat_templates, as transformers does", () =>
  Effect.gen(function* () {
    const fs = yield* FileSystem.FileSystem
    const folder = yield* fs.makeTempDirectoryScoped()
    const { chat_template: _, ...config } = { chat_template: "", ...files.config }
    yield* fs.writeFileString(`${folder}/tokenizer.json`, JSON.stringify(files.tokenizer))
    yield* fs.writeFileString(`${folder}/tokenizer_config.json`, JSON.stringify(config))
    const missing = yield* Effect.flip(HuggingFaceTokenizer.read(folder))
    assert.include(missing.message, "chat_template.jinja")
    yield* fs.makeDirectory(`${folder}/additional_chat_templates`)
    yield* fs.writeFileString(`${folder}/additional_chat_templates/default.jinja`, "a")
    const read = yield* HuggingFaceTokenizer.read(folder)
    assert.strictEqual(read.decode(read.prompt([])), "a")
  }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
)

/** Special tokens of several families, and some that only a tester would choose. */
const families = [
  "[INST]",
  "[/INST]",
  "[gMASK]",
  '<|"|>',
  "<｜User｜>",
  "<end▁of▁turn>",
  "{{x}}",
  "STOP",
  "OP",
  "~",
  "(INST)",
  "S TOP"
]
const parts = [
  ...families,
  "[",
  "]",
  "inst",
  "[inst]",
  "［ＩＮＳＴ］",
  "st",
  "op",
  " ",
  "a",
  "é",
  "ＳＴＯＰ",
  "<|",
  "|>",
  "(",
  "INST"
]

const plainToken = { single_word: false, lstrip: false, rstrip: false, special: false, normalized: false }

const normalizers = [
  null,
  { type: "Lowercase" },
  { type: "NFKC" },
  { type: "Replace", pattern: { String: " " }, content: "" },
  { type: "Sequence", normalizers: [{ type: "NFKC" }, { type: "Lowercase" }, { type: "Prepend", prepend: "▁" }] }
]

const World = Schema.Struct({
  tokens: Schema.Array(Schema.Struct({ content: Schema.Literals(families), normalized: Schema.Boolean })).check(
    Schema.isMinLength(1)
  ),
  normalizer: Schema.Literals([0, 1, 2, 3, 4]),
  text: Schema.Array(Schema.Literals(parts))
})

describe("text from outside", () => {
  it.prop(
    "encodes to no special token after it was escaped, and stays unchanged where it holds none",
    [World],
    ([{ normalizer, text, tokens }]) => {
      const added = Array.from(new Map(tokens.map((token) => [token.content, token])).values(), (token, place) => ({
        ...plainToken,
        special: true,
        ...token,
        id: 1000 + place
      }))
      const hostile = HuggingFaceTokenizer.fromFiles({
        ...files,
        tokenizer: {
          ...files.tokenizer,
          normalizer: normalizers[normalizer] ?? null,
          added_tokens: ["added_tokens" in files.tokenizer ? files.tokenizer.added_tokens : []].flat().concat(added)
        }
      })
      const special = new Set(added.map(({ id }) => id))
      const specials = (written: string) => hostile.encode(written).filter((id) => special.has(id)).length
      const written = text.join("")
      const escaped = hostile.escape?.(written) ?? written
      assert.strictEqual(specials(escaped), 0, JSON.stringify(escaped))
      if (added.every(({ content }) => !written.includes(content)) && specials(written) === 0 && normalizer === 0)
        assert.strictEqual(escaped, written)
    },
    { arbitrary: { runs: 2000 } }
  )

  it("is not changed by added tokens that are words or white space", () => {
    const added = ["mill", "  ", "\n\n", "<tool_call>"].map((content, place) => ({
      ...plainToken,
      content,
      id: 1000 + place
    }))
    const { escape } = HuggingFaceTokenizer.fromFiles({
      ...files,
      tokenizer: { ...files.tokenizer, added_tokens: added }
    })
    assert.strictEqual(escape?.("A mill.  It\n\nis <tool_call>"), "A mill.  It\n\nis (tool_call)")
  })
})
