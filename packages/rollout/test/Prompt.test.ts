import { assert, describe, it } from "@effect/vitest"
import { defaultConfig, Prompt } from "@inspo/rollout"
import { ByteTokenizer } from "@inspo/rollout/testing"

const instruction = { text: "Answer the question." }
const question = { question: "Who founded Lumen Works?" }

describe("Prompt", () => {
  it("puts the instruction before the question", () => {
    assert.strictEqual(
      ByteTokenizer.tokenizer.decode(Prompt.render(ByteTokenizer.tokenizer, instruction, question, defaultConfig)),
      "<|user|> Answer the question. Question: Who founded Lumen Works?<|assistant|>"
    )
  })

  it("or into the system message", () => {
    assert.strictEqual(
      ByteTokenizer.tokenizer.decode(
        Prompt.render(ByteTokenizer.tokenizer, instruction, question, {
          texts: { ...defaultConfig.texts, role: "system" }
        })
      ),
      "<|system|> Answer the question.<|user|> Question: Who founded Lumen Works?<|assistant|>"
    )
  })

  it("puts an earlier conversation before the question, after a system message", () => {
    const conversation = [
      { role: "user", content: "Hello" },
      { role: "assistant", content: "Yes?" }
    ] as const
    const last = { role: "user", content: "Question: Who founded Lumen Works?" } as const
    assert.deepStrictEqual(
      Prompt.messages(
        instruction,
        { ...question, conversation },
        { texts: { ...defaultConfig.texts, role: "system" } }
      ),
      [{ role: "system", content: "Answer the question." }, ...conversation, last]
    )
    assert.deepStrictEqual(Prompt.messages(instruction, { ...question, conversation }, defaultConfig), [
      ...conversation,
      { ...last, content: `Answer the question. ${last.content}` }
    ])
  })

  it("leaves white space around a message to the chat template", () => {
    assert.deepStrictEqual(
      Prompt.messages(
        { text: "\n Answer the question. \n" },
        { question: " Who founded Lumen Works?\n" },
        defaultConfig
      ),
      Prompt.messages(instruction, question, defaultConfig)
    )
  })
})
