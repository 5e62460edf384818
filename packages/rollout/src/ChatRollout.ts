/** Rollouts of a chat model, in messages. */
import type { Trajectory } from "@inspo/domain"
import { EngineError } from "@inspo/engine"
import type { Search } from "@inspo/retrieval"
import type { Reward } from "@inspo/reward"
import { Effect, Layer, Queue, Ref, Result } from "effect"
import { ChatFailure, ChatPolicy, type MakeChatCall } from "./ChatPolicy.ts"
import { defect, type End, type Episode, isOver, type Playing, type RolloutError } from "./Episode.ts"
import * as Delivery from "./internal/Delivery.ts"
import * as MessageConversation from "./internal/MessageConversation.ts"
import * as Setup from "./internal/Setup.ts"
import * as Observation from "./Observation.ts"
import { type CollectOptions, Rollout } from "./Rollout.ts"
import { defaultConfig, type RolloutOptions } from "./RolloutConfig.ts"

/**
 * Rollouts of a {@link ChatPolicy}: the agent and its tools as on an engine, with messages instead of tokens. Limits in tokens are
 * kept by the policy's estimate; the sizes of a trajectory are those that the provider counts, and its token lists are empty.
 *
 * The policy's turns are messages of the assistant, cut after their action; observations are messages of the user. With the agent
 * `tool-calls` the provider is sent the tools' definitions instead; a message with calls is one turn for each, and a message
 * without calls is the answer. Trajectories record calls, replies and answers in the tags of the other agents.
 *
 * At most `profile.concurrency` episodes run at once. After a failure no call begins; open ones are awaited, since they are paid.
 * The transcription of an agent is about tokens and is not used; `search-r1-exact`, which is defined by it, is no agent for this.
 *
 * @example
 * ```ts
 * import { ChatRollout } from "@inspo/rollout"
 *
 * const layer = ChatRollout.layer({ agent: "search-r1", tools: ["calculate"] }) // needs a ChatPolicy
 * ```
 */
export const layer = (
  config: RolloutOptions,
  options: Setup.LayerOptions = {}
): Layer.Layer<Rollout, never, ChatPolicy | Search | Reward> =>
  Layer.effect(Rollout, make({ ...defaultConfig, ...config }, options))

const make = Effect.fnUntraced(function* (config: Required<RolloutOptions>, options: Setup.LayerOptions) {
  const policy = yield* ChatPolicy
  const setup = yield* Setup.make(config, options, policy.countTokens(Observation.empty))
  const begin = MessageConversation.begin(setup.agent, policy, setup)
  const score = Delivery.scoring(setup.score, Delivery.scoredTexts(setup.scoredTurns))

  const collect = Effect.fn("ChatRollout.collect")(function* <E = never>(
    episodes: ReadonlyArray<Episode>,
    { makeChatCall = (_, writing) => writing, onFinished = () => Effect.void }: CollectOptions<E> = {}
  ): Effect.fn.Return<ReadonlyArray<Trajectory.Trajectory>, EngineError | RolloutError | E> {
    yield* Effect.annotateCurrentSpan({ agent: setup.agent.name, episodes: episodes.length })
    if (setup.refusal !== null) return yield* setup.refusal
    return yield* Delivery.collect(episodes, { score, onFinished }, (finished, isStopping) => {
      const play = playing({ policy, setup, makeChatCall, isStopping })
      const one = Effect.fnUntraced(
        function* (episode: Episode, index: number) {
          const over = yield* play(begin(episode, index))
          if (over !== null) yield* Queue.offer(finished, Delivery.finished(over))
        },
        Effect.onError(() => Ref.set(isStopping, true)),
        Effect.exit
      )
      return Effect.forEach(episodes, one, { concurrency: Math.max(1, policy.profile.concurrency) }).pipe(
        Effect.flatMap(Effect.forEach((ended) => ended, { discard: true }))
      )
    })
  })
  return Rollout.of({ agent: setup.agent, collect })
})

interface Options<E> {
  readonly policy: ChatPolicy.Interface
  readonly setup: Setup.Setup
  readonly makeChatCall: MakeChatCall<E>
  readonly isStopping: Ref.Ref<boolean>
}

/** Plays an episode to its end; null if it was stopped before. */
const playing = <E>({ isStopping, makeChatCall, policy, setup }: Options<E>) =>
  Effect.fnUntraced(function* (running: Playing): Effect.fn.Return<Playing<End> | null, EngineError | E> {
    while (!isOver(running)) {
      if (yield* Ref.get(isStopping)) return null
      const { step } = running
      switch (step._tag) {
        case "Ask": {
          const call = { key: step.key, atMost: policy.atMost(step.request) }
          const written = yield* makeChatCall(call, policy.write(step.request)).pipe(Effect.result)
          if (Result.isSuccess(written)) running.resume({ _tag: "Written", written: written.success })
          else {
            const { failure } = written
            if (!(failure instanceof ChatFailure)) return yield* Effect.fail(failure)
            if (failure.ends === "collection")
              return yield* new EngineError({ operation: "sample", reason: failure.reason, cause: failure })
            running.fail(failure.reason)
          }
          break
        }
        case "Call": {
          const [reply] = yield* setup.call([step])
          if (reply?._tag === "Success") running.resume({ _tag: "Replied", reply: reply.success })
          else running.fail(reply?.failure.message ?? `tool ${step.tool}: no reply`)
          break
        }
        case "Thrown":
          return yield* Effect.die(defect({ ...running, step }))
        case "Sample":
        case "End":
          return yield* Effect.die(new Error(`a conversation in messages took the step ${step._tag}`))
      }
    }
    return running
  })
