import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { describe, it } from "@effect/vitest"
import { EngineLaws } from "@inspo/engine/testing"
import * as CompletionsEngine from "@inspo/engine-completions"
import * as HuggingFaceTokenizer from "@inspo/engine/HuggingFaceTokenizer"
import { Effect, Layer } from "effect"
import * as Foreign from "./support/Foreign.ts"
import { serving, tinyModel } from "./support/Torch.ts"
import * as NodeServices from "@effect/platform-node/NodeServices"

describe.skipIf(Foreign.problem !== null)("the sampler of the studies", () => {
  it.live(
    "is a frozen engine that holds to the laws",
    () =>
      Effect.gen(function* () {
        const folder = yield* tinyModel
        const url = yield* serving("sample.py", ["--model", folder])
        const tokenizer = yield* HuggingFaceTokenizer.read(folder)
        const context = yield* Layer.build(CompletionsEngine.layer({ url, tokenizer }))
        for (const { check } of EngineLaws.laws()) yield* Effect.provideContext(check, context)
      }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, NodeHttpClient.layerUndici])),
    300_000
  )
})
