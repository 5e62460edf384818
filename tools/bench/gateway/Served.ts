/** What the gateways of the benchmark serve. */
import { Engine } from "@inspo/engine"
import { ScriptedEngine } from "@inspo/rollout/testing"
import { Array as Arr, Effect, Layer } from "effect"
import { shape } from "../rollout/Shape.ts"
import * as Tokenizers from "../rollout/Tokenizers.ts"
import { calls, workers } from "./Shape.ts"

const bpe = Tokenizers.bpe(2_000)
const prose = bpe.tokenizer.encode(Arr.makeBy(shape.sampled - 10, (at) => bpe.words[at * 31]).join(" "))

export const { words } = bpe

/** What the policy writes in an episode: always the same length, and its number. */
export const written = (episode: string): ReadonlyArray<number> => [
  ...prose,
  ...bpe.tokenizer.encode(` n${episode.padStart(8, "0")}`)
]

export const engine = Layer.sync(Engine, () => {
  const scripted = ScriptedEngine.make(() => "", { contextLength: 8_192, concurrency: workers })
  return {
    ...scripted,
    tokenizer: bpe.tokenizer,
    sampler: Effect.succeed("now"),
    sample: (requests) =>
      Effect.sync(() =>
        requests.map(({ seed }) => {
          const tokens = written(seed.split("/")[0] ?? "")
          return { sequences: [{ tokens, logprobs: tokens.map(ScriptedEngine.logprob), stopReason: "stop" as const }] }
        })
      )
  }
})

export const limits = {
  maxCalls: calls,
  maxPromptTokens: 8_000,
  maxResponseTokens: 200,
  temperature: 1,
  topP: 1,
  tools: []
}
