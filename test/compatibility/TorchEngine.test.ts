import { join } from "node:path"
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { describe, it } from "@effect/vitest"
import { EngineLaws } from "@inspo/engine/testing"
import * as HuggingFaceTokenizer from "@inspo/engine/HuggingFaceTokenizer"
import * as TinkerEngine from "@inspo/engine-tinker/TinkerEngine"
import { Effect, Layer } from "effect"
import * as Foreign from "./support/Foreign.ts"
import { serving, tinyModel } from "./support/Torch.ts"

describe.skipIf(Foreign.problem !== null)("the trainer of the studies", () => {
  it.live(
    "is an engine that holds to the laws",
    () =>
      Effect.gen(function* () {
        const folder = yield* tinyModel
        const url = yield* serving(
          "engine.py",
          ["--model", folder, "--out", join(folder, "served"), "--dtype", "float32"],
          "api/v1/healthz"
        )
        const tokenizer = yield* HuggingFaceTokenizer.read(folder)
        const context = yield* Layer.build(TinkerEngine.layer({ url, tokenizer }))
        for (const { check } of EngineLaws.laws({ tolerance: 1e-4 })) yield* Effect.provideContext(check, context)
      }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, NodeHttpClient.layerUndici])),
    300_000
  )
})
