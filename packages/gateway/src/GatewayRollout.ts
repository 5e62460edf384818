/** Rollouts of an agent outside, which asks its model through the gateway. */
import { Engine } from "@inspo/engine"
import { Reward } from "@inspo/reward"
import {
  type Agent,
  type CollectOptions,
  Delivery,
  type Episode,
  Rollout,
  RolloutError,
  Transcription
} from "@inspo/rollout"
import { Effect, Layer, Queue, Ref, Result } from "effect"
import { OutsideAgent } from "@inspo/outside"
import { Gateway, type Recorded } from "./Gateway.ts"
import { pathOf } from "./routes.ts"
import { lost } from "./Workers.ts"

/** `url` is where the gateway listens; `agent` says what a run has to know of the player. */
export interface GatewayRolloutOptions {
  readonly agent: Agent
  readonly player: OutsideAgent.OutsideAgent
  readonly url: string
}

/**
 * Rollouts that an agent outside plays, at most `engine.profile.concurrency` at once. The reward is the player's own `score`, or that of
 * its output: of its last `<answer>`, or else of all of it.
 *
 * An episode without an output has failed, unless a limit ended it, see {@link Recorded}. One whose player did not ask the
 * model has failed too. A player that could not play any other episode ends the collection.
 */
export const layer = (options: GatewayRolloutOptions): Layer.Layer<Rollout, never, Gateway | Engine | Reward> =>
  Layer.effect(Rollout, make(options))

const make = Effect.fnUntraced(function* ({ agent, player, url }: GatewayRolloutOptions) {
  const gateway = yield* Gateway
  const { profile, tokenizer } = yield* Engine
  const reward = yield* Reward

  /** Plays an episode to its end; where its player was lost, once more under another name, so that a late player changes nothing. */
  const play: (episode: Episode, attempt?: number) => Effect.Effect<Played, RolloutError> = Effect.fnUntraced(
    function* (episode: Episode, attempt = 0) {
      const { instruction, question } = episode
      const { close, name, restart } = yield* gateway.open({ seed: episode.seed, instruction })
      const call = {
        id: attempt === 0 ? episode.id : `${episode.id} again`,
        prompt: instruction.text,
        case: caseOf(question),
        baseUrl: `${url}${pathOf(name)}`,
        model: gateway.model,
        attempt
      }
      const played = yield* player.ask(call, restart).pipe(
        Effect.result,
        Effect.onInterrupt(() => close)
      )
      const recorded = yield* close
      if (Result.isFailure(played) && played.failure.status === lost && attempt === 0) return yield* play(episode, 1)
      if (Result.isFailure(played) && isUseless(played.failure) && recorded.limit === null)
        return yield* new RolloutError({
          field: "rollout.agent",
          value: player.name,
          expected: "an agent that can be asked",
          remedy: played.failure.message
        })
      return { played, recorded }
    }
  )

  /** The score of an episode: its player's own, or that of its output. */
  const scoring = (played: Result.Result<OutsideAgent.Reply, OutsideAgent.OutsideFailed>) => {
    if (Result.isFailure(played)) return Delivery.scoring(reward.score, () => [])
    const { output, score } = played.success
    const answer = typeof output === "string" ? output : JSON.stringify(output)
    return Delivery.scoring(
      score === undefined ? reward.score : () => Effect.succeed({ answer, reward: score }),
      () => [/<answer>/u.test(answer) ? answer : `<answer>${answer}</answer>`]
    )
  }

  const collect = Effect.fn("GatewayRollout.collect")(function* <E = never>(
    episodes: ReadonlyArray<Episode>,
    { onFinished = () => Effect.void }: CollectOptions<E> = {}
  ) {
    yield* Effect.annotateCurrentSpan({ agent: agent.name, episodes: episodes.length })
    const results = new Map<number, Result.Result<OutsideAgent.Reply, OutsideAgent.OutsideFailed>>()
    const score = (finished: Delivery.FinishedEpisode) =>
      scoring(results.get(finished.index) ?? Result.fail(OutsideAgent.failed(player.name, "was not asked")))(finished)
    return yield* Delivery.collect(episodes, { score, onFinished }, (finished, isStopping) =>
      Effect.forEach(
        episodes,
        Effect.fnUntraced(function* (episode, index) {
          if (yield* Ref.get(isStopping)) return
          const { played, recorded } = yield* play(episode)
          results.set(index, played)
          yield* Queue.offer(finished, {
            index,
            episode,
            end: endOf(played, recorded),
            recording: recorded.recording,
            read: () => Transcription.readTokens(recorded.recording, tokenizer),
            isRescored: false
          })
        }),
        { concurrency: Math.max(1, profile.concurrency), discard: true }
      ).pipe(Effect.raceFirst(gateway.failure))
    )
  })
  return Rollout.of({ agent, collect })
})

/** What came of an episode, and what was recorded of it. */
interface Played {
  readonly played: Result.Result<OutsideAgent.Reply, OutsideAgent.OutsideFailed>
  readonly recorded: Recorded
}

/** Why an episode is over. */
const endOf = (
  played: Result.Result<OutsideAgent.Reply, OutsideAgent.OutsideFailed>,
  { limit, recording }: Recorded
): Delivery.FinishedEpisode["end"] => {
  const failed = (failure: string) => ({ _tag: "End", reason: "failed", failure }) as const
  if (Result.isFailure(played)) return limit === null ? failed(played.failure.message) : { _tag: "End", reason: limit }
  return recording.transcript.length === 0
    ? failed("the agent gave an output and did not ask the model; send its model calls to baseUrl")
    : { _tag: "End", reason: "answered" }
}

const isUseless = ({ status }: OutsideAgent.OutsideFailed): boolean =>
  status !== null && status >= 400 && status < 500 && status !== lost

/** What a player may know of a question: all but its answers. */
const caseOf = ({ conversation, id, question }: Episode["question"]): OutsideAgent.Call["case"] => ({
  id,
  question,
  ...(conversation === undefined ? {} : { conversation: conversation.map(({ content, role }) => ({ role, content })) })
})
