import { assert, describe, it } from "@effect/vitest"
import { ModelConfig } from "@inspo/engine-local"
import { Effect, Fiber, Option } from "effect"
import * as Programs from "../../src/internal/Programs.ts"
import * as WorkerPool from "../../src/internal/WorkerPool.ts"
import { config } from "../fixtures.ts"

const make = (rows: number, options: Pick<WorkerPool.Options, "module" | "timeout"> = {}) =>
  WorkerPool.make({ config, parameters: ModelConfig.initialParameters(config, "pool"), workers: 2, rows, ...options })

const program = Programs.make(config).sequence(2, 16, "logprob")
const zeros = new BigInt64Array(32)

/** Runs a program a number of times on one worker. */
const evaluate = (
  pool: WorkerPool.WorkerPool,
  times: number,
  inputs: Record<string, BigInt64Array> = { tokens: zeros, previous: zeros, positions: zeros, targets: zeros }
) =>
  pool.run("evaluate", {
    policy: "current",
    lane: null,
    outputs: ["logprobs"],
    batches: Array.from({ length: times }, () => ({ program, inputs }))
  })

describe("WorkerPool", () => {
  it.effect("a task that throws fails, and the next one runs", () =>
    Effect.gen(function* () {
      const pool = yield* make(2)
      for (let attempt = 0; attempt < 3; attempt++) {
        const { _tag, cause } = yield* Effect.flip(evaluate(pool, 1, {}))
        assert.strictEqual(_tag, "WorkerFailure")
        // The stack is that of the worker.
        assert(cause instanceof Error)
        assert.match(cause.stack ?? "", /Evaluator/u)
      }
      const [reply] = yield* evaluate(pool, 1)
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

  it.live("a task given while the worker starts is answered, where early messages are not kept", () =>
    Effect.gen(function* () {
      const module = new URL("./eagerWorker.ts", import.meta.url)
      const pool = yield* make(2, { module, timeout: "2 seconds" })
      const answer = yield* Effect.timeoutOption(pool.run("sample", []), "20 seconds")
      assert.isTrue(Option.isSome(answer), "no answer within 20 seconds")
    }).pipe(Effect.scoped)
  )

  it.live("an interrupted task ends with the answer of its worker, which goes on", () =>
    Effect.gen(function* () {
      const pool = yield* make(2)
      const tasks = yield* Effect.forkChild(
        Effect.forEach([1, 2, 3, 4], () => evaluate(pool, 200), { concurrency: "unbounded" })
      )
      yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => pool.idle() === 0 })
      yield* Fiber.interrupt(tasks)
      assert.strictEqual(pool.idle(), 2)
      assert.lengthOf(yield* evaluate(pool, 1), 1)
    }).pipe(Effect.scoped)
  )

  it.live("a worker that hangs holds an interrupt up for no longer than allowed, and costs the pool", () =>
    Effect.gen(function* () {
      const module = new URL("./hangingWorker.ts", import.meta.url)
      const pool = yield* make(2, { module, timeout: "200 millis" })
      const tasks = yield* Effect.forkChild(
        Effect.forEach([1, 2, 3], () => evaluate(pool, 1), { concurrency: "unbounded" })
      )
      yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => pool.idle() === 0 })
      yield* Fiber.interrupt(tasks)
      assert.include((yield* Effect.flip(evaluate(pool, 1))).reason, "did not end its task within 200ms")
    }).pipe(Effect.scoped)
  )
})
