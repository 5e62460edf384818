import { Invariant, type Trajectory } from "@inspo/domain"
import { Engine, type EngineError } from "@inspo/engine"
import { Search } from "@inspo/retrieval"
import { Reward } from "@inspo/reward"
import { Array, type Cause, Context, Effect, Iterable, Layer, Queue, Ref } from "effect"
import type { Agent } from "./Agent.ts"
import * as Agents from "./agents/Agents.ts"
import type { Episode } from "./Episode.ts"
import * as Delivery from "./internal/Delivery.ts"
import * as Lanes from "./internal/Lanes.ts"
import * as Running from "./internal/Running.ts"
import * as Sampling from "./internal/Sampling.ts"
import * as Scoring from "./internal/Scoring.ts"
import * as ToolCalls from "./internal/ToolCalls.ts"
import * as Observation from "./Observation.ts"
import { defaultConfig, type RolloutConfig } from "./RolloutConfig.ts"
import { RolloutError } from "./RolloutError.ts"
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
 * the collection fails. It never runs concurrently, and the collection waits for it.
 */
export interface CollectOptions<E = never> {
  readonly onFinished?: (finished: ReadonlyArray<Trajectory.Trajectory>) => Effect.Effect<void, E>
}

/** The tools of every rollout; the config lists those that the agent may call. */
export const builtInTools: ReadonlyArray<string> = ["search", calculator.name]

/** `tools` are added to the built-in ones (see {@link builtInTools}); `agent` replaces the one that the config names. */
export interface LayerOptions {
  readonly tools?: ReadonlyArray<Tool.Tool>
  readonly agent?: Agent
}

/**
 * Rollouts on the engine's tokens. At most `engine.profile.concurrency` episodes are in flight, and each finished one
 * makes room for the next. They run in `engine.profile.lanes` independent lanes of rounds: a round samples one turn of all
 * its episodes in one call, then makes their tool calls, those of one tool together. No lane waits for another, so the
 * engine samples for one while the tools of another work. Options missing from `config` are as in `defaultConfig`.
 */
export const layer = (
  config: Partial<RolloutConfig>,
  options: LayerOptions = {}
): Layer.Layer<Rollout, never, Engine | Search | Reward> =>
  Layer.effect(Rollout, make({ ...defaultConfig, ...config }, options))

const make = Effect.fnUntraced(function* (config: RolloutConfig, options: LayerOptions) {
  const engine = yield* Engine
  const { profile, tokenizer } = engine
  const reward = yield* Reward
  const agent = options.agent ?? Agents.fromConfig(config)
  const {
    passagesText = (passages) => Observation.passagesText(passages.slice(0, config.topK), config.texts),
    scoredTurns = config.scoredTurns,
    sharesCalls = true
  } = agent
  const search = SearchTool.make((yield* Search).search, config.topK, passagesText)
  const tools = new Map([search, calculator, ...(options.tools ?? [])].map((tool) => [tool.name, tool]))
  const callable = agent.tools(config)
  const begin = Running.make(agent, {
    config,
    tokenizer,
    contextLength: profile.contextLength,
    toolTexts: callable.flatMap((name) => tools.get(name)?.description ?? []).join(" ")
  })
  const sample = Sampling.make(engine)
  const call = ToolCalls.make(tools, {
    attempts: config.toolAttempts,
    timeoutSeconds: config.toolTimeoutSeconds,
    distinct: sharesCalls
  })
  const score = Scoring.make(reward.score, tokenizer.decode, scoredTurns)
  const refusal = refused(config, Observation.envelope(tokenizer), callable, Array.fromIterable(tools.keys()))

  const collect = Effect.fn("Rollout.collect")(function* <E = never>(
    episodes: ReadonlyArray<Episode>,
    { onFinished = () => Effect.void }: CollectOptions<E> = {}
  ) {
    yield* Effect.annotateCurrentSpan({ agent: config.agent, episodes: episodes.length })
    if (refusal !== null) return yield* refusal
    const finished = yield* Queue.unbounded<Scoring.FinishedEpisode, Cause.Done>()
    const isStopping = yield* Ref.make(false)
    const held: Array<Scoring.FinishedEpisode> = []
    const play = Lanes.play({
      waiting: Iterable.map(episodes, begin)[Symbol.iterator](),
      places: Math.max(1, Math.min(profile.concurrency, episodes.length)),
      lanes: profile.lanes ?? 1,
      sample,
      call,
      hand: (ended) => {
        const all = ended.map(Scoring.finished)
        held.push(...all.filter(({ isRescored }) => isRescored))
        return Queue.offerAll(
          finished,
          all.filter(({ isRescored }) => !isRescored)
        )
      },
      isStopping
    })
    const playing = play.pipe(
      Effect.andThen(Effect.suspend(() => Scoring.rescore(engine.score, held))),
      Effect.flatMap((rescored) => Queue.offerAll(finished, rescored)),
      Effect.exit,
      Effect.tap(() => Queue.end(finished))
    )
    const handing = Delivery.run(finished, { score, onFinished, onDefect: Ref.set(isStopping, true) })
    // Finished trajectories are handed over before a failure is reported.
    const [played, trajectories] = yield* Effect.all([playing, handing], { concurrency: "unbounded" })
    yield* played
    return episodes.map((_, index) => Invariant.get(trajectories, index, "trajectory"))
  })
  return Rollout.of({ collect })
})

/** The error of a config, if any; `envelope` counts the tokens of an empty observation. */
const refused = (
  { maxObservationTokens }: RolloutConfig,
  envelope: number,
  callable: ReadonlyArray<string>,
  known: ReadonlyArray<string>
): RolloutError | null => {
  if (maxObservationTokens < envelope)
    return new RolloutError({
      field: "maxObservationTokens",
      value: String(maxObservationTokens),
      expected: `at least ${envelope}, the tokens of an empty observation`,
      remedy: "raise it"
    })
  const unknown = callable.find((name) => !known.includes(name) || !Tool.isName(name))
  return unknown === undefined
    ? null
    : new RolloutError({
        field: "an entry of tools",
        value: JSON.stringify(unknown),
        expected: `one of ${known.join(", ")}`,
        remedy: "leave it out or add a tool of that name"
      })
}
