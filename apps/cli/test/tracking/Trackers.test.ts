import { assert, describe, it } from "@effect/vitest"
import { Presets } from "@inspo/config"
import { Effect } from "effect"
import { settingsOf } from "../../src/tracking/Follow.ts"
import { fromInput } from "../../src/tracking/Trackers.ts"

const read = (...track: ReadonlyArray<string>) => fromInput({ track })

describe("fromInput", () => {
  it.effect("reads trackers", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* read("tensorboard", "prometheus", "prometheus=0.0.0.0:1"), [
        { _tag: "TensorBoard" },
        { _tag: "Prometheus", host: "127.0.0.1", port: 9464 },
        { _tag: "Prometheus", host: "0.0.0.0", port: 1 }
      ])
    })
  )

  it.effect("refuses what it does not know, with what was expected and no password", () =>
    Effect.gen(function* () {
      for (const [track, told] of [
        ["tensorbord", "Did you mean tensorboard?"],
        ["wandb", "W&B reads the files of tensorboard"],
        ["tensorboard=here", "tensorboard alone"],
        ["prometheus=http://me:s3cret@host", "prometheus=HOST:PORT"],
        ["prometheus=99999", "prometheus=PORT"]
      ] as const) {
        const { message } = yield* Effect.flip(read(track))
        assert.include(message, told)
        assert.notInclude(message, "s3cret")
      }
    })
  )
})

describe("settingsOf", () => {
  it("names every setting, without credentials", () => {
    const settings = settingsOf({
      ...Presets.quick,
      retrieval: { ...Presets.quick.retrieval, url: "http://me:s3cret@host/retrieve" }
    })
    assert.strictEqual(settings["retrieval.url"], "http://host/retrieve")
    assert.strictEqual(settings["randomSeed"], "1")
    assert.strictEqual(settings["data.world.questions"], "1000")
    assert.strictEqual(settings["rollout.tools"], '["search"]')
  })
})
