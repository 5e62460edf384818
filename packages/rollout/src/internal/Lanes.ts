import { Invariant } from "@inspo/domain"
import {
  type Engine,
  type EngineError,
  type SampledSequence,
  type SampleRequest,
  type SampleResult,
  Stops
} from "@inspo/engine"
import { Array, Effect, Ref } from "effect"
import {
  type Call,
  defect,
  type End,
  isOver,
  type Playing,
  RolloutError,
  type Sample,
  type Thrown
} from "../Episode.ts"
import type { Setup } from "./Setup.ts"

export interface Options {
  readonly engine: Engine.Interface
  /** Episodes that have not started: each starts when it is taken. */
  readonly waiting: Iterator<Playing>
  /** How many may run at once. */
  readonly places: number
  readonly call: Setup["call"]
  /** Gets every finished episode, also before a lane fails. */
  readonly deliver: (over: ReadonlyArray<Playing<End>>) => Effect.Effect<unknown>
  /** Once set, lanes end after their round. A failed lane sets it, so that the results of the others, already paid for, are kept. */
  readonly isStopping: Ref.Ref<boolean>
}

/**
 * Runs episodes in lanes that do not wait for one another. A lane runs in rounds: the turns of all its episodes are sampled
 * in one call, then their tools are called, those of one tool together; a finished episode makes room for the next.
 */
export const play = ({ call, deliver, engine, isStopping, places, waiting }: Options) => {
  const sample = sampling(engine)
  const enter = (places: number): ReadonlyArray<Playing> => {
    const entered: Array<Playing> = []
    for (let open = 0; open < places;) {
      const next = waiting.next()
      if (next.done === true) break
      entered.push(next.value)
      if (!isOver(next.value)) open++
    }
    return entered
  }

  const round = Effect.fnUntraced(function* (episodes: ReadonlyArray<Playing>) {
    const sampling = episodes.filter(isSampling)
    const sequences = yield* sample(sampling.map(({ step }) => step.request))
    for (const [{ resume }, sequence] of Invariant.zip(sampling, sequences, "requests and sequences"))
      resume({ _tag: "Sampled", sequence })
    for (let calling = episodes.filter(isCalling); calling.length > 0; calling = episodes.filter(isCalling)) {
      const replies = yield* call(calling.map(({ step }) => step))
      for (const [{ fail, resume }, reply] of Invariant.zip(calling, replies, "calls and replies"))
        if (reply._tag === "Success") resume({ _tag: "Replied", reply: reply.success })
        else fail(reply.failure.message)
    }
    const thrown = episodes.find(isThrown)
    if (thrown !== undefined) return yield* Effect.die(defect(thrown))
  })

  const lane = Effect.fnUntraced(
    function* (places: number) {
      let going: ReadonlyArray<Playing> = []
      while (!(yield* Ref.get(isStopping))) {
        const entered = enter(places - going.length)
        yield* deliver(entered.filter(isOver))
        const episodes = [...going, ...entered.filter(isOpen)]
        if (episodes.length === 0) break
        yield* Effect.ensuring(
          round(episodes),
          Effect.suspend(() => deliver(episodes.filter(isOver)))
        )
        going = episodes.filter(isOpen)
      }
    },
    Effect.onError(() => Ref.set(isStopping, true)),
    Effect.exit
  )

  return Effect.forEach(shares(places, engine.profile.lanes ?? 1), lane, { concurrency: "unbounded" }).pipe(
    Effect.flatMap(Effect.forEach((ended) => ended, { discard: true }))
  )
}

/** Divides places among lanes, in shares that differ by at most one; none is empty. */
const shares = (places: number, lanes: number): ReadonlyArray<number> => {
  const count = Math.max(1, Math.min(lanes, places))
  return Array.makeBy(count, (lane) => Math.floor((places + lane) / count))
}

/** Samples one sequence for each request, in one call of the engine, whose answers are checked against its contract. */
const sampling = (engine: Engine.Interface) => {
  const { enforce, taken } = Stops.make(engine)
  return Effect.fnUntraced(function* (
    requests: ReadonlyArray<SampleRequest>
  ): Effect.fn.Return<ReadonlyArray<SampledSequence>, EngineError | RolloutError> {
    if (requests.length === 0) return []
    const results = yield* engine.sample(requests.map((request) => ({ ...request, stop: taken(request.stop) })))
    const sequences: Array<SampledSequence> = []
    for (const [i, request] of requests.entries())
      sequences.push(enforce(yield* onlySequence(request, results[i]), request.stop))
    return sequences
  })
}

const onlySequence = (
  request: SampleRequest,
  result: SampleResult | undefined
): Effect.Effect<SampledSequence, RolloutError> => {
  const about = (what: string, value: number | string, expected: string, remedy?: string) =>
    Effect.fail(
      new RolloutError({
        field: `the engine's ${what} for the request of seed ${request.seed}`,
        value: String(value),
        expected,
        ...(remedy === undefined ? {} : { remedy })
      })
    )
  const sequence = result?.sequences[0]
  if (sequence === undefined) return about("answer", "missing", "one sequence")
  const { logprobs, tokens } = sequence
  const odd = logprobs.find((logprob) => !Number.isFinite(logprob))
  if (odd !== undefined)
    return about("log-probability", odd, "a finite number", "if the policy has been trained, lower the learning rate")
  if (tokens.length > request.maxTokens) return about("number of tokens", tokens.length, `at most ${request.maxTokens}`)
  return logprobs.length === tokens.length
    ? Effect.succeed(sequence)
    : about("number of log-probabilities", logprobs.length, `${tokens.length}, one for each token`)
}

const isSampling = (playing: Playing): playing is Playing<Sample> => playing.step._tag === "Sample"
const isCalling = (playing: Playing): playing is Playing<Call> => playing.step._tag === "Call"
const isThrown = (playing: Playing): playing is Playing<Thrown> => playing.step._tag === "Thrown"
const isOpen = (playing: Playing): boolean => !isOver(playing)
