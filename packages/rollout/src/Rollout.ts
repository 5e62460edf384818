import { Invariant, type Trajectory } from "@inspo/domain"
import { Engine, type EngineError, type SampledSequence, type SampleRequest, type SampleResult } from "@inspo/engine"
import { Search } from "@inspo/retrieval"
import { Reward, type Scored } from "@inspo/reward"
import { Array, type Cause, Context, Effect, Exit, Layer, Queue, Ref, Result, Schema, Stream } from "effect"
import type { Agent, Calling, Finished, Progress, Sampling } from "./Agent.ts"
import * as Agents from "./agents/Agents.ts"
import * as Demonstration from "./Demonstration.ts"
import type { Episode } from "./Episode.ts"
import * as Stop from "./internal/Stop.ts"
import * as ToolCalls from "./internal/ToolCalls.ts"
import * as Observation from "./Observation.ts"
import type { RolloutConfig } from "./RolloutConfig.ts"
import * as SearchR1 from "./SearchR1.ts"
import * as Tool from "./Tool.ts"
import { calculator } from "./tools/Calculator.ts"
import * as SearchTool from "./tools/SearchTool.ts"

/** Runs the policy in its environment: act, call a tool, observe, until it answers or a limit is reached. */
export class Rollout extends Context.Service<Rollout, Rollout.Interface>()("@inspo/rollout/Rollout") {}

export declare namespace Rollout {
  export interface Interface {
    /**
     * One scored trajectory per episode, in their order. A trajectory depends on its episode, the policy and the tools
     * alone: never on the other episodes or on how many run at once.
     *
     * An episode whose prompt is too long yields a trajectory without turns. A tool that fails is asked again; when it
     * fails for good, or the reward does, the trajectory is `failed`: what it holds happened, but it earned no reward. The
     * same seed would write the same turns again, so repeating the call is repeating the episode. An exception of an
     * agent, tool or reward is a defect of the collection; what had finished by then is handed over first.
     */
    readonly collect: <E = never>(
      episodes: ReadonlyArray<Episode>,
      options?: CollectOptions<E>
    ) => Effect.Effect<ReadonlyArray<Trajectory.Trajectory>, EngineError | RolloutError | E>
  }
}

/**
 * `onFinished` gets every trajectory once, within half a second after its episode finished, while others go on; also before the
 * collection fails. It runs once at a time, and the collection ends after it.
 */
export interface CollectOptions<E = never> {
  readonly onFinished?: (finished: ReadonlyArray<Trajectory.Trajectory>) => Effect.Effect<void, E>
}

/** The episodes could not be run; `reason` says what was wrong and how to mend it. */
export class RolloutError extends Schema.TaggedError<RolloutError>()("RolloutError", {
  reason: Schema.String
}) {
  override get message() {
    return `rollout: ${this.reason}`
  }
}

/** The tools every rollout has; the config says which of them the agent may call. */
export const builtInTools: ReadonlyArray<string> = ["search", calculator.name]

/** `tools` joins the built-in ones (see {@link builtInTools}); `agent` takes the place of the one the config names. */
export interface LayerOptions {
  readonly tools?: ReadonlyArray<Tool.Tool>
  readonly agent?: Agent
}

/**
 * Rollouts on the engine's tokens. At most `engine.profile.concurrency` episodes are in flight, and each that finishes
 * makes place for the next. They go in `engine.profile.streams` streams, each in rounds of its own: a round samples one turn
 * of all its episodes in one call, then makes their tool calls, those of one tool together. No stream waits for another, so
 * the engine samples for one while the tools of another work.
 */
export const layer = (
  config: RolloutConfig,
  options: LayerOptions = {}
): Layer.Layer<Rollout, never, Engine | Search | Reward> => Layer.effect(Rollout, make(config, options))

/** An episode that is going on; `index` is its place among the episodes collected together. */
interface Running<P extends Progress = Progress> {
  readonly index: number
  readonly episode: Episode
  readonly progress: P
}

