import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Strategies } from "@inspo/coevolution"
import { Console, Effect, FileSystem, Layer, Option } from "effect"
import * as DropTheLast from "../../../../examples/own-strategy/DropTheLast.ts"
import { join, local } from "@inspo/config"
import { algorithm, runOn } from "../../../../packages/coevolution/test/support/ScriptedRun.ts"
import { report } from "../../src/report/Write.ts"
import { writeConfig } from "../../src/runDirectory/ConfigFile.ts"
import { replay } from "../../src/run/Replay.ts"
import { show } from "../../src/run/Show.ts"
import { layerJournal } from "../../src/runDirectory/JournalLayer.ts"
import { JsonFlag } from "../../src/commands/handler.ts"

const config = join(algorithm, local)

/** A finished run that was pruned by a rule of its own, or by that of its settings. */
const written = Effect.fnUntraced(function* (rule: Layer.Layer<never> | ReturnType<typeof DropTheLast.layer>) {
  const fs = yield* FileSystem.FileSystem
  const directory = yield* fs.makeTempDirectoryScoped()
  yield* writeConfig(directory, config)
  yield* runOn(algorithm, Layer.orDie(layerJournal(directory, config, "create")), undefined, {
    strategies: Layer.merge(Strategies.layer(algorithm), rule)
  })
  return directory
})

/** What an effect prints. */
const printed = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const lines: Array<string> = []
  const log = (text: string) => void lines.push(text)
  yield* Effect.provideService(effect, Console.Console, { ...console, log })
  return lines.join("\n")
})

const told = Effect.fnUntraced(function* (directory: string) {
  const output = { directory, out: Option.some("-") }
  return yield* Effect.all([
    printed(show(directory)),
    printed(Effect.provideService(show(directory), JsonFlag, true)),
    printed(report({ ...output, format: "md" })),
    printed(report({ ...output, format: "html" }))
  ])
})

describe("a run that was decided by a strategy of its own", () => {
  it.live("is named by show and both reports, where another run has the rule of its settings", () =>
    Effect.gen(function* () {
      const foreign = yield* told(yield* written(DropTheLast.layer(1)))
      const usual = yield* told(yield* written(Layer.empty))
      for (const [place, text] of foreign.entries()) {
        assert.match(text, /drop-the-last/u, `output ${place}`)
        assert.notMatch(usual[place] ?? "", /drop-the-last/u)
      }
      assert.include(
        foreign[0]?.replaceAll(/\s+/gu, " "),
        "the rule of removal is drop-the-last (parents 1), not what the settings name"
      )
      assert.match(usual[2] ?? "", /\| removal +\| bottom-half/u)
      assert.notMatch(foreign[2] ?? "", /\| removal +\| bottom-half/u)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("is not replayed by what its settings name", () =>
    Effect.gen(function* () {
      const directory = yield* written(DropTheLast.layer(1))
      const replayed = yield* Effect.flip(replay({ directory }))
      assert.include(replayed.message, "was drop-the-last (parents 1)")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
