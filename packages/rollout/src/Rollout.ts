import type { Trajectory } from "@inspo/domain"
import { Engine, type EngineError } from "@inspo/engine"
import type { Search } from "@inspo/retrieval"
import type { Reward } from "@inspo/reward"
import { Context, Effect, Iterable, Layer, Queue } from "effect"
import type { Agent } from "./Agent.ts"
import type { MakeChatCall } from "./ChatPolicy.ts"
import { type Episode, RolloutError } from "./Episode.ts"
import * as Delivery from "./internal/Delivery.ts"
import * as Lanes from "./internal/Lanes.ts"
import * as Setup from "./internal/Setup.ts"
import * as TokenConversation from "./internal/TokenConversation.ts"
import * as Observation from "./Observation.ts"
import { defaultConfig, type RolloutConfig } from "./RolloutConfig.ts"

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
  config: Partial<RolloutConfig>,
  options: Setup.LayerOptions = {}
): Layer.Layer<Rollout, never, Engine | Search | Reward> =>
  Layer.effect(Rollout, make({ ...defaultConfig, ...config }, options))

const make = Effect.fnUntraced(function* (config: RolloutConfig, options: Setup.LayerOptions) {
  const engine = yield* Engine
  const { profile, tokenizer } = engine
  const setup = yield* Setup.make(config, options, Observation.envelope(tokenizer))
  const { call } = setup
  const refusal = setup.agent.protocol === "tool-calls" ? withoutToolCalls(setup.agent) : setup.refusal
  const begin = TokenConversation.begin(setup.agent, { ...setup, tokenizer, contextLength: profile.contextLength })
  const score = Delivery.scoring(setup.score, setup.scoredTurns)

  const collect = Effect.fn("Rollout.collect")(function* <E = never>(
    episodes: ReadonlyArray<Episode>,
    { onFinished = () => Effect.void }: CollectOptions<E> = {}
  ) {
    yield* Effect.annotateCurrentSpan({ agent: setup.agent.name, episodes: episodes.length })
    if (refusal !== null) return yield* refusal
    const toRescore: Array<Delivery.FinishedEpisode> = []
    return yield* Delivery.collect(episodes, { score, onFinished }, (finished, isStopping) =>
      Lanes.play({
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
