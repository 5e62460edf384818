/** From a finished episode to its trajectory: scored, and handed over while others are played. */
import { Invariant, Trajectory } from "@inspo/domain"
import type { Engine } from "@inspo/engine"
import type { Reward, Scored } from "@inspo/reward"
import { Array, type Cause, Effect, Exit, Queue, Ref, Stream } from "effect"
import { type End, type Episode, type Playing, RolloutError } from "../Episode.ts"
import type { Read, Recording } from "../Transcription.ts"

/**
 * Plays episodes, and scores and hands over each that it puts into the queue, meanwhile. Returns a trajectory for each episode, in their
 * order. Playing is to begin nothing new once `isStopping` is set. Finished trajectories are handed over
 * before a failure is reported.
 */
export const collect = Effect.fnUntraced(function* <E1, E2>(
  episodes: ReadonlyArray<unknown>,
  { onFinished, score }: Pick<DeliveryOptions<E1>, "onFinished" | "score">,
  play: (finished: Queue.Queue<FinishedEpisode, Cause.Done>, isStopping: Ref.Ref<boolean>) => Effect.Effect<unknown, E2>
) {
  const finished = yield* Queue.unbounded<FinishedEpisode, Cause.Done>()
  const isStopping = yield* Ref.make(false)
  const playing = play(finished, isStopping).pipe(
    Effect.exit,
    Effect.tap(() => Queue.end(finished))
  )
  const handing = deliver(finished, { score, onFinished, onDefect: Ref.set(isStopping, true) })
  const [played, trajectories] = yield* Effect.all([playing, handing], { concurrency: "unbounded" })
  yield* played
  return episodes.map((_, index) => Invariant.get(trajectories, index, "trajectory"))
})

/** What is done with finished episodes. */
export interface DeliveryOptions<E> {
  readonly score: (finished: FinishedEpisode) => Effect.Effect<Trajectory.Trajectory>
  /** Gets every trajectory once, within half a second, also before a delivery fails. It never runs concurrently. */
  readonly onFinished: (finished: ReadonlyArray<Trajectory.Trajectory>) => Effect.Effect<void, E>
  /** Runs when scoring throws. */
  readonly onDefect: Effect.Effect<unknown>
}

/** Trajectories are delivered in batches, since each delivery costs a commit. */
const together = 256
const within = "500 millis"

/** Scores finished episodes and hands them over until the queue ends. An exception of scoring comes after all others are handed over. */
const deliver = Effect.fnUntraced(function* <E>(
  finished: Queue.Dequeue<FinishedEpisode, Cause.Done>,
  { onDefect, onFinished, score }: DeliveryOptions<E>
) {
  const trajectories = new Map<number, Trajectory.Trajectory>()
  let defect: Cause.Cause<never> | undefined
  yield* Stream.fromQueue(finished).pipe(
    Stream.groupedWithin(together, within),
    Stream.runForEach(
      Effect.fnUntraced(function* (batch) {
        const exits = yield* Effect.forEach(batch, (one) => Effect.exit(score(one)), { concurrency: "unbounded" })
        for (const [{ index }, exit] of Array.zip(batch, exits))
          if (Exit.isSuccess(exit)) trajectories.set(index, exit.value)
          else defect ??= exit.cause
        if (defect !== undefined) yield* onDefect
        yield* onFinished(exits.filter(Exit.isSuccess).map(({ value }) => value))
      })
    )
  )
  return defect === undefined ? trajectories : yield* Effect.failCause(defect)
})

/** A finished episode with its kept part. */
export interface FinishedEpisode {
  readonly index: number
  readonly episode: Episode
  readonly end: End
  readonly recording: Recording
  readonly read: () => Read
  /** Whether the log-probabilities of its turns have yet to be found. */
  readonly isRescored: boolean
}

export const finished = (playing: Playing<End>): FinishedEpisode => {
  const { episode, index, step } = playing
  const recording = playing.recording()
  const acts = Trajectory.segments(recording).some(({ mask }) => mask.includes(1))
  const isRescored = playing.isRescored && step.reason !== "failed" && acts
  return { index, episode, end: step, recording, read: playing.read, isRescored }
}

/** Computes the log-probabilities of turns that were not recorded as sampled, under the policy that wrote them. */
export const rescore = Effect.fnUntraced(function* (
  score: Engine.Interface["score"],
  all: ReadonlyArray<FinishedEpisode>
) {
  if (all.length === 0) return all
  const scores = yield* score(
    "current",
    all.flatMap(({ recording }) => Trajectory.segments(recording))
  )
  const left = scores.values()
  return yield* Effect.forEach(all, (one) =>
    Effect.forEach(Trajectory.segments(one.recording), (segment) => {
      const { mask, response } = segment
      const scored = left.next().value ?? []
      if (scored.length !== response.length)
        return Effect.fail(
          new RolloutError({
            field: `the engine's number of log-probabilities of ${one.episode.id}`,
            value: String(scored.length),
            expected: `${response.length}, one for each token`
          })
        )
      const logprobs = Array.zipWith(mask, scored, (isAction, logprob) => (isAction === 1 ? logprob : 0))
      return Effect.succeed({ ...segment, logprobs })
    }).pipe(Effect.map((segments) => ({ ...one, recording: { ...one.recording, ...Trajectory.ofSegments(segments) } })))
  )
})

/** The policy's turns that a reward scores. */
export const scoredTexts =
  (scoredTurns: "all" | "valid") =>
  ({ recording }: FinishedEpisode): ReadonlyArray<string> =>
    recording.transcript.flatMap(({ action, text }) =>
      scoredTurns === "all" || action.kind !== "invalid" ? [text] : []
    )

/** Makes trajectories: the reward scores these texts of an episode; if the reward or a tool fails, there is no reward. */
export const scoring =
  (score: Reward.Interface["score"], textsOf: (finished: FinishedEpisode) => ReadonlyArray<string>) =>
  (finished: FinishedEpisode): Effect.Effect<Trajectory.Trajectory> => {
    const { end, episode } = finished
    const read = finished.read()
    if (end.reason === "failed") return Effect.succeed(trajectory(finished, read, end, unscored))
    return score({
      question: episode.question,
      prompt: read.prompt,
      response: read.response,
      turns: textsOf(finished)
    }).pipe(
      Effect.map((scored) => trajectory(finished, read, end, scored)),
      Effect.catch(({ message, spent }) =>
        Effect.as(
          Effect.logWarning(message),
          trajectory(
            finished,
            read,
            { reason: "failed", failure: message },
            spent === undefined ? unscored : { ...unscored, spent }
          )
        )
      )
    )
  }

const unscored = { answer: null, reward: 0 }

const trajectory = (
  { episode: { id, instruction, question }, recording }: FinishedEpisode,
  { promptTokens, responseTokens }: Read,
  { failure, reason }: Pick<End, "failure" | "reason">,
  { answer, reward, spent }: Scored
): Trajectory.Trajectory => {
  const { asideTokens, budget, toolCalls, transcript } = recording
  return {
    id,
    instructionId: instruction.id,
    questionId: question.id,
    reward,
    answer,
    toolCalls,
    turns: transcript.length,
    finishReason: reason,
    promptTokens,
    responseTokens,
    ...Trajectory.ofSegments(Trajectory.segments(recording)),
    transcript,
    ...(budget === undefined ? {} : { budget }),
    ...(asideTokens === 0 ? {} : { asideTokens }),
    ...(failure === undefined ? {} : { failure }),
    ...(spent === undefined ? {} : { scoring: spent })
  }
}
