import { Engine, type SampleRequest } from "@inspo/engine"
import { TabularEngine } from "@inspo/engine/testing"
import * as TinkerEngine from "@inspo/engine-tinker"
import { Effect, Layer } from "effect"

/** An engine behind a server with the tokenizer of the tabular engine, until the scope ends. */
export const connect = Effect.fnUntraced(function* (options: Partial<TinkerEngine.TinkerEngineOptions> = {}) {
  const { tokenizer } = yield* TabularEngine.make
  const layer = TinkerEngine.layer({ url: "http://inspo.test", tokenizer, contextLength: 160, ...options })
  return yield* Effect.provideContext(Engine, yield* Layer.build(layer))
})

/** Two samples of a prompt. */
export const request: SampleRequest = {
  prompt: [1, 2],
  n: 2,
  stop: [],
  maxTokens: 6,
  temperature: 1,
  topP: 1,
  seed: "test"
}