const make = Effect.fnUntraced(function* (config: RolloutConfig, options: LayerOptions) {
  const { profile, sample, score, tokenizer } = yield* Engine
  const reward = yield* Reward
  const isReference = config.agent === "search-r1" && config.mode === "searchr1"
  const agent = options.agent ?? Agents.fromConfig(config)
  const search = SearchTool.make((yield* Search).search, config.topK, (passages) =>
    isReference ? SearchR1.passagesText(passages) : Observation.passagesText(passages.slice(0, config.topK), config)
  )
  const tools = new Map([search, calculator, ...(options.tools ?? [])].map((tool) => [tool.name, tool]))
  const callable = agent.tools(config)
  const calls = ToolCalls.make(tools, {
    attempts: config.toolAttempts,
    timeoutSeconds: config.toolTimeoutSeconds,
    distinct: !isReference
  })
  const stop = Stop.make(profile, tokenizer)
  const enter = agent.make({
    config,
    tokenizer,
    contextLength: profile.contextLength,
    toolTexts: callable.flatMap((name) => tools.get(name)?.description ?? []).join(" ")
  })
  const begin = (episode: Episode): Progress => {
    const progress = enter(episode)
    return episode.demonstration === undefined
      ? progress
      : Demonstration.follow(tokenizer, episode.demonstration, progress)
  }

  const act = Effect.fnUntraced(function* (states: ReadonlyArray<Running>) {
    const acting = states.filter(isSampling)
    if (acting.length === 0) return states
    const requests = acting.map(({ progress }) => progress.request)
    const results = yield* sample(requests.map(stop.supported))
    const moved = yield* Effect.forEach(Array.zip(acting, requests), ([{ index, progress }, request], i) =>
      Effect.map(
        onlySequence(request, results[i]),
        (sampled) => [index, progress.resume(stop.enforce(sampled, request))] as const
      )
    )
    return move(states, moved)
  })

  const observe = Effect.fnUntraced(function* (states: ReadonlyArray<Running>) {
    let current = states
    for (let calling = current.filter(isCalling); calling.length > 0; calling = current.filter(isCalling)) {
      const replies = yield* calls(calling.map(({ progress }) => progress))
      current = move(
        current,
        Invariant.zip(calling, replies, "calls and replies").map(([{ index, progress }, reply]) => [
          index,
          Result.match(reply, {
            onSuccess: progress.resume,
            onFailure: ({ message }) => failed(progress, message)
          })
        ])
      )
    }
    return current
  })

  /** The log-probabilities of what agents have written anew, under the policy that wrote it. */
  const rescore = Effect.fnUntraced(function* (states: ReadonlyArray<Running<Finished>>) {
    if (states.length === 0) return states
    const scores = yield* score(
      "current",
      states.map(({ progress }) => progress.recording)
    )
    return yield* Effect.forEach(states, (state, index) => {
      const { progress } = state
      const { recording } = progress
      const logprobs = scores[index] ?? []
      if (logprobs.length !== recording.response.length)
        return Effect.fail(
          new RolloutError({
            reason:
              `the engine scored ${logprobs.length} of the ${recording.response.length} tokens of ${state.episode.id}; ` +
              "expected a log-probability for each"
          })
        )
      const known = Array.zipWith(recording.mask, logprobs, (isAction, logprob) => (isAction === 1 ? logprob : 0))
      return Effect.succeed({ ...state, progress: { ...progress, recording: { ...recording, logprobs: known } } })
    })
  })

  const conclude = ({ episode, progress }: Running<Finished>): Effect.Effect<Trajectory.Trajectory> => {
    const { prompt, response, transcript } = progress.recording
    if (progress.reason === "failed") return Effect.succeed(trajectory(episode, progress, unscored))
    const scoresAll = config.scoredTurns === "all" || isReference
    return reward
      .score({
        question: episode.question,
        prompt: tokenizer.decode(prompt),
        response: tokenizer.decode(response),
        turns: transcript.flatMap(({ action, text }) => (scoresAll || action.kind !== "invalid" ? [text] : []))
      })
      .pipe(
        Effect.map((scored) => trajectory(episode, progress, scored)),
        Effect.catch(({ message, spent }) =>
          Effect.as(
            Effect.logWarning(message),
            trajectory(episode, failed(progress, message), spent === undefined ? unscored : { ...unscored, spent })
          )
        )
      )
  }

  const collect = Effect.fn("Rollout.collect")(function* <E = never>(
    episodes: ReadonlyArray<Episode>,
    { onFinished = () => Effect.void }: CollectOptions<E> = {}
  ) {
    const envelope = Observation.envelope(tokenizer)
    if (config.maxObservationTokens < envelope) return yield* observationsTooShort(config, envelope)
    const unknown = callable.find((name) => !tools.has(name) || !Tool.isName(name))
    if (unknown !== undefined) return yield* unknownTool(unknown, Array.fromIterable(tools.keys()))
    const begun = episodes.map((episode, index): Running => ({ index, episode, progress: begin(episode) }))
    const waiting = begun.filter(isOpen)
    const finished = yield* Queue.unbounded<Running<Finished>, Cause.Done>()
    const rewritten: Array<Running<Finished>> = []
    const hand = (states: ReadonlyArray<Running>) => {
      const over = states.filter(isFinished)
      rewritten.push(...over.filter(isRewritten))
      return Queue.offerAll(
        finished,
        over.filter((state) => !isRewritten(state))
      )
    }
    const failing = yield* Ref.make(false)
    let defect: Cause.Cause<never> | undefined
    const stream = Effect.fnUntraced(
      function* (places: number) {
        let open = waiting.splice(0, places)
        while (open.length > 0 && !(yield* Ref.get(failing))) {
          const moved = yield* observe(yield* act(open))
          yield* hand(moved)
          const going = moved.filter(isOpen)
          open = [...going, ...waiting.splice(0, places - going.length)]
        }
      },
      Effect.onError(() => Ref.set(failing, true)),
      // When one fails, the others end their round, whose samples are paid for.
      Effect.exit
    )
    const places = Math.max(1, Math.min(profile.concurrency, waiting.length))
    const running = hand(begun).pipe(
      Effect.andThen(Effect.forEach(shares(places, profile.streams ?? 1), stream, { concurrency: "unbounded" })),
      Effect.flatMap(Effect.forEach((ended) => ended)),
      Effect.andThen(Effect.suspend(() => rescore(rewritten))),
      Effect.flatMap((rescored) => Queue.offerAll(finished, rescored)),
      Effect.exit,
      Effect.tap(() => Queue.end(finished))
    )
    const trajectories = new Map<number, Trajectory.Trajectory>()
    const concluding = Stream.fromQueue(finished).pipe(
      Stream.groupedWithin(handedTogether, handedWithin),
      Stream.runForEach(
        Effect.fnUntraced(function* (over) {
          const exits = yield* Effect.forEach(over, (state) => Effect.exit(conclude(state)), {
            concurrency: "unbounded"
          })
          const concluded: Array<Trajectory.Trajectory> = []
          for (const [{ index }, exit] of Array.zip(over, exits)) {
            if (Exit.isFailure(exit)) {
              yield* Ref.set(failing, true)
              defect ??= exit.cause
            } else {
              trajectories.set(index, exit.value)
              concluded.push(exit.value)
            }
          }
          yield* onFinished(concluded)
        })
      )
    )
    // What has finished is handed over before a failure is told.
    const [ended] = yield* Effect.all([running, concluding], { concurrency: "unbounded" })
    if (defect !== undefined) return yield* Effect.failCause(defect)
    yield* ended
    return episodes.map((_, index) => Invariant.get(trajectories, index, "trajectory"))
  })
  return Rollout.of({ collect })
})

