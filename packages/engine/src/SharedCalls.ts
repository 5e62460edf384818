import { type Array as Arr, Deferred, Effect, Exit, Request, RequestResolver, Semaphore } from "effect"
import type { SampleRequest, SampleResult } from "./Engine.ts"

/** `source` is what to sample from: only requests of one source share a call. */
export interface Options<Source, E> {
  readonly sample: (
    source: Source,
    requests: ReadonlyArray<SampleRequest>
  ) => Effect.Effect<ReadonlyArray<SampleResult>, E>
  /** The most samples of one call; a larger request gets its own call. */
  readonly most?: number
  /** Fails a request that the engine left unanswered. */
  readonly unanswered: () => E
}

/** Samples the sequences of one request. */
export type SampleOne<Source, E> = (source: Source, request: SampleRequest) => Effect.Effect<SampleResult, E>

/**
 * Requests that arrive while the engine is busy share its next call. This changes no sample, since none depends on the
 * other requests of its call. A call is cancelled when all its clients are gone.
 */
export const make = Effect.fnUntraced(function* <Source, E>({
  most = Infinity,
  sample,
  unanswered
}: Options<Source, E>): Effect.fn.Return<SampleOne<Source, E>> {
  class Sampling extends Request.TaggedClass("Sampling")<
    { readonly source: Source; readonly request: SampleRequest; readonly gone: Deferred.Deferred<void> },
    SampleResult,
    E
  > {}
  type Entry = Request.Entry<Sampling>
  const turn = yield* Semaphore.make(1)

  /** One call of the engine, which is cancelled when all its clients are gone: then nobody reads the result. */
  const call = (source: Source, entries: ReadonlyArray<Entry>) =>
    Effect.raceFirst(
      sample(
        source,
        entries.map(({ request }) => request.request)
      ),
      Effect.as(
        Effect.forEach(entries, ({ request: { gone } }) => Deferred.await(gone), { discard: true }),
        []
      )
    )

  const answer = Effect.fnUntraced(function* (source: Source, entries: ReadonlyArray<Entry>): Effect.fn.Return<void> {
    const sampled = yield* Effect.exit(call(source, entries))
    if (Exit.isSuccess(sampled)) {
      for (const [index, entry] of entries.entries()) {
        const result = sampled.value[index]
        entry.completeUnsafe(result === undefined ? Exit.fail(unanswered()) : Exit.succeed(result))
      }
    } else if (entries.length === 1) for (const entry of entries) entry.completeUnsafe(Exit.failCause(sampled.cause))
    // One request that cannot be sampled must not fail the others of its call.
    else for (const entry of entries) yield* answer(source, [entry])
  })

  const resolver = RequestResolver.make<Sampling>((entries) =>
    turn.withPermit(
      Effect.forEach(
        Map.groupBy(entries, ({ request }) => request.source),
        ([source, own]) => Effect.forEach(parts(own, most), (part) => answer(source, part), { discard: true }),
        { discard: true }
      )
    )
  ).pipe(RequestResolver.setDelayEffect(Effect.andThen(arrivals, turn.withPermit(Effect.void))))

  return Effect.fnUntraced(function* (source, request) {
    const gone = yield* Deferred.make<void>()
    return yield* Effect.request(new Sampling({ source, request, gone }), resolver).pipe(
      Effect.onInterrupt(() => Deferred.succeed(gone, undefined))
    )
  })
})

/** Waits for the requests that have already arrived. */
const arrivals = Effect.callback<void>((resume) => {
  const immediate = setImmediate(() => resume(Effect.void))
  return Effect.sync(() => clearImmediate(immediate))
})

/** The requests in order, in batches of at most `most` samples. */
const parts = <A extends { readonly request: { readonly request: SampleRequest } }>(
  entries: Iterable<A>,
  most: number
): ReadonlyArray<Arr.NonEmptyReadonlyArray<A>> => {
  const parts: Array<Arr.NonEmptyArray<A>> = []
  let room = 0
  for (const entry of entries) {
    const { n } = entry.request.request
    const part = parts.at(-1)
    if (part === undefined || n > room) parts.push([entry])
    else part.push(entry)
    room = (part === undefined || n > room ? most : room) - n
  }
  return parts
}
