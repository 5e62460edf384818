import { assert, describe, it } from "@effect/vitest"
import { Presets } from "@inspo/config"
import { ConfigProvider, Effect, Redacted } from "effect"
import { settingsOf } from "../../src/tracking/Follow.ts"
import { fromInput } from "../../src/tracking/Trackers.ts"

const read = (environment: Record<string, string>, ...track: ReadonlyArray<string>) =>
  fromInput({ track, trackNames: "verl" }).pipe(
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(environment)))
  )

describe("fromInput", () => {
  it.effect("reads trackers, and from the environment what they leave open", () =>
    Effect.gen(function* () {
      const environment = { MLFLOW_TRACKING_URI: "http://host:5000", MLFLOW_TRACKING_TOKEN: "s3cret" }
      const { naming, trackers } = yield* read(
        environment,
        "tensorboard",
        "mlflow",
        "prometheus",
        "prometheus=0.0.0.0:1"
      )
      assert.strictEqual(naming, "verl")
      assert.deepStrictEqual(trackers, [
        { _tag: "TensorBoard" },
        { _tag: "Mlflow", url: "http://host:5000", token: Redacted.make("s3cret"), experiment: "inspo" },
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
        ["mlflow", "MLFLOW_TRACKING_URI"],
        ["mlflow=ftp://me:s3cret@host", "mlflow=http://127.0.0.1:5000"],
        ["prometheus=99999", "prometheus=PORT"]
      ] as const) {
        const { message } = yield* Effect.flip(read({}, track))
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