/** Trajectories are handed over some at a time, since storing them costs a commit each time. */
const handedTogether = 256
const handedWithin = "500 millis"

/** A number of places in as many shares as there are streams, of sizes that differ by one at most; none is empty. */
const shares = (places: number, streams: number): ReadonlyArray<number> => {
  const count = Math.max(1, Math.min(streams, places))
  return Array.makeBy(count, (stream) => Math.floor((places + stream) / count))
}

const isSampling = (state: Running): state is Running<Sampling> => state.progress._tag === "Sampling"
const isCalling = (state: Running): state is Running<Calling> => state.progress._tag === "Calling"
const isFinished = (state: Running): state is Running<Finished> => state.progress._tag === "Finished"
const isOpen = (state: Running): boolean => !isFinished(state)
const isRewritten = ({ progress: { recording, rescore } }: Running<Finished>): boolean =>
  rescore === true && recording.mask.includes(1)

const move = (
  states: ReadonlyArray<Running>,
  moved: ReadonlyArray<readonly [index: number, progress: Progress]>
): ReadonlyArray<Running> => {
  const progress = new Map(moved)
  return states.map((state) => ({ ...state, progress: progress.get(state.index) ?? state.progress }))
}

const failed = ({ recording }: Progress, failure: string): Finished => ({
  _tag: "Finished",
  recording,
  reason: "failed",
  failure
})

