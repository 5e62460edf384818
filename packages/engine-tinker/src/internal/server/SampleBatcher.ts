import { Engine, type EngineError, type SampleRequest, type SampleResult } from "@inspo/engine"
import { Deferred, Effect, Exit, Queue, type Scope } from "effect"
import { type Refusal, refuse } from "./Refusal.ts"
import type { LoadedWeights, Weights } from "./LoadedWeights.ts"

/** Weights to sample from; `check` refuses when they are gone by the time it is their turn. */
export interface Source {
  readonly weights: Weights
  readonly check: Effect.Effect<void, Refusal>
}

type Failure = Refusal | EngineError

/** Samples what one request asks for. */
export type SampleOne = (source: Source, request: SampleRequest) => Effect.Effect<SampleResult, Failure>

interface Job {
  readonly source: Source
  readonly request: SampleRequest
  readonly result: Deferred.Deferred<SampleResult, Failure>
  /** Nobody waits for it any more. */
  abandoned: boolean
}

/**
 * Samples requests that arrive one by one in as few engine calls as possible: all that came in while the engine was busy
 * share its next call, up to `most` samples. That changes no sample, since none depends on the others of its call.
 */
export const make = Effect.fnUntraced(function* (
  loaded: LoadedWeights,
  most: number
): Effect.fn.Return<SampleOne, never, Engine | Scope.Scope> {
  const engine = yield* Engine
  const arrivals = yield* Queue.unbounded<Job>()

  const sample = (source: Source, jobs: ReadonlyArray<Job>) =>
    loaded.using(source.weights, Effect.andThen(source.check, engine.sample(jobs.map(({ request }) => request))))

  const run = Effect.fnUntraced(function* (source: Source, jobs: ReadonlyArray<Job>): Effect.fn.Return<void> {
    const results = yield* Effect.exit(sample(source, jobs))
    if (Exit.isSuccess(results)) {
      for (const [index, { result }] of jobs.entries()) {
        const sampled = results.value[index]
        yield* sampled === undefined
          ? Deferred.fail(result, refuse("the engine left the request unanswered", 500))
          : Deferred.succeed(result, sampled)
      }
    } else if (jobs.length === 1) {
      for (const { result } of jobs) yield* Deferred.failCause(result, results.cause)
    } else {
      // One request that cannot be sampled must not fail the others of its call.
      for (const job of jobs) yield* run(source, [job])
    }
  })

  yield* Effect.forkScoped(
    Effect.forever(
      Effect.gen(function* () {
        const jobs = yield* Queue.takeAll(arrivals)
        for (const [source, own] of Map.groupBy(jobs, (job) => job.source))
          for (const call of calls(own, most)) {
            const wanted = call.filter(({ abandoned }) => !abandoned)
            if (wanted.length > 0) yield* run(source, wanted)
          }
      })
    )
  )

  return Effect.fnUntraced(function* (source, request) {
    const job: Job = { source, request, result: yield* Deferred.make<SampleResult, Failure>(), abandoned: false }
    yield* Queue.offer(arrivals, job)
    return yield* Effect.onInterrupt(Deferred.await(job.result), () => Effect.sync(() => (job.abandoned = true)))
  })
})

/** Jobs in order, in parts of at most `most` samples; a job that has more goes alone. */
const calls = (jobs: ReadonlyArray<Job>, most: number): ReadonlyArray<ReadonlyArray<Job>> => {
  const parts: Array<Array<Job>> = []
  let room = 0
  for (const job of jobs) {
    const part = parts.at(-1)
    if (part === undefined || job.request.n > room) {
      parts.push([job])
      room = most - job.request.n
    } else {
      part.push(job)
      room -= job.request.n
    }
  }
  return parts
}
