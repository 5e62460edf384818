import { assert, describe, it } from "@effect/vitest"
import { initialParameters } from "@inspo/engine-local/model/ModelConfig"
import { Effect } from "effect"
import * as Programs from "../../src/internal/Programs.ts"
import * as WorkerPool from "../../src/internal/WorkerPool.ts"
import { config } from "../fixtures.ts"

const make = (rows: number) =>
  WorkerPool.make({ config, parameters: initialParameters(config, "pool"), workers: 2, rows })

describe("WorkerPool", () => {
  it.effect("a task that throws fails, and the next one runs", () =>
    Effect.gen(function* () {
      const pool = yield* make(2)
      const program = Programs.make(config).sequence(2, 16, "logprob")
      const run = (inputs: Record<string, BigInt64Array>) =>
        pool.run("evaluate", { policy: "current", lane: null, outputs: ["logprobs"], batches: [{ program, inputs }] })
      for (let attempt = 0; attempt < 3; attempt++) {
        assert.strictEqual((yield* Effect.flip(run({})))._tag, "WorkerFailure")
      }
      const zeros = new BigInt64Array(32)
      const [reply] = yield* run({ tokens: zeros, previous: zeros, positions: zeros, targets: zeros })
      assert.lengthOf(reply?.["logprobs"] ?? [], 32)
    }).pipe(Effect.scoped)
  )

  it.effect("a worker that dies fails the tasks given and those to come", () =>
    Effect.gen(function* () {
      // More memory than there is: the worker throws while it starts.
      const pool = yield* make(2 ** 40)
      const task = pool.run("sample", [])
      const errors = yield* Effect.forEach([1, 2, 3, 4], () => Effect.flip(task), { concurrency: "unbounded" })
      for (const { reason } of [...errors, yield* Effect.flip(task)]) assert.match(reason, /worker thread/)
    }).pipe(Effect.scoped)
  )
})
