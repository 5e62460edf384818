import { it } from "@effect/vitest"
import { EngineLaws, TabularEngine } from "@inspo/engine/testing"
import { Effect, Layer } from "effect"
import { moduleOf } from "./support/Modules.ts"
import type { OwnEngine } from "./support/OwnEngine.ts"

/** The engine of the page over the sampler of a small model. */
const engine = Layer.unwrap(
  Effect.gen(function* () {
    const { profile, sample, tokenizer } = yield* TabularEngine.make
    const { layer } = yield* moduleOf<OwnEngine>("docs/how-to/own-engine.md")
    return layer(
      {
        contextLength: profile.contextLength,
        generate: (request) =>
          Effect.runPromise(
            Effect.map(sample([{ ...request, n: 1 }]), ([result]) => {
              const [sequence] = result?.sequences ?? []
              if (sequence === undefined) throw new Error("no sequence")
              return sequence
            })
          )
      },
      tokenizer
    )
  })
)

it.layer(engine)("the engine of docs/how-to/own-engine.md", (it) => {
  for (const { check, name } of EngineLaws.laws()) it.effect(name, () => check)
})
