import type { Trajectory } from "@inspo/domain"
import { Engine, type SampledSequence, type SampleRequest, type SampleResult } from "@inspo/engine"
import { Search } from "@inspo/retrieval"
import { Reward } from "@inspo/reward"
import { Array, Context, Effect, Layer, Order, Schema } from "effect"
import type { Episode } from "./Episode.ts"
import * as EpisodeState from "./internal/EpisodeState.ts"
import * as Lookup from "./internal/Lookup.ts"
import * as Observation from "./Observation.ts"
import * as Prompt from "./Prompt.ts"
import type { RolloutConfig } from "./RolloutConfig.ts"

/** Runs the policy in its environment: act, search, observe, until it answers or a limit is reached. */
export class Rollout extends Context.Service<Rollout, Rollout.Interface>()("@inspo/rollout/Rollout") {}

export declare namespace Rollout {
  export interface Interface {
    /**
     * One scored trajectory per episode, in their order. A trajectory depends on its episode, the policy and the search
     * index alone: never on the other episodes or on how many run at once.
     *
     * An episode whose prompt is too long yields a trajectory without turns. A search that fails is shown to the policy
     * as an observation. The response alone is scored, so the wording of an instruction cannot earn or cost reward.
     */
    readonly collect: (
      episodes: ReadonlyArray<Episode>,
      options?: CollectOptions
    ) => Effect.Effect<ReadonlyArray<Trajectory.Trajectory>, RolloutError>
  }
}

/** `onProgress` runs whenever episodes finish, with how many of how many have. */
export interface CollectOptions {
  readonly onProgress?: (done: number, total: number) => Effect.Effect<void>
}

/** The episodes could not be run; `reason` says what was wrong and how to mend it. */
export class RolloutError extends Schema.TaggedError<RolloutError>()("RolloutError", {
  reason: Schema.String,
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return `rollout: ${this.reason}`
  }
}

/**
 * Rollouts on the engine's tokens. At most `engine.profile.concurrency` episodes are in flight, and each that finishes
 * makes place for the next. A round samples one turn of all of them in one call and makes their searches in another.
 */
export const layer = (config: RolloutConfig): Layer.Layer<Rollout, never, Engine | Search | Reward> =>
  Layer.effect(Rollout, make(config))

const make = Effect.fnUntraced(function* (config: RolloutConfig) {
  const { profile, sample, tokenizer } = yield* Engine
  const reward = yield* Reward
  const lookUp = Lookup.make((yield* Search).search, config)
  const limits: EpisodeState.Limits = {
    config,
    contextLength: profile.contextLength,
    envelope: Observation.envelope(tokenizer)
  }

  const begin = (episode: Episode, index: number): EpisodeState.EpisodeState => {
    const prompt = Prompt.render(tokenizer, episode.instruction, episode.question, config.instructionRole)
    return EpisodeState.start(index, episode, prompt, limits)
  }

  const act = Effect.fnUntraced(function* (states: ReadonlyArray<EpisodeState.EpisodeState>) {
    const requests = states.map((state) => EpisodeState.request(state, limits))
    const results = yield* Effect.mapError(
      sample(requests),
      (cause) => new RolloutError({ reason: cause.message, cause })
    )
    return yield* Effect.forEach(Array.zip(states, requests), ([state, request], i) =>
      Effect.map(onlySequence(request, results[i]), (sampled) =>
        EpisodeState.act(state, sampled, tokenizer.decode(sampled.tokens), limits)
      )
    )
  })

  const observe = Effect.fnUntraced(function* (states: ReadonlyArray<EpisodeState.EpisodeState>) {
    const answers = yield* lookUp(states.flatMap(EpisodeState.query))
    return states.map((state) => {
      if (state.status._tag !== "Observing") return state
      const { action } = state.status
      const text =
        action.kind === "search" ? (answers.get(action.content) ?? Observation.nothingFound) : Observation.invalidAction
      const room = EpisodeState.observationRoom(state, limits)
      return EpisodeState.observe(state, action, Observation.make(tokenizer, text, room))
    })
  })

  const conclude = (state: EpisodeState.Finished) =>
    Effect.map(reward.score(state.episode.question, tokenizer.decode(state.response)), (scored) =>
      EpisodeState.trajectory(state, scored)
    )

  const collect = Effect.fn("Rollout.collect")(function* (
    episodes: ReadonlyArray<Episode>,
    options: CollectOptions = {}
  ) {
    if (config.maxObservationTokens < limits.envelope) return yield* observationsTooShort(limits)
    const begun = episodes.map(begin)
    const finished = begun.filter(EpisodeState.isFinished)
    let open = begun.filter(EpisodeState.isOpen)
    const report = () => options.onProgress?.(finished.length, episodes.length) ?? Effect.void
    if (finished.length > 0) yield* report()
    while (open.length > 0) {
      const [active, waiting] = Array.splitAt(open, Math.max(1, profile.concurrency))
      const moved = yield* observe(yield* act(active))
      const over = moved.filter(EpisodeState.isFinished)
      finished.push(...over)
      open = [...moved.filter(EpisodeState.isOpen), ...waiting]
      if (over.length > 0) yield* report()
    }
    return yield* Effect.forEach(Array.sortBy(byIndex)(finished), conclude)
  })
  return Rollout.of({ collect })
})

const byIndex = Order.mapInput(Order.Number, (state: EpisodeState.EpisodeState) => state.index)

const observationsTooShort = (limits: EpisodeState.Limits) =>
  new RolloutError({
    reason:
      `maxObservationTokens is ${limits.config.maxObservationTokens}, but an observation takes ${limits.envelope} tokens ` +
      `before it shows anything; raise it above that`
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
