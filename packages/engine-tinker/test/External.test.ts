import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { describe, it } from "@effect/vitest"
import { EngineLaws } from "@inspo/engine/testing"
import { ModelFolder } from "@inspo/engine-local"
import * as HuggingFaceTokenizer from "@inspo/engine/HuggingFaceTokenizer"
import * as Profile from "../src/Profile.ts"
import * as TinkerEngine from "@inspo/engine-tinker"
import { Config, Effect, Layer, Option, Schema } from "effect"

/**
 * A server of the Tinker protocol, named by `INSPO_ENGINE_URL`. `INSPO_ENGINE_MODEL` is its base model, the first by
 * default, and `INSPO_ENGINE_TOKENIZER` the folder of its tokenizer, that of the embedded model by default.
 * `INSPO_ENGINE_PROFILE`, `INSPO_ENGINE_API_KEY` and `INSPO_ENGINE_CONTEXT` say what it cannot tell.
 */
const external = (url: string) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const optional = <A>(config: Config.Config<A>) => Effect.map(Config.option(config), Option.getOrUndefined)
      const folder = yield* optional(Config.String("INSPO_ENGINE_TOKENIZER"))
      const profile = yield* optional(Config.String("INSPO_ENGINE_PROFILE"))
      return TinkerEngine.layer({
        url,
        tokenizer: yield* HuggingFaceTokenizer.read(folder ?? ModelFolder.shipped),
        model: yield* optional(Config.String("INSPO_ENGINE_MODEL")),
        profile: profile === undefined ? "auto" : yield* Schema.decodeUnknownEffect(Profile.ProfileName)(profile),
        apiKey: yield* optional(Config.Redacted("INSPO_ENGINE_API_KEY")),
        contextLength: yield* optional(Config.Int("INSPO_ENGINE_CONTEXT"))
      })
    })
  ).pipe(Layer.provide([NodeHttpClient.layerUndici, NodeServices.layer]))

const url = process.env["INSPO_ENGINE_URL"]

describe.skipIf(url === undefined)(
  "the server at INSPO_ENGINE_URL (set it, and INSPO_ENGINE_MODEL, to check one)",
  () => {
    it.layer(external(url ?? ""), { excludeTestServices: true, timeout: "10 minutes" })("conforms", (it) => {
      for (const { check, name } of EngineLaws.laws({ tolerance: 1e-3 })) it.effect(name, () => check, 600_000)
    })
  }
)
