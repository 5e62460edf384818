import { assert, describe, it } from "@effect/vitest"
import { Provider, openAiCompatible } from "@inspo/reflection/models"
import { Effect, Layer } from "effect"
import { FetchHttpClient, HttpServer } from "effect/http"
import { improve } from "../improve-a-prompt/ImproveAPrompt.ts"
import { heldOut, training } from "../improve-a-prompt/Questions.ts"
import * as ScriptedModel from "./support/ScriptedModel.ts"

const prompt = "Answer the question. Put the answer between <answer> and </answer>."
const helpful = `${prompt} Write the name only.`
const useless = `${prompt} Be polite.`
const leaking = `${prompt} The capital of Kenya is Nairobi.`

/** A frozen model that knows all capitals, but writes a bare name only if instructed to. */
const agent = (instruction: string, question: string): string => {
  const known = [...training, ...heldOut].find((one) => one.question === question)?.goldenAnswers[0] ?? ""
  return `<answer>${instruction.includes("name only") ? known : `It is ${known}, of course`}</answer>`
}

const proposer = (candidates: ReadonlyArray<string>) =>
  `It wraps the name in a sentence.\n${candidates.map((text, i) => `<ins_${i + 1}>${text}</ins_${i + 1}>`).join("\n")}`

const improved = (candidates: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const url = yield* HttpServer.addressFormattedWith((address) => Effect.succeed(`${address}/v1`))
    const model = yield* Provider.make(openAiCompatible, {
      url,
      model: "scripted",
      apiKey: null,
      temperature: 0,
      maxOutputTokens: 100,
      timeout: "10 seconds",
      retries: 0
    })
    return yield* improve({ agent: model, writer: model, prompt, training, heldOut, candidates: candidates.length })
  }).pipe(
    Effect.provide(
      Layer.merge(
        FetchHttpClient.layer,
        ScriptedModel.layer(([first, second]) =>
          first?.role === "system" ? agent(first.content, second?.content ?? "") : proposer(candidates)
        )
      )
    )
  )

describe("improve a prompt", () => {
  it.live(
    "picks the candidate that scores higher on unseen questions, and never verifies one that contains an answer",
    () =>
      Effect.gen(function* () {
        const improvement = yield* improved([useless, helpful, leaking])
        assert.strictEqual(improvement.prompt, helpful)
        assert.strictEqual(improvement.critique, "It wraps the name in a sentence.")
        assert.deepStrictEqual(
          improvement.candidates.map(({ text, verdict }) => [text, verdict.mean]),
          [
            [useless, 0],
            [helpful, 1]
          ]
        )
        assert.include(
          improvement.rejected.map(({ reason }) => reason),
          "answer-leaked"
        )
      })
  )

  it.live("keeps the prompt when no candidate does better", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* improved([useless])).prompt, prompt)
    })
  )
})
