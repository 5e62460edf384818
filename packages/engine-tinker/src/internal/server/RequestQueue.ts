import { type Duration, Effect, Option, Queue, type Scope } from "effect"

/** Work on one model. `sequence` is its number, from 1, or null to take its turn at once. */
export interface Job {
  readonly sequence: number | null
  readonly run: Effect.Effect<void>
}

/**
 * Runs the jobs of a model one at a time in the order of their numbers, whatever the order they arrive in. A number that is
 * missing is waited for, at most `timeout`, after which the rest continues.
 */
export const make = Effect.fnUntraced(function* (
  timeout: Duration.Input
): Effect.fn.Return<(job: Job) => Effect.Effect<void>, never, Scope.Scope> {
  const arrivals = yield* Queue.unbounded<Job>()
  const waiting: Array<Job> = []
  let expected = 1

  const step = Effect.gen(function* () {
    if (waiting.length === 0) waiting.push(yield* Queue.take(arrivals))
    waiting.push(...(yield* Queue.clear(arrivals)))
    waiting.sort((a, b) => (a.sequence ?? 0) - (b.sequence ?? 0))
    const [next] = waiting
    if (next === undefined) return
    if (next.sequence !== null && next.sequence > expected) {
      const late = yield* Effect.timeoutOption(Queue.take(arrivals), timeout)
      if (Option.isSome(late)) return void waiting.push(late.value)
    }
    waiting.shift()
    yield* next.run
    expected = Math.max(expected, (next.sequence ?? 0) + 1)
  })

  yield* Effect.forkScoped(Effect.forever(step))
  return (job) => Effect.asVoid(Queue.offer(arrivals, job))
})
