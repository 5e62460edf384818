import { execFile } from "node:child_process"
import { promisify } from "node:util"
import * as NodeServices from "@effect/platform-node/NodeServices"
import { assert, describe, it } from "@effect/vitest"
import type { Point } from "@inspo/tracking"
import * as TensorBoard from "@inspo/tracking/TensorBoard"
import { Effect, FileSystem, Schema } from "effect"
import * as Foreign from "./support/Foreign.ts"

/** What TensorBoard makes of a folder: the values of each tag by step, in the order they were written. */
const script = `
import json, sys
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
events = EventAccumulator(sys.argv[1], size_guidance={"scalars": 0, "tensors": 0})
events.Reload()
tags = events.Tags()
print(json.dumps({
    "scalars": {tag: [[e.step, e.value] for e in events.Scalars(tag)] for tag in tags["scalars"]},
    "texts": {tag: [e.tensor_proto.string_val[0].decode() for e in events.Tensors(tag)] for tag in tags["tensors"]},
}))
`

const decode = Schema.decodeUnknownSync(
  Schema.fromJsonString(
    Schema.Struct({
      scalars: Schema.Record(Schema.String, Schema.Array(Schema.Tuple([Schema.Int, Schema.Finite]))),
      texts: Schema.Record(Schema.String, Schema.Array(Schema.String))
    })
  )
)

const value = (label: string, value: number): Point.Sample => ({ name: "inspo/value", label, value })

describe("TensorBoard itself", () => {
  it.live.skipIf(Foreign.problem !== null)(
    `reads one value a step, and the settings${Foreign.problem === null ? "" : `: ${Foreign.problem}`}`,
    () =>
      Effect.gen(function* () {
        const fs = yield* FileSystem.FileSystem
        const directory = yield* fs.makeTempDirectoryScoped()
        const tracker = yield* TensorBoard.make({ directory })
        yield* tracker.begin({ name: "mine", settings: { seed: "1" } }, [])
        const points: ReadonlyArray<Point.Point> = [
          { step: 1, samples: [value("i0", 0.5)] },
          { step: 1, samples: [value("i0", 0.5), value("i1", 0.25)] },
          { step: 2, samples: [value("i0", 0.5), value("i1", 1)] }
        ]
        yield* Effect.forEach(points, tracker.log)
        const { stdout } = yield* Effect.promise(() => promisify(execFile)(Foreign.python, ["-c", script, directory]))
        assert.deepStrictEqual(decode(stdout), {
          scalars: {
            "inspo/value/i0": [
              [1, 0.5],
              [2, 0.5]
            ],
            "inspo/value/i1": [
              [1, 0.25],
              [2, 1]
            ]
          },
          texts: { settings: ["| setting | value |\n|---|---|\n| seed | 1 |"] }
        })
        Foreign.record({
          software: "TensorBoard",
          package: "tensorboard",
          what: "event files are read, one value a step"
        })
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    120_000
  )
})