const unscored = { answer: null, reward: 0 }

const trajectory = (
  { id, instruction, question }: Episode,
  { failure, reason, recording }: Finished,
  { answer, reward, spent }: Scored
): Trajectory.Trajectory => ({
  id,
  instructionId: instruction.id,
  questionId: question.id,
  reward,
  answer,
  toolCalls: recording.toolCalls,
  turns: recording.transcript.length,
  finishReason: reason,
  promptTokens: recording.prompt.length,
  responseTokens: recording.response.length,
  prompt: recording.prompt,
  response: recording.response,
  logprobs: recording.logprobs,
  mask: recording.mask,
  transcript: recording.transcript,
  ...(failure === undefined ? {} : { failure }),
  ...(spent === undefined ? {} : { scoring: spent })
})

const observationsTooShort = ({ maxObservationTokens }: RolloutConfig, envelope: number) =>
  new RolloutError({
    reason:
      `maxObservationTokens is ${maxObservationTokens}, but an observation takes ${envelope} tokens ` +
      `before it shows anything; raise it above that`
  })

const unknownTool = (name: string, known: ReadonlyArray<string>) =>
  new RolloutError({
    reason: `tools holds ${JSON.stringify(name)}, expected some of ${known.join(", ")}; leave it out or add a tool of that name`
  })

/** The engine's answer to a request for one sequence, checked against its contract. */
const onlySequence = (
  request: SampleRequest,
  result: SampleResult | undefined
): Effect.Effect<SampledSequence, RolloutError> => {
  const sequence = result?.sequences[0]
  if (sequence === undefined)
    return Effect.fail(new RolloutError({ reason: `the engine left the request of seed ${request.seed} unanswered` }))
  const { logprobs, tokens } = sequence
  const odd = logprobs.find((logprob) => !Number.isFinite(logprob))
  if (odd !== undefined)
    return Effect.fail(
      new RolloutError({
        reason:
          `the engine answered the request of seed ${request.seed} with a log-probability of ${odd}, expected a finite ` +
          "one; if it has been trained, lower the learning rate"
      })
    )
  return logprobs.length === tokens.length && tokens.length <= request.maxTokens
    ? Effect.succeed(sequence)
    : Effect.fail(
        new RolloutError({
          reason:
            `the engine answered the request of seed ${request.seed} with ${tokens.length} tokens and ` +
            `${logprobs.length} log-probabilities; expected equally many, at most ${request.maxTokens}`
        })
      )
}
