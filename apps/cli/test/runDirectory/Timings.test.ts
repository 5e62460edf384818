import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem } from "effect"
import { filesOf } from "../../src/runDirectory/Files.ts"
import { accepted, appendTiming, stepSeconds, timing, wallSeconds } from "../../src/runDirectory/Timings.ts"

const rollouts = { train: 0, verification: 0, evaluation: 0 }
const line = (event: string, launchedAt: number, seconds: number, step: number) =>
  timing(event, { launchedAt, seconds, step, rollouts })

describe("the seconds up to a step", () => {
  it.effect("add up over sessions, and count lost steps when they are repeated", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const directory = yield* fs.makeTempDirectoryScoped()
      assert.deepStrictEqual([...(yield* stepSeconds(directory))], [])
      for (const one of [
        line("StepPlanned", 1000, 3, 1),
        line("StepTrained", 1000, 5, 1),
        line("StepTrained", 1000, 9, 2),
        line("StepPlanned", 1000, 10, 3),
        accepted(2000, 1),
        line("StepTrained", 2000, 4, 2),
        line("Reported", 2000, 6, 2),
        line("StepTrained", 3000, 1, 3)
      ])
        yield* appendTiming(directory, one)
      assert.deepStrictEqual(
        [...(yield* stepSeconds(directory))],
        [
          [1, 5],
          [2, 14],
          [3, 17]
        ]
      )
      assert.strictEqual(yield* wallSeconds(directory), 17)
      // What no run has taken is no line either.
      for (const session of [4000, 5000]) yield* appendTiming(directory, line("Reported", session, 1e308, 3))
      assert.strictEqual(yield* wallSeconds(directory), 17)
      yield* fs.writeFileString(filesOf(directory).timings, "no line\n")
      assert.deepStrictEqual([...(yield* stepSeconds(directory))], [])
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
