import { assert, describe, it } from "@effect/vitest"
import { defaultConfig, Prompt } from "@inspo/rollout"
import { tokenizer } from "@inspo/rollout/testing/ByteTokenizer"

const instruction = { text: "Answer the question." }
const question = { question: "Who founded Lumen Works?" }

describe("Prompt", () => {
  it("puts the instruction before the question", () => {
    assert.strictEqual(
      tokenizer.decode(Prompt.render(tokenizer, instruction, question, defaultConfig)),
      "<|user|> Answer the question. Question: Who founded Lumen Works?<|assistant|>"
    )
  })

  it("or into the system message", () => {
    assert.strictEqual(
      tokenizer.decode(
        Prompt.render(tokenizer, instruction, question, {
          texts: { ...defaultConfig.texts, role: "system" }
        })
      ),
      "<|system|> Answer the question.<|user|> Question: Who founded Lumen Works?<|assistant|>"
    )
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
