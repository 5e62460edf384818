import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { RunState } from "@inspo/coevolution"
import { Presets } from "@inspo/config"
import { layerMemory } from "@inspo/journal/sqlite"
import { ConfigProvider, Effect, FileSystem, Metric, Ref, Schedule } from "effect"
import { follow } from "../../src/tracking/Follow.ts"

const config = Presets.tiny

describe("follow", () => {
  it.live("sends every event to every tracker, and the ledger's sums after a step", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      const lines = yield* Ref.make<ReadonlyArray<string>>([])
      const onEvent = yield* follow({
        directory,
        config,
        past: [],
        trackers: [{ _tag: "TensorBoard" }, { _tag: "Prometheus", host: "127.0.0.1", port: 0 }],
        reporter: {
          columns: 80,
          live: true,
          lines: (more) => Ref.update(lines, (known) => [...known, ...more]),
          block: () => Effect.void
        },
        note: () => Effect.void
      })
      yield* onEvent(
        { _tag: "StepTrained", step: 1, metrics: [{ loss: 0.5, kl: 0, clipFraction: 0, gradientNorm: 1, tokens: 1 }] },
        RunState.unstarted
      )
      const told = Effect.gen(function* () {
        const url = /http:\S+/u.exec((yield* Ref.get(lines)).join(" "))?.[0]
        const scraped =
          url === undefined ? "" : yield* Effect.promise(() => fetch(url).then((response) => response.text()))
        assert.include(scraped, "inspo_loss 0.5\n")
        assert.include(scraped, "inspo_budget_rollouts 0\n")
        const [name = ""] = yield* fs.readDirectory(`${directory}/tensorboard`)
        const written = yield* fs.readFileString(`${directory}/tensorboard/${name}`)
        for (const part of ["loss", "grad_norm", "budget/minutes", "data.world.questions"])
          assert.include(written, part)
      })
      yield* Effect.retry(Effect.sandbox(told), { times: 100, schedule: Schedule.spaced("20 millis") })
    }).pipe(
      Effect.scoped,
      Effect.provide([NodeServices.layer, layerMemory]),
      Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({}))),
      Effect.provideService(Metric.MetricRegistry, new Map())
    )
  )
})
