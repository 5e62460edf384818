/** What the module of docs/how-to/own-engine.md exports. */
import type { Engine, SampledSequence, SampleRequest, Tokenizer } from "@inspo/engine"
import type { Layer } from "effect"

export interface OwnEngine {
  readonly layer: (
    backend: {
      readonly contextLength: number
      readonly generate: (request: Omit<SampleRequest, "n">) => Promise<SampledSequence>
    },
    tokenizer: Tokenizer
  ) => Layer.Layer<Engine>
}
