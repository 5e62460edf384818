import { type Trajectory, Invariant } from "@inspo/domain"
import {
  Engine,
  type EngineError,
  type SampledSequence,
  type SampleRequest,
  type SampleResult,
  Stops
} from "@inspo/engine"
import type { Search } from "@inspo/retrieval"
import type { Reward } from "@inspo/reward"
import { Context, Effect, Iterable, Layer, Queue, Array, Ref } from "effect"
import type { Agent } from "./Agent.ts"
import type { MakeChatCall } from "./ChatPolicy.ts"
import {
  type Episode,
  RolloutError,
  type Call,
  defect,
  type End,
  isOver,
  type Playing,
  type Sample,
  type Thrown
} from "./Episode.ts"
import * as Delivery from "./internal/Delivery.ts"
import { type LayerOptions, make as makeSetup, type Setup } from "./internal/Setup.ts"
import * as TokenConversation from "./internal/TokenConversation.ts"
import * as Observation from "./Observation.ts"
import { defaultConfig, type RolloutOptions } from "./RolloutConfig.ts"

export { builtInTools, type LayerOptions } from "./internal/Setup.ts"

/** Runs the policy in its environment: act, call a tool, observe, until it answers or a limit is reached. */
export class Rollout extends Context.Service<Rollout, Rollout.Interface>()("@inspo/rollout/Rollout") {}

export declare namespace Rollout {
  export interface Interface {
    /** The agent that plays: what depends on it is taken from here, since it may be another than the config's. */
    readonly agent: Agent
    /**
     * One scored trajectory per episode, in their order. A trajectory depends on its episode, the policy and the tools
     * alone: never on the other episodes or on how many run at once.
     *
     * An episode whose prompt is too long yields a trajectory without turns. A failed tool call is retried; if it
     * fails for good, or the reward fails, the trajectory is `failed`: its turns are kept, but it has no reward. The same
     * seed would produce the same turns, so retrying the call retries the episode. An exception of an agent, tool or reward
     * is a defect of the collection; finished trajectories are handed over first.
     */
    readonly collect: <E = never>(
      episodes: ReadonlyArray<Episode>,
      options?: CollectOptions<E>
    ) => Effect.Effect<ReadonlyArray<Trajectory.Trajectory>, EngineError | RolloutError | E>
  }
}

/**
 * `onFinished` gets every trajectory once, within half a second after its episode finished, while others continue; also before
 * the collection fails. It never runs concurrently, and the collection waits for it. `makeChatCall` makes the calls of a chat
 * model, for a caller that pays and stores them; an engine makes none.
 */
export interface CollectOptions<E = never> {
  readonly onFinished?: (finished: ReadonlyArray<Trajectory.Trajectory>) => Effect.Effect<void, E>
  readonly makeChatCall?: MakeChatCall<E>
}

/**
 * Rollouts on the engine's tokens. At most `engine.profile.concurrency` episodes are in flight, and each finished one
 * makes room for the next. They run in `engine.profile.lanes` independent lanes of rounds: a round samples one turn of all
 * its episodes in one call, then makes their tool calls, those of one tool together. No lane waits for another, so the
 * engine samples for one while the tools of another work. Options missing from `config` are as in `defaultConfig`.
 */
export const layer = (
  config: RolloutOptions,
  options: LayerOptions = {}
): Layer.Layer<Rollout, never, Engine | Search | Reward> =>
  Layer.effect(Rollout, make({ ...defaultConfig, ...config }, options))

const make = Effect.fnUntraced(function* (config: Required<RolloutOptions>, options: LayerOptions) {
  const engine = yield* Engine
  const { profile, tokenizer } = engine
  const setup = yield* makeSetup(config, options, Observation.envelope(tokenizer))
  const { call } = setup
  const refusal = setup.agent.protocol === "tool-calls" ? withoutToolCalls(setup.agent) : setup.refusal
  const begin = TokenConversation.begin(setup.agent, { ...setup, tokenizer, contextLength: profile.contextLength })
  const score = Delivery.scoring(setup.score, Delivery.scoredTexts(setup.scoredTurns))

  const collect = Effect.fn("Rollout.collect")(function* <E = never>(
    episodes: ReadonlyArray<Episode>,
    { onFinished = () => Effect.void }: CollectOptions<E> = {}
  ) {
    yield* Effect.annotateCurrentSpan({ agent: setup.agent.name, episodes: episodes.length })
    if (refusal !== null) return yield* refusal
    const toRescore: Array<Delivery.FinishedEpisode> = []
    return yield* Delivery.collect(episodes, { score, onFinished }, (finished, isStopping) =>
      play({
        engine,
        waiting: Iterable.map(episodes, begin)[Symbol.iterator](),
        places: Math.max(1, Math.min(profile.concurrency, episodes.length)),
        call,
        deliver: (ended) => {
          const all = ended.map(Delivery.finished)
          toRescore.push(...all.filter(({ isRescored }) => isRescored))
          return Queue.offerAll(
            finished,
            all.filter(({ isRescored }) => !isRescored)
          )
        },
        isStopping
      }).pipe(
        Effect.andThen(Effect.suspend(() => Delivery.rescore(engine.score, toRescore))),
        Effect.flatMap((rescored) => Queue.offerAll(finished, rescored))
      )
    )
  })
  return Rollout.of({ agent: setup.agent, collect })
})

const withoutToolCalls = ({ name }: Agent) =>
  new RolloutError({
    field: "agent",
    value: name,
    expected: "another agent, because an engine samples tokens and has no tool calls",
    remedy: "set it to search-r1, or use a chat model"
  })

interface Options {
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
const play = ({ call, deliver, engine, isStopping, places, waiting }: Options) => {
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
