import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import { Point } from "@inspo/tracking"
import * as TensorBoard from "@inspo/tracking/TensorBoard"
import { Effect, FileSystem } from "effect"
import { TestClock } from "effect/testing"
import { Points } from "./support/Points.ts"
import { readEvents } from "./support/TensorBoardReader.ts"

const run = { name: "mine", settings: { seed: "1", "rollout.promptTemplate": "a | b" } }

/** The events of all files in their order, as TensorBoard reads a folder, each file without its first one. */
const read = Effect.fnUntraced(function* (directory: string) {
  const fs = yield* FileSystem.FileSystem
  const names = (yield* fs.readDirectory(directory)).toSorted()
  return yield* Effect.forEach(names, (name) =>
    Effect.map(fs.readFile(`${directory}/${name}`), (file) => {
      const [version, ...events] = readEvents(file)
      assert.include(name, "tfevents")
      assert.strictEqual(version?.fileVersion, "brain.Event:2")
      return events
    })
  ).pipe(Effect.map((files) => files.flat()))
})

describe("TensorBoard", () => {
  it.effect.prop(
    "is read back by another reader: what was before it, and every session",
    [Points, Points, Points],
    ([past, first, second]) =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const directory = yield* fs.makeTempDirectoryScoped()
        for (const [before, session] of [
          [past, first],
          [[...past, ...first], second]
        ] as const) {
          const tracker = yield* TensorBoard.make({ directory })
          yield* tracker.begin(run, before)
          for (const point of session) yield* tracker.log(point)
          yield* TestClock.adjust("999 millis")
        }
        const [settings, ...events] = yield* read(directory)
        assert.deepStrictEqual(settings?.texts, [
          ["settings", "| setting | value |\n|---|---|\n| seed | 1 |\n| rollout.promptTemplate | a \\| b |"]
        ])
        assert.deepStrictEqual(
          events.map(({ scalars, step }) => ({ step, scalars })),
          [...[...past, ...first].map(Point.news()), ...second.map(Point.news())].map(({ samples, step }) => ({
            step,
            scalars: samples.map((sample) => [Point.nameOf(sample).toWellFormed(), sample.value] as const)
          }))
        )
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    { arbitrary: { runs: 25 } }
  )

  it.effect("says which folder it cannot write", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const file = yield* fs.makeTempFileScoped()
      const tracker = yield* TensorBoard.make({ directory: `${file}/inside` })
      const error = yield* Effect.flip(tracker.begin(run, []))
      assert.include(error.message, `${file}/inside`)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
