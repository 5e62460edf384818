import { assert, describe, it } from "@effect/vitest"
import { Engine, type SampleRequest } from "@inspo/engine"
import { EngineLaws } from "@inspo/engine/testing"
import { Effect, Layer } from "effect"
import * as Embedded from "./support/Embedded.ts"

describe("an embedded model over HTTP", () => {
  for (const encoding of ["json", "protobuf"] as const) {
    const engine = Layer.unwrap(Effect.map(Embedded.temporaryFolder, (folder) => Embedded.overHttp(folder, encoding)))
    it.layer(engine, { excludeTestServices: true })(`conforms, ${encoding}`, (it) => {
      for (const { check, name } of EngineLaws.laws()) it.effect(name, () => check)
    })
  }

  it.live("brings back what was saved after a restart of the server", () =>
    Effect.gen(function* () {
      const folder = yield* Embedded.temporaryFolder
      const during = <A, E>(use: (engine: Engine.Interface) => Effect.Effect<A, E>) =>
        Effect.gen(function* () {
          return yield* use(yield* Engine)
        }).pipe(Effect.provide(Embedded.overHttp(folder, "protobuf"), { local: true }), Effect.scoped)

      const request: SampleRequest = {
        prompt: [20, 21, 22],
        n: 2,
        stop: [],
        maxTokens: 8,
        temperature: 1,
        topP: 1,
        seed: "restart"
      }
      const first = yield* during((engine) =>
        Effect.gen(function* () {
          const before = yield* engine.sample([request])
          yield* engine.train({
            key: "0",
            datums: (before[0]?.sequences ?? []).map(({ logprobs, tokens }, member) => ({
              prompt: request.prompt,
              response: tokens,
              logprobs,
              advantages: tokens.map(() => (member === 0 ? 1 : -1)),
              weights: tokens.map(() => 0.1)
            })),
            loss: { clipRatio: 0.2, klCoefficient: 0 },
            optimizer: { learningRate: 0.01, beta1: 0.9, beta2: 0.999, weightDecay: 0, gradientClip: 1 }
          })
          return { before, after: yield* engine.sample([request]), saved: yield* engine.save("kept") }
        })
      )
      assert.notDeepEqual(first.after, first.before)
      const second = yield* during((engine) =>
        Effect.gen(function* () {
          const fresh = yield* engine.sample([request])
          yield* engine.restore(first.saved)
          return { fresh, restored: yield* engine.sample([request]) }
        })
      )
      assert.deepStrictEqual(second.fresh, first.before)
      assert.deepStrictEqual(second.restored, first.after)
    }).pipe(Effect.scoped)
  )
})
