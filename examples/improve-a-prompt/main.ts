/**
 * Improves the prompt of any model behind an OpenAI-compatible API, such as vLLM, SGLang or Ollama:
 *
 *     MODEL_URL=http://127.0.0.1:11434/v1 MODEL=qwen3 node improve-a-prompt/main.ts
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Provider, openAiCompatible } from "@inspo/reflection/models"
import { Config, Console, Effect, Option } from "effect"
import { FetchHttpClient } from "effect/http"
import { improve } from "./ImproveAPrompt.ts"
import { heldOut, training } from "./Questions.ts"

const seed = "Answer the question. Put the answer between <answer> and </answer>."

const program = Effect.gen(function* () {
  const url = yield* Config.String("MODEL_URL")
  const model = yield* Config.String("MODEL")
  const apiKey = Option.getOrNull(yield* Config.option(Config.Redacted("MODEL_KEY")))
  const connect = (temperature: number, maxOutputTokens: number) =>
    Provider.make(openAiCompatible, {
      url,
      model,
      apiKey,
      temperature,
      maxOutputTokens,
      timeout: "2 minutes",
      retries: 2
    })

  const improvement = yield* improve({
    agent: yield* connect(0, 512),
    writer: yield* connect(1, 2048),
    prompt: seed,
    training,
    heldOut,
    candidates: 3
  })
  yield* Console.log(improvement.critique)
  for (const { text, verdict } of improvement.candidates)
    yield* Console.log(`${verdict.mean.toFixed(2)} against ${verdict.parentMean?.toFixed(2) ?? "?"}: ${text}`)
  yield* Console.log(`\nThe prompt to use:\n${improvement.prompt}`)
})

NodeRuntime.runMain(program.pipe(Effect.provide(FetchHttpClient.layer)))
