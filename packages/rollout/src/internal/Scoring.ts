import type { Trajectory } from "@inspo/domain"
import type { Engine } from "@inspo/engine"
import type { Reward, Scored } from "@inspo/reward"
import { Array, Effect } from "effect"
import type { Episode } from "../Episode.ts"
import type { End } from "../Program.ts"
import type { Read, Recording } from "../Recording.ts"
import { RolloutError } from "../RolloutError.ts"
import type { Running } from "./Running.ts"

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

export const finished = (running: Running<End>): FinishedEpisode => {
  const { episode, index, step } = running
  const recording = running.recording()
  const isRescored = running.isRescored && step.reason !== "failed" && recording.mask.includes(1)
  return { index, episode, end: step, recording, read: running.read, isRescored }
}

/** Computes the log-probabilities of turns that were not recorded as sampled, under the policy that wrote them. */
export const rescore = Effect.fnUntraced(function* (
  score: Engine.Interface["score"],
  all: ReadonlyArray<FinishedEpisode>
) {
  if (all.length === 0) return all
  const scores = yield* score(
    "current",
    all.map(({ recording }) => recording)
  )
  return yield* Effect.forEach(all, (one, index) => {
    const { mask, response } = one.recording
    const scored = scores[index] ?? []
    if (scored.length !== response.length)
      return Effect.fail(
        new RolloutError({
          field: `the engine's number of log-probabilities of ${one.episode.id}`,
          value: String(scored.length),
          expected: `${response.length}, one for each token`
        })
      )
    const logprobs = Array.zipWith(mask, scored, (isAction, logprob) => (isAction === 1 ? logprob : 0))
    return Effect.succeed({ ...one, recording: { ...one.recording, logprobs } })
  })
})

/** Makes trajectories: the reward scores the policy's turns; if the reward or a tool fails, there is no reward. */
export const make =
  (score: Reward.Interface["score"], scoredTurns: "all" | "valid") =>
  (finished: FinishedEpisode): Effect.Effect<Trajectory.Trajectory> => {
    const { end, episode, recording } = finished
    const read = finished.read()
    if (end.reason === "failed") return Effect.succeed(trajectory(finished, read, end, unscored))
    return score({
      question: episode.question,
      prompt: read.prompt,
      response: read.response,
      turns: recording.transcript.flatMap(({ action, text }) =>
        scoredTurns === "all" || action.kind !== "invalid" ? [text] : []
      )
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
  const { asideTokens, logprobs, mask, prompt, response, toolCalls, transcript } = recording
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
    prompt,
    response,
    logprobs,
    mask,
    transcript,
    ...(asideTokens === 0 ? {} : { asideTokens }),
    ...(failure === undefined ? {} : { failure }),
    ...(spent === undefined ? {} : { scoring: spent })
  }
}
